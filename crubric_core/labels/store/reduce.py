"""Labels into what the model reads, as pure functions from a dataset's id to (sql, params) (METHOD §1–3).

A judge's label goes through the scale first: level = label - scale_min, or scale_max - label where meeting the
rubric is bad (polarity -1), so that more is always better; for a binary model pass = 1 iff level >= (L - 1) / 2.
A cell is one (system, rubric) pair with at least one known label; an instance one with two.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from ...settings import Response, Tie
from .catalogue import JUDGE_ORDER, RUBRIC_FACTS, SYSTEM_ORDER, Query

_LEVEL = "CASE WHEN f.polarity < 0 THEN f.scale_max - l.label ELSE l.label - f.scale_min END"
_READING = {"binary": f"CAST(2 * ({_LEVEL}) >= f.levels - 1 AS INTEGER)", "ordered": _LEVEL}
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


def _readings(response: Response) -> str:
    """``readings(system_id, rubric_id, j, judge_id, x)``: every known label on the scale of the model."""
    return f"""
        {RUBRIC_FACTS}, {SYSTEM_ORDER}, {JUDGE_ORDER},
        readings AS (
            SELECT l.system_id, f.j, l.judge_id, {_READING[response]} AS x
            FROM labels l JOIN facts f USING (rubric_id)
            WHERE l.dataset_id = $dataset AND l.label IS NOT NULL
        )
    """


def panel(dataset: int, response: Response) -> Query:
    """(i, j, k, x): the positions of system, rubric and judge, and the label as the model reads it."""
    return (
        f"WITH {_readings(response)} SELECT i, j, k, x FROM readings"
        " JOIN system_order USING (system_id) JOIN judge_order USING (judge_id)",
        {"dataset": dataset},
    )


def cells(dataset: int, response: Response, tie: Tie, tolerance: int) -> Query:
    """Create the temporary table ``cells(i, j, n, y, agree, agreeing, gap, total, squares)``, one row a cell.

    n: known labels. y: the strict majority (a tie as told), or the lower median of the levels. agree: whether all
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
        WITH {_readings(response)}, {ctes}
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
