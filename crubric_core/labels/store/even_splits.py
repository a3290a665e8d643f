"""What even numbers do to systems: of labels on a cell, and of a judge's runs (docs/method.md §10, unequal panels).

Of an even number of levels the lower middle one counts; an even split of passes and fails counts as ``tie`` says.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ...settings import Response, Tie
from ...types import FloatArray
from ..ingest.rubric_facts import Query
from .judge_sums import BY_SYSTEM, UNITS, JudgeShares
from .reduce import draws, readings_of

if TYPE_CHECKING:
    import duckdb

Split = Literal["labels", "runs"]
"""What is one: the labels of a cell, or a judge's runs on it."""
_TIES = {"unknown": 0, "fail": -1, "pass": 1}


def raised(shares: JudgeShares, heights: FloatArray) -> FloatArray:
    """(M,) by which the rule for even splits raises a system's labels more than the others', a share of the scale.

    shares: (M, N) of a system's cells, which share has each of N numbers of labels; heights: (N,) how far the label
    that counts is above the middle of the two middle ones, on average over the cells with as many. 0 where the shares
    are the same for all systems, but for chance.
    """
    if not shares.beyond_chance.any():
        return np.zeros(len(shares.share))
    return np.asarray(np.nan_to_num((shares.share - np.nanmean(shares.share, axis=0)) @ heights))


def read_raised(
    cursor: duckdb.DuckDBPyConnection,
    dataset: int,
    response: Response,
    tie: Tie,
    *,
    of: Split,
    runs: bool,
    n_systems: int,
) -> FloatArray:
    """(M,) as ``raised``, of the stored labels. ``runs``: whether judges labelled cells repeatedly."""
    found = cursor.execute(*_heights(dataset, response, tie, of, runs)).fetchnumpy()
    numbers, at = np.unique(np.asarray(found["n"]), return_inverse=True)
    if len(numbers) < 2:
        return np.zeros(n_systems)
    cells, above = (
        np.bincount(at, np.asarray(found[name], dtype=float) / scale)
        for name, scale in (("cells", 1.0), ("above", 2.0 * np.asarray(found["top"], dtype=float)))
    )
    shares = JudgeShares.read(cursor, _shares(dataset, response, of, runs), (n_systems, len(numbers)))
    return raised(shares, above / cells)


def _groups(response: Response, of: Split, runs: bool, more: str = "") -> str:
    """Relations up to ``groups(system_id, j, n)``: one row a cell, or a cell and judge, and how many labels it has."""
    source = "readings" if of == "labels" else f"({draws(response)})"
    judge = "" if of == "labels" else ", judge_id"
    return f"""
        WITH {readings_of(response, runs)}, {UNITS},
        groups AS (SELECT system_id, j, count(*) AS n{more} FROM {source} GROUP BY system_id, j{judge})
    """


def _heights(dataset: int, response: Response, tie: Tie, of: Split, runs: bool) -> Query:
    """(n, top, cells, above): groups with n labels; twice how far the label that counts is above the middle, summed up.

    By the highest level, since the sums of several scales are added as fractions.
    """
    above, top = "quantile_disc(x, 0.5) + quantile_disc(-x, 0.5)", "levels - 1"
    if response == "binary":
        above, top = f"CASE WHEN 2 * sum(x) = count(*) THEN {_TIES[tie]} ELSE 0 END", "1"
    return (
        f"""
        {_groups(response, of, runs, f", {above} AS above")}
        SELECT n, {top} AS top, count(*) AS cells, sum(above)::BIGINT AS above
        FROM groups JOIN units USING (j) GROUP BY n, top ORDER BY n, top
        """,
        {"dataset": dataset},
    )


def _shares(dataset: int, response: Response, of: Split, runs: bool) -> Query:
    """As ``judge_sums.shares``, of the numbers of labels, in order, in the place of judges; every group counts 1."""
    return (
        f"""
        {_groups(response, of, runs)},
        numbers AS (SELECT n, row_number() OVER (ORDER BY n) - 1 AS k FROM (SELECT DISTINCT n FROM groups)),
        judged AS (
            SELECT system_id, unit, k, count(*)::HUGEINT AS w
            FROM groups JOIN units USING (j) JOIN numbers USING (n) GROUP BY ALL
        ), {BY_SYSTEM}
        """,
        {"dataset": dataset},
    )
