"""What numbers of labels of a cell, and of a judge's runs, do to systems (docs/method.md §10, unequal panels).

The majority of three is more extreme than one label; of an even number of levels the lower middle one counts; cells
that split evenly are unknown, and those that are left are clear ones.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import gammaln

from ...settings import Response, Tie
from ...types import FloatArray, IntArray
from ..ingest.rubric_facts import RUBRIC_FACTS, Query
from . import portable
from .catalogue import SYSTEM_ORDER
from .judge_sums import BY_SYSTEM, UNITS, JudgeShares
from .reduce import draws, readings_of

if TYPE_CHECKING:
    import duckdb

Counted = Literal["labels", "runs"]
"""What there are several of: the labels of a cell, or a judge's runs on it."""


def split_as(response: Response, tie: Tie, of: Counted = "labels") -> Tie:
    """What an even split counts as: of levels the lower one; of a judge's runs of passes and fails it is unknown."""
    if response == "ordered":
        return "fail"
    return tie if of == "labels" else "unknown"


def consensus_by_number(order: Mapping[int, FloatArray], tie: Tie) -> FloatArray:
    """(N,) by how much the mean consensus of cells is higher with each of N numbers of labels than with the most.

    A share of the scale. order: number n, ascending → (n,) the mean smallest, second smallest … label of cells with n
    labels, as shares of the scale. Of these cells all choices of fewer labels tell what fewer would have given.
    """
    numbers = list(order)
    higher = np.zeros(len(numbers))
    for place in range(len(numbers) - 2, -1, -1):
        fewer, most = numbers[place], numbers[place + 1]
        step = _consensus(_of_fewer(order[most], fewer), tie) - _consensus(order[most], tie)
        higher[place] = higher[place + 1] + step
    return higher


def _of_fewer(order: FloatArray, n: int) -> FloatArray:
    """(n,) the mean order statistics of n labels drawn from those with the mean order statistics ``order`` (m,).

    The i-th of m is the r-th of n where r - 1 of the i - 1 lower ones are drawn, it is, and n - r of the others.
    """
    m = len(order)
    i, r = np.arange(1, m + 1), np.arange(1, n + 1)[:, None]
    weights = np.exp(_log_choices(i - 1, r - 1) + _log_choices(m - i, n - r) - _log_choices(m, n))
    return np.asarray(weights @ order)


def _log_choices(of: IntArray | int, n: IntArray | int) -> FloatArray:
    """The logarithm of the number of ways to choose n of them, -inf where there is none."""
    rest = np.subtract(of, n)
    ways = gammaln(np.add(of, 1)) - gammaln(np.maximum(np.add(n, 1), 1)) - gammaln(np.maximum(rest, 0) + 1)
    return np.where((rest >= 0) & (np.asarray(n) >= 0), ways, -np.inf)


