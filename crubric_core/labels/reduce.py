"""Labels into what the model reads, as pure functions from a dataset's id to (sql, params) (METHOD §1–3).

A judge's label goes through the scale first: level = label - scale_min; for a binary model pass = 1 iff
level >= (L - 1) / 2. A cell is one (system, rubric) pair with at least one known label; an instance one with two.
"""

from __future__ import annotations

from ..settings import Response, Tie
from .catalogue import JUDGE_ORDER, RUBRIC_FACTS, SYSTEM_ORDER, Query

_READING = {
    "binary": "CAST(2 * (l.label - f.scale_min) >= f.levels - 1 AS INTEGER)",
    "ordered": "l.label - f.scale_min",
}
_TIES = {"unknown": "NULL", "fail": "0", "pass": "1"}


def _readings(response: Response) -> str:
    """``readings(i, j, k, x)``: every known label on the scale of the model."""
    return f"""
        WITH {RUBRIC_FACTS}, {SYSTEM_ORDER}, {JUDGE_ORDER},
        readings AS (
            SELECT s.i, f.j, o.k, {_READING[response]} AS x
            FROM labels l JOIN facts f USING (rubric_id) JOIN system_order s USING (system_id)
            JOIN judge_order o USING (judge_id)
            WHERE l.dataset_id = $dataset AND l.label IS NOT NULL
        )
    """  # noqa: S608


def panel(dataset: int, response: Response) -> Query:
    """(i, j, k, x): the position of system, rubric and judge, and the label as the model reads it."""
    return f"{_readings(response)} SELECT i, j, k, x FROM readings", {"dataset": dataset}  # noqa: S608


def consensus(dataset: int, response: Response, tie: Tie) -> Query:
    """(i, j, y) of every cell: the strict majority (a tie as told), or the lower median of the levels."""
    if response == "binary":
        total = (
            f"CASE WHEN 2 * sum(x) > count(*) THEN 1 WHEN 2 * sum(x) < count(*) THEN 0 ELSE {_TIES[tie]} END"
        )
    else:
        total = "quantile_disc(x, 0.5)"
    return (
        f"{_readings(response)} SELECT i, j, {total} AS y FROM readings GROUP BY i, j",  # noqa: S608
        {"dataset": dataset},
    )


def agreement(dataset: int, response: Response, tolerance: int) -> Query:
    """(j, n_agree, n_total, max_panel) of every rubric that has a known label; binary labels agree or do not."""
    return (
        f"""
        {_readings(response)},
        cells AS (SELECT j, count(*) AS n, max(x) - min(x) <= $tolerance AS agree FROM readings GROUP BY i, j)
        SELECT j, count(*) FILTER (n >= 2 AND agree) AS n_agree, count(*) FILTER (n >= 2) AS n_total,
               max(n) AS max_panel
        FROM cells GROUP BY j
        """,  # noqa: S608
        {"dataset": dataset, "tolerance": tolerance if response == "ordered" else 0},
    )
