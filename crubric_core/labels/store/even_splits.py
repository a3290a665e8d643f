"""What even numbers do to systems: of labels on a cell, and of a judge's runs (docs/method.md §10, unequal panels).

Of an even number of levels the lower middle one counts; an even split of passes and fails counts as ``tie`` says.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ...settings import Response, Tie
from ...types import FloatArray
from ..ingest.rubric_facts import RUBRIC_FACTS, Query
from . import portable
from .catalogue import SYSTEM_ORDER
from .judge_sums import BY_SYSTEM, UNITS, JudgeShares
from .reduce import draws, readings_of

if TYPE_CHECKING:
    import duckdb

Split = Literal["labels", "runs"]
"""What is one: the labels of a cell, or a judge's runs on it."""


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
    tallied: bool,
    n_systems: int,
) -> FloatArray:
    """(M,) as ``raised``, of a dataset. runs, tallied: as for ``reduce.cells``."""
    groups = _groups(response, of, runs=runs, tallied=tallied)
    found = cursor.execute(*_heights(dataset, response, groups)).fetchnumpy()
    numbers, at = np.unique(np.asarray(found["n"]), return_inverse=True)
    if len(numbers) < 2:
        return np.zeros(n_systems)
    apart = np.asarray(found["apart"], dtype=float) / np.asarray(found["top"], dtype=float) / 2
    heights = np.bincount(at, apart) / np.bincount(at, np.asarray(found["groups"], dtype=float))
    shares = JudgeShares.read(cursor, _shares(dataset, groups), (n_systems, len(numbers)))
    return raised(shares, heights if tie == "pass" and response == "binary" else -heights)


def _groups(response: Response, of: Split, *, runs: bool, tallied: bool) -> str:
    """Relations up to ``groups(system_id, j, n, apart)``, one row a cell, or a cell and judge.

    Of its n labels the two middle ones are so many levels apart.
    """
    key = "system_id, j" if of == "labels" else "system_id, j, judge_id"
    names = f"{RUBRIC_FACTS}, {SYSTEM_ORDER}" if tallied else readings_of(response, runs)
    if tallied:
        levels = portable.counted(response, runs=runs) if of == "labels" else portable.draws(response)
    else:
        source = "readings" if of == "labels" else f"({draws(response)})"
        levels = f"SELECT {key}, x, count(*) AS n FROM {source} GROUP BY {key}, x"
    return f"""
        WITH {names}, {UNITS},
        summed_up AS (
            SELECT {key}, x, sum(n) OVER (PARTITION BY {key} ORDER BY x) AS up_to,
                   sum(n) OVER (PARTITION BY {key}) AS every
            FROM ({levels})
        ),
        groups AS (
            SELECT {key}, any_value(every)::BIGINT AS n,
                   min(x) FILTER (2 * up_to > every) - min(x) FILTER (2 * up_to >= every) AS apart
            FROM summed_up GROUP BY {key}
        )
    """


def _heights(dataset: int, response: Response, groups: str) -> Query:
    """(n, top, groups, apart): groups with n labels and the sum of ``apart``.

    By the highest level, since the sums of several scales are added as fractions.
    """
    top = "1" if response == "binary" else "levels - 1"
    return (
        f"""
        {groups}
        SELECT n, {top} AS top, count(*) AS groups, sum(apart)::BIGINT AS apart
        FROM groups JOIN units USING (j) GROUP BY n, top ORDER BY n, top
        """,
        {"dataset": dataset},
    )


def _shares(dataset: int, groups: str) -> Query:
    """As ``judge_sums.shares``, of the numbers of labels, in order, in the place of judges; every group counts 1."""
    return (
        f"""
        {groups},
        numbers AS (SELECT n, row_number() OVER (ORDER BY n) - 1 AS k FROM (SELECT DISTINCT n FROM groups)),
        judged AS (
            SELECT system_id, unit, k, count(*)::HUGEINT AS w
            FROM groups JOIN units USING (j) JOIN numbers USING (n) GROUP BY ALL
        ), {BY_SYSTEM}
        """,
        {"dataset": dataset},
    )