def _consensus(order: FloatArray, tie: Tie) -> float:
    """The mean consensus of cells with the mean order statistics ``order`` (n,); unknown is an even split of passes."""
    lower, upper = float(order[(len(order) - 1) // 2]), float(order[len(order) // 2])
    if tie == "pass":
        return upper
    if tie == "fail":
        return lower
    split = upper - lower
    return lower / (1 - split) if split < 1 else 0.5


def raised(shares: JudgeShares, higher: FloatArray) -> FloatArray:
    """(M,) by which its numbers of labels raise a system's labels more than the others', a share of the scale.

    shares: (M, N) of a system's cells, which share has each of N numbers; higher: as ``consensus_by_number``. 0 where
    the shares are the same for all systems, but for chance.
    """
    if not shares.beyond_chance.any():
        return np.zeros(len(shares.share))
    return np.asarray(np.nan_to_num((shares.share - np.nanmean(shares.share, axis=0)) @ higher))


def raised_on_panel(panel: FloatArray, unit: IntArray, levels: IntArray, tie: Tie) -> FloatArray:
    """(M,) ``raised`` of labels (M, J, K) at hand, NaN where there is none; unit, levels: as in ``judge_sums``.

    tie: what an even split counts as; "fail" of levels, of which the lower middle one counts.
    """
    number = (~np.isnan(panel)).sum(axis=2)
    numbers = np.unique(number[number > 0])
    if len(numbers) < 2:
        return np.zeros(len(panel))
    shares = JudgeShares.of_panel(np.where(number[..., None] == numbers, 1.0, np.nan), unit)
    ordered = np.sort(panel / (levels[:, None] - 1), axis=2)  # NaN sorts last
    order = {int(n): ordered[number == n][:, :n].mean(axis=0) for n in numbers}
    return raised(shares, consensus_by_number(order, tie))


def read_raised(
    cursor: duckdb.DuckDBPyConnection,
    dataset: int,
    response: Response,
    tie: Tie,
    *,
    of: Counted,
    runs: bool,
    tallied: bool,
    n_systems: int,
) -> FloatArray:
    """(M,) ``raised`` of a dataset. tie: what an even split counts as. runs, tallied: as for ``reduce.cells``."""
    levels = _levels(response, of, runs=runs, tallied=tallied)
    numbers = [n for (n,) in cursor.execute(*_numbers(dataset, levels, of)).fetchall()]
    if len(numbers) < 2:
        return np.zeros(n_systems)
    shares = JudgeShares.read(cursor, _shares(dataset, levels, of), (n_systems, len(numbers)))
    if not shares.beyond_chance.any():
        return np.zeros(n_systems)
    found = cursor.execute(*_order(dataset, response, levels, of)).fetchnumpy()
    of_n, place = (np.asarray(found[name], dtype=np.int64) for name in ("n", "place"))
    x = np.asarray(found["x"], dtype=float) / np.asarray(found["top"], dtype=float)
    cells = np.asarray(found["cells"], dtype=float)
    order = {}
    for n in numbers:
        own = of_n == n
        at = place[own] - 1
        order[n] = np.bincount(at, x[own], minlength=n) / np.bincount(at, cells[own], minlength=n)
    return raised(shares, consensus_by_number(order, tie))


def _key(of: Counted) -> str:
    return "system_id, j" if of == "labels" else "system_id, j, judge_id"


def _levels(response: Response, of: Counted, *, runs: bool, tallied: bool) -> str:
    """Relations up to ``levels(…key, x, n)``: n labels of a cell, or of a cell and judge, are x."""
    key = _key(of)
    if tallied:
        names = f"{RUBRIC_FACTS}, {SYSTEM_ORDER}"
        levels = portable.counted(response, runs=runs) if of == "labels" else portable.draws(response)
    else:
        names, source = readings_of(response, runs), "readings" if of == "labels" else f"({draws(response)})"
        levels = f"SELECT {key}, x, count(*) AS n FROM {source} GROUP BY {key}, x"
    return f"WITH {names}, {UNITS}, levels AS ({levels})"


def _numbers(dataset: int, levels: str, of: Counted) -> Query:
    """(n,): the numbers of labels that cells have, in order."""
    return (
        f"{levels} SELECT DISTINCT sum(n)::BIGINT AS n FROM levels GROUP BY {_key(of)} ORDER BY n",
        {"dataset": dataset},
    )


def _shares(dataset: int, levels: str, of: Counted) -> Query:
    """As ``judge_sums.shares``, of the numbers of labels, in order, in the place of judges; every cell counts 1."""
    return (
        f"""
        {levels},
        groups AS (SELECT {_key(of)}, sum(n)::BIGINT AS n FROM levels GROUP BY {_key(of)}),
        numbers AS (SELECT n, row_number() OVER (ORDER BY n) - 1 AS k FROM (SELECT DISTINCT n FROM groups)),
        judged AS (
            SELECT system_id, unit, k, count(*)::HUGEINT AS w
            FROM groups JOIN units USING (j) JOIN numbers USING (n) GROUP BY ALL
        ), {BY_SYSTEM}
        """,
        {"dataset": dataset},
    )


def _order(dataset: int, response: Response, levels: str, of: Counted) -> Query:
    """(n, place, top, cells, x): sums of the smallest (place 1), second smallest … label over cells with n labels.

    By the highest level, since the sums of several scales are added as fractions.
    """
    key, top = _key(of), "1" if response == "binary" else "levels - 1"
    return (
        f"""
        {levels},
        placed AS (
            SELECT j, x, n, (sum(n) OVER (PARTITION BY {key} ORDER BY x))::BIGINT AS up_to,
                   (sum(n) OVER (PARTITION BY {key}))::BIGINT AS every
            FROM levels
        ),
        counted AS (SELECT j, every, x, n::BIGINT AS n, up_to, count(*) AS cells FROM placed GROUP BY ALL)
        SELECT every AS n, place, {top} AS top, sum(cells)::BIGINT AS cells, sum(cells * x)::BIGINT AS x
        FROM (SELECT j, every, x, cells, unnest(range(up_to - n + 1, up_to + 1)) AS place FROM counted)
        JOIN units USING (j) GROUP BY ALL ORDER BY ALL
        """,
        {"dataset": dataset},
    )
