"""Reduce labels to the data of the model, as pure functions from a dataset's id to (sql, params) (docs/method.md §1–3).

A judge's label is first converted by the scale: level = label - scale_min, or scale_max - label if meeting the
rubric is bad (polarity -1), so that more is always better. For a binary model a pass is 1 if the label is at or above
the criterion's pass mark, which is the midpoint, level >= (L - 1) / 2, unless it was changed. Repeated runs of a
judge become one label before anything is counted.
A cell is one (system, rubric) pair with at least one known label; an instance is a cell with two or more.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from ...settings import Response, Tie
from ..ingest.rubric_facts import RUBRIC_FACTS, Query
from . import portable
from .catalogue import JUDGE_ORDER, SYSTEM_ORDER

# A judge's label on a cell from the runs: the strict majority, unknown if they tie; of levels the lower median.
_OF_RUNS = {
    "binary": "CASE WHEN 2 * sum(x) > count(*) THEN 1 WHEN 2 * sum(x) < count(*) THEN 0 END",
    "ordered": "quantile_disc(x, 0.5)",
}


def draws(response: Response, *, one: bool = False) -> str:
    """(system_id, j, judge_id, x): every known label on the scale of the model, given ``facts``.

    one: only labels of the rubric in the parameter ``$rubric``.
    """
    return f"""
        SELECT l.system_id, f.j, l.judge_id, {portable.READING[response]} AS x
        FROM labels l JOIN facts f USING (rubric_id)
        WHERE l.dataset_id = $dataset AND l.label IS NOT NULL {"AND f.rubric = $rubric" if one else ""}
    """


def readings_of(response: Response, runs: bool, *, one: bool = False) -> str:
    """Relations up to ``readings(system_id, j, judge_id, x)``: one label per judge and cell, its runs combined."""
    readings = draws(response, one=one)
    if runs:
        readings = f"""
            SELECT * FROM (
                SELECT system_id, j, judge_id, {_OF_RUNS[response]} AS x FROM ({readings})
                GROUP BY system_id, j, judge_id
            ) WHERE x IS NOT NULL
        """
    return f"{RUBRIC_FACTS}, {SYSTEM_ORDER}, {JUDGE_ORDER}, readings AS ({readings})"


def panel(dataset: int, response: Response, runs: bool) -> Query:
    """(i, j, k, x): the indices of system, rubric and judge, and the label as the model reads it."""
    return (
        f"WITH {readings_of(response, runs)} SELECT i, j, k, x FROM readings"
        " JOIN system_order USING (system_id) JOIN judge_order USING (judge_id)",
        {"dataset": dataset},
    )


def rubric_panel(dataset: int, response: Response, runs: bool, rubric: str) -> Query:
    """(i, k, x): like ``panel``, for one rubric. rubric: its name in the rubrics table."""
    return (
        f"WITH {readings_of(response, runs, one=True)} SELECT i, k, x FROM readings"
        " JOIN system_order USING (system_id) JOIN judge_order USING (judge_id)",
        {"dataset": dataset, "rubric": rubric},
    )


def cells(
    dataset: int, response: Response, tie: Tie, tolerance: int, *, runs: bool, tallied: bool = False
) -> Query:
    """Create the temporary table ``cells(i, j, n, y, agree, agreeing, gap, total, squares)``, one row a cell.

    Its columns are those of ``portable.cells``, with the system's index i. runs: whether the dataset has repeated
    runs. tallied: whether to use tallies, because the labels are outside the workspace.
    """
    if tallied:
        names, counted = f"{RUBRIC_FACTS}, {SYSTEM_ORDER}", portable.counted(response, runs=runs)
    else:
        names = readings_of(response, runs)
        counted = "SELECT system_id, j, x, 1 AS n FROM readings"  # a majority needs no count of each level
        if response == "ordered":
            counted = "SELECT system_id, j, x, count(*) AS n FROM readings GROUP BY system_id, j, x"
    return (
        f"""
        CREATE TEMP TABLE cells AS
        WITH {names}, counted AS ({counted}), summed_up AS ({portable.cells(response, tie, tolerance)})
        SELECT i, j, n, y, agree, agreeing, gap, total, squares
        FROM summed_up JOIN system_order USING (system_id)
        """,
        {"dataset": dataset},
    )


def consensus() -> str:
    """(i, j, y) of every cell."""
    return "SELECT i, j, y FROM cells"


def split() -> str:
    """(i, j) of the cells without a consensus, in a fixed order."""
    return "SELECT i, j FROM cells WHERE y IS NULL AND n > 0 ORDER BY i, j"


def repeats(dataset: int, response: Response) -> Query:
    """(query, rubric, judge, cells, pairs, agreeing, draws, consistent), sums over cells with two runs or more.

    A cell with n runs, n_x of them on level x, has n (n - 1) / 2 pairs, of which sum n_x (n_x - 1) / 2 agree; it
    counts n - 1 draws, and n - 1 times its share of agreeing pairs is ``consistent``.
    """
    return (
        f"""
        WITH {RUBRIC_FACTS}, counted AS (
            SELECT system_id, j, judge_id, x, count(*) AS n FROM ({draws(response)}) GROUP BY ALL
        ), cells AS (
            SELECT j, judge_id, sum(n) AS draws, sum(n * (n - 1)) / 2 AS agreeing
            FROM counted GROUP BY system_id, j, judge_id HAVING sum(n) > 1
        )
        SELECT f.query, f.rubric, k.name AS judge, count(*) AS cells, sum(draws * (draws - 1) / 2)::BIGINT AS pairs,
               sum(agreeing)::BIGINT AS agreeing, sum(draws - 1)::BIGINT AS draws,
               sum(2 * agreeing / draws) AS consistent
        FROM cells JOIN facts f USING (j) JOIN judges k USING (judge_id)
        GROUP BY ALL ORDER BY f.query, f.rubric, judge
        """,
        {"dataset": dataset},
    )
