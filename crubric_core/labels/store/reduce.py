"""Labels into what the model reads, as pure functions from a dataset's id to (sql, params) (docs/method.md §1–3).

A judge's label goes through the scale first: level = label - scale_min, or scale_max - label where meeting the
rubric is bad (polarity -1), so that more is always better; for a binary model pass = 1 iff the label is at or above
the criterion's pass mark, which is the midpoint, level >= (L - 1) / 2, unless somebody moved it. Repeated draws of a
judge are one label before anything is counted.
A cell is one (system, rubric) pair with at least one known label; an instance one with two.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from ...settings import Response, Tie
from ..ingest.rubric_facts import RUBRIC_FACTS, Query
from .catalogue import JUDGE_ORDER, SYSTEM_ORDER

# The pass mark is the lowest label that counts as met; to meet a rubric of polarity -1 is to fail it.
_MET = "CASE WHEN f.polarity < 0 THEN l.label < f.pass_mark ELSE l.label >= f.pass_mark END"
_LEVEL = "CASE WHEN f.polarity < 0 THEN f.scale_max - l.label ELSE l.label - f.scale_min END"
_READING = {"binary": f"CAST({_MET} AS INTEGER)", "ordered": _LEVEL}
# A judge's label on a cell, of its runs: the strict majority, a tie unknown; of levels the lower median.
_OF_RUNS = {
    "binary": "CASE WHEN 2 * sum(x) > count(*) THEN 1 WHEN 2 * sum(x) < count(*) THEN 0 END",
    "ordered": "quantile_disc(x, 0.5)",
}
_SUMS = """
        count(*) AS n, max(x) - min(x) <= $tolerance AS agree, sum(x) AS total, sum(x * x) AS squares,
        count(*) * sum(x * x) - sum(x) * sum(x) AS gap"""
_CLOSE = """
        counted AS (SELECT system_id, j, x, count(*) AS c FROM readings GROUP BY system_id, j, x),
        close AS (
            SELECT a.system_id, a.j,
                   sum(CASE WHEN a.x = b.x THEN a.c * (a.c - 1) // 2 ELSE a.c * b.c END) AS agreeing
            FROM counted a JOIN counted b
            ON a.system_id = b.system_id AND a.j = b.j AND b.x BETWEEN a.x AND a.x + $tolerance
            GROUP BY a.system_id, a.j
        )"""
_TIES = {"unknown": "NULL", "fail": "0", "pass": "1"}


def _draws(response: Response) -> str:
    """(system_id, j, judge_id, x): every known label on the scale of the model, as a SELECT over ``facts``."""
    return f"""
        SELECT l.system_id, f.j, l.judge_id, {_READING[response]} AS x
        FROM labels l JOIN facts f USING (rubric_id)
        WHERE l.dataset_id = $dataset AND l.label IS NOT NULL
    """


def _readings(response: Response, runs: bool) -> str:
    """``readings(system_id, j, judge_id, x)``: every judge's label of a cell, one of all its runs."""
    readings = _draws(response)
    if runs:
        readings = f"""
            SELECT * FROM (
                SELECT system_id, j, judge_id, {_OF_RUNS[response]} AS x FROM ({readings})
                GROUP BY system_id, j, judge_id
            ) WHERE x IS NOT NULL
        """
    return f"{RUBRIC_FACTS}, {SYSTEM_ORDER}, {JUDGE_ORDER}, readings AS ({readings})"


def panel(dataset: int, response: Response, runs: bool) -> Query:
    """(i, j, k, x): the positions of system, rubric and judge, and the label as the model reads it."""
    return (
        f"WITH {_readings(response, runs)} SELECT i, j, k, x FROM readings"
        " JOIN system_order USING (system_id) JOIN judge_order USING (judge_id)",
        {"dataset": dataset},
    )


def cells(dataset: int, response: Response, tie: Tie, tolerance: int, runs: bool) -> Query:
    """Create the temporary table ``cells(i, j, n, y, agree, agreeing, gap, total, squares)``, one row a cell.

    n: known labels. y: the strict majority (a tie as set), or the lower median of the levels. agree: whether all
    labels are equal, or at most ``tolerance`` ordered levels apart; agreeing: the pairs of labels that are. gap: sum
    over the pairs of squared differences. total, squares: sums of the levels and of their squares.
    """
    summed = f"summed AS (SELECT system_id, j, {_SUMS}, {{y}} AS y FROM readings GROUP BY system_id, j)"
    if response == "binary":
        y = f"CASE WHEN 2 * sum(x) > count(*) THEN 1 WHEN 2 * sum(x) < count(*) THEN 0 ELSE {_TIES[tie]} END"
        ctes, agreeing, source = summed.format(y=y), "n * (n - 1) // 2 - gap", "summed"
    else:
        ctes = f"{summed.format(y='quantile_disc(x, 0.5)')}, {_CLOSE}"
        agreeing, source = "agreeing", "summed JOIN close USING (system_id, j)"
    return (
        f"""
        CREATE TEMP TABLE cells AS
        WITH {_readings(response, runs)}, {ctes}
        SELECT i, j, n, y, agree, {agreeing} AS agreeing, gap, total, squares
        FROM {source} JOIN system_order USING (system_id)
        """,
        {"dataset": dataset, "tolerance": tolerance if response == "ordered" else 0},
    )


def consensus() -> str:
    """(i, j, y) of every cell."""
    return "SELECT i, j, y FROM cells"


def agreement() -> str:
    """(j, n_agree, n_total, max_panel) of every rubric that has a cell; an instance is a cell with two labels."""
    return """
        SELECT j, count(*) FILTER (n >= 2 AND agree) AS n_agree, count(*) FILTER (n >= 2) AS n_total,
               max(n) AS max_panel
        FROM cells GROUP BY j
    """


def pair_sums() -> str:
    """What ``pairs.CellSums`` holds: one row for each rubric and number of labels on a cell, in a fixed order."""
    return """
        SELECT j AS rubric, n AS labels, count(*) AS cells, sum(agreeing) AS agreeing,
               sum(agreeing * agreeing) AS agreeing_squares, sum(gap) AS gap,
               sum(total) AS total, sum(squares) AS squares
        FROM cells GROUP BY j, n ORDER BY j, n
    """


def repeats(dataset: int, response: Response) -> Query:
    """(query, rubric, judge, cells, pairs, agreeing, draws, consistent) of cells labelled twice.

    Of n draws with n_x on level x: n (n - 1) / 2 pairs, of which sum n_x (n_x - 1) / 2 agree; n - 1 draws.
    """
    return (
        f"""
        WITH {RUBRIC_FACTS}, counted AS (
            SELECT system_id, j, judge_id, x, count(*) AS n FROM ({_draws(response)}) GROUP BY ALL
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
