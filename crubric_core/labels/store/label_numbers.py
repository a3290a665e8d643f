"""What numbers of labels of a cell, and of a judge's runs, do to systems (docs/method.md §10, unequal panels).

The majority of three is more extreme than one label; of an even number of levels the lower middle one counts; cells
that split evenly are unknown, and those that are left are clear ones.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from scipy.special import gammaln

from ...settings import Consensus, Response, Tie
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


def splits_as(
    response: Response, tie: Tie, of: Counted = "labels", consensus: Consensus = "majority"
) -> tuple[Tie, ...]:
    """What an even split may count as: of levels the lower one; of a judge's runs of passes and fails it is unknown.

    The likeliest level under Dawid and Skene's model may be either: it depends on the judges.
    """
    if of == "labels" and consensus != "majority":
        return ("fail", "pass") if response == "ordered" else get_args(Tie)
    if response == "ordered":
        return ("fail",)
    return (tie if of == "labels" else "unknown",)


def steps(order: Mapping[int, FloatArray], cells: FloatArray, tie: Tie) -> tuple[FloatArray, FloatArray]:
    """(M, N - 1) by how much each of N numbers of labels raises the mean consensus over the number before, and on how
    many cells that rests: those of the system with as many labels or more. A share of the scale; 0 where there is none.

    order: number n, ascending → (M, n) the mean smallest, second smallest … label of a system's cells with n labels,
    as shares of the scale. cells: (M, N) how many these are. All choices of fewer labels of a cell tell what fewer
    would have given.
    """
    numbers = list(order)
    rise, known = (np.zeros((len(cells), len(numbers) - 1)) for _ in range(2))
    for at, m in enumerate(numbers):
        labelled = cells[:, at] > 0
        given, weight = order[m][labelled], cells[labelled, at]
        before = _consensus(given, numbers[0], tie)
        for step, n in enumerate(numbers[1 : at + 1]):
            now = _consensus(given, n, tie)
            rise[labelled, step] += weight * (now - before)
            known[labelled, step] += weight
            before = now
    return np.divide(rise, known, out=np.zeros_like(rise), where=known > 0), known


def _consensus(order: FloatArray, n: int, tie: Tie) -> FloatArray:
    """(M,) the mean consensus of n labels drawn from cells with the mean order statistics ``order`` (M, m).

    The i-th of m is the r-th of n where r - 1 of the i - 1 lower ones are drawn, it is, and n - r of the others.
    Unknown is an even split of passes.
    """
    m = order.shape[1]
    i, r = np.arange(1, m + 1), np.array([[(n + 1) // 2], [n // 2 + 1]])
    weights = np.exp(_log_choices(i - 1, r - 1) + _log_choices(m - i, n - r) - _log_choices(m, n))
    lower, upper = (order @ weights.T).T
    if tie == "pass":
        return np.asarray(upper)
    if tie == "fail":
        return np.asarray(lower)
    decided = 1 - (upper - lower)
    return np.divide(lower, decided, out=np.full(len(order), 0.5), where=decided > 0)


def _log_choices(of: IntArray | int, n: IntArray | int) -> FloatArray:
    """The logarithm of the number of ways to choose n of them, -inf where there is none."""
    rest = np.subtract(of, n)
    ways = gammaln(np.add(of, 1)) - gammaln(np.maximum(np.add(n, 1), 1)) - gammaln(np.maximum(rest, 0) + 1)
    return np.where((rest >= 0) & (np.asarray(n) >= 0), ways, -np.inf)


def raised(
    shares: JudgeShares, order: Mapping[int, FloatArray], cells: FloatArray, ties: Sequence[Tie]
) -> FloatArray:
    """(M, M) by how much its numbers of labels raise row above column, were both systems alike; a share of the scale.

    shares: (M, N) of a system's cells, which share has each of N numbers; order, cells: as for ``steps``. What a step
    does differs by system: a majority raises good ones and lowers poor ones, so that each pair has its own, from the
    cells of both. 0 where the shares are the same for all systems, but for chance. ties: what an even split may count
    as; the most of these.
    """
    if not shares.beyond_chance.any():
        return np.zeros((len(cells), len(cells)))
    return np.max([_raised(shares, order, cells, tie) for tie in ties], axis=0)


def _raised(shares: JudgeShares, order: Mapping[int, FloatArray], cells: FloatArray, tie: Tie) -> FloatArray:
    found = np.zeros((len(cells), len(cells)))
    reached = np.nan_to_num(np.cumsum(shares.share[:, :0:-1], axis=1)[:, ::-1])
    for rise, known, share in zip(*(x.T for x in steps(order, cells, tie)), reached.T, strict=True):
        total, both = known[:, None] + known, known * rise
        mean = np.divide(both[:, None] + both, total, out=np.zeros_like(total), where=total > 0)
        found += (share[:, None] - share) * mean
    return found


def raised_on_panel(panel: FloatArray, unit: IntArray, levels: IntArray, ties: Sequence[Tie]) -> FloatArray:
    """(M, M) ``raised`` of labels (M, J, K) at hand, NaN where there is none; unit, levels: as in ``judge_sums``.

    ties: as ``splits_as`` has them.
    """
    number = (~np.isnan(panel)).sum(axis=2)
    numbers = np.unique(number[number > 0])
    if len(numbers) < 2:
        return np.zeros((len(panel), len(panel)))
    shares = JudgeShares.of_panel(np.where(number[..., None] == numbers, 1.0, np.nan), unit)
    ordered = np.sort(panel / (levels[:, None] - 1), axis=2)  # NaN sorts last
    order, cells = {}, np.zeros((len(panel), len(numbers)))
    for at, n in enumerate(numbers.tolist()):
        with_n = number == n
        cells[:, at] = with_n.sum(axis=1)
        sums = np.where(with_n[..., None], ordered[..., :n], 0.0).sum(axis=1)
        order[n] = sums / np.maximum(cells[:, [at]], 1)
    return raised(shares, order, cells, ties)


def read_raised(
    cursor: duckdb.DuckDBPyConnection,
    dataset: int,
    response: Response,
    ties: Sequence[Tie],
    *,
    of: Counted,
    runs: bool,
    tallied: bool,
    n_systems: int,
) -> FloatArray:
    """(M, M) ``raised`` of a dataset. ties: as ``splits_as`` has them. runs, tallied: as for ``reduce.cells``."""
    nothing = np.zeros((n_systems, n_systems))
    levels = _levels(response, of, runs=runs, tallied=tallied)
    numbers = [n for (n,) in cursor.execute(*_numbers(dataset, levels, of)).fetchall()]
    if len(numbers) < 2:
        return nothing
    shares = JudgeShares.read(cursor, _shares(dataset, levels, of), (n_systems, len(numbers)))
    if not shares.beyond_chance.any():
        return nothing
    found = cursor.execute(*_order(dataset, response, levels, of)).fetchnumpy()
    i, of_n, place = (np.asarray(found[name], dtype=np.int64) for name in ("i", "n", "place"))
    x = np.asarray(found["x"], dtype=float) / np.asarray(found["top"], dtype=float)
    order, cells = {}, np.zeros((n_systems, len(numbers)))
    for at, n in enumerate(numbers):
        own, sums, counted = of_n == n, np.zeros((n_systems, n)), np.zeros((n_systems, n))
        np.add.at(sums, (i[own], place[own] - 1), x[own])
        np.add.at(counted, (i[own], place[own] - 1), np.asarray(found["cells"], dtype=float)[own])
        order[n], cells[:, at] = sums / np.maximum(counted, 1), counted[:, 0]
    return raised(shares, order, cells, ties)


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
    """(i, n, place, top, cells, x): sums of the smallest (place 1), second … label over a system's cells with n labels.

    By the highest level, since the sums of several scales are added as fractions.
    """
    key, top = _key(of), "1" if response == "binary" else "levels - 1"
    return (
        f"""
        {levels},
        placed AS (
            SELECT system_id, j, x, n, (sum(n) OVER (PARTITION BY {key} ORDER BY x))::BIGINT AS up_to,
                   (sum(n) OVER (PARTITION BY {key}))::BIGINT AS every
            FROM levels
        ),
        counted AS (SELECT system_id, j, every, x, n::BIGINT AS n, up_to, count(*) AS cells FROM placed GROUP BY ALL)
        SELECT i, every AS n, place, {top} AS top, sum(cells)::BIGINT AS cells, sum(cells * x)::BIGINT AS x
        FROM (SELECT system_id, j, every, x, cells, unnest(range(up_to - n + 1, up_to + 1)) AS place FROM counted)
        JOIN units USING (j) JOIN system_order USING (system_id) GROUP BY ALL ORDER BY ALL
        """,
        {"dataset": dataset},
    )
