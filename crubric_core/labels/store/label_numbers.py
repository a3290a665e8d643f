"""The effect of unequal numbers of labels per cell, or of runs per judge, on systems (docs/method.md §10).

The majority of three labels is more extreme than one label. Of an even number of levels the lower middle one counts.
Cells that split evenly are unknown, so that the remaining cells are the clear ones.
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
"""What is counted: the labels of a cell, or the runs of a judge on a cell."""


def splits_as(
    response: Response, tie: Tie, of: Counted = "labels", consensus: Consensus = "majority"
) -> tuple[Tie, ...]:
    """The ways in which an even split may be resolved, as values of ``tie``.

    Levels: the lower one ("fail"). Passes and fails of a judge's runs: "unknown". Passes and fails of several judges:
    ``tie``. Under Dawid and Skene's model the likeliest level depends on the judges, so several ways are possible.
    """
    if of == "labels" and consensus != "majority":
        return ("fail", "pass") if response == "ordered" else get_args(Tie)
    if response == "ordered":
        return ("fail",)
    return (tie if of == "labels" else "unknown",)


def steps(order: Mapping[int, FloatArray], cells: FloatArray, tie: Tie) -> tuple[FloatArray, FloatArray]:
    """(rise, known), both (M, N - 1): the effect of each number of labels per cell on the mean consensus of a system.

    rise: by how much the mean consensus is higher with this number than with the number before, as a share of the
    scale; 0 if no cell shows it. known: the number of cells behind it, those with at least so many labels.
    order: number of labels n, ascending → (M, n) the mean smallest, second smallest … label of a system's cells with
    n labels, as shares of the scale. cells: (M, N) how many such cells there are. The consensus with fewer labels is
    the mean over all choices of so many of a cell's labels.
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
    """(M,) mean consensus of n labels drawn without replacement from the m labels of cells.

    order: (M, m) mean order statistics of these cells. The i-th smallest of m labels is the r-th smallest of the n
    drawn if it is drawn with r - 1 of the i - 1 lower and n - r of the m - i higher ones. With tie "unknown", even
    splits of passes and fails are left out; 0.5 if all cells split evenly.
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
    """The logarithm of the binomial coefficient (of choose n), elementwise; -inf where it is 0."""
    rest = np.subtract(of, n)
    ways = gammaln(np.add(of, 1)) - gammaln(np.maximum(np.add(n, 1), 1)) - gammaln(np.maximum(rest, 0) + 1)
    return np.where((rest >= 0) & (np.asarray(n) >= 0), ways, -np.inf)


def raised(
    shares: JudgeShares, order: Mapping[int, FloatArray], cells: FloatArray, ties: Sequence[Tie]
) -> FloatArray:
    """(M, M) by how much the numbers of labels alone raise the row's system above the column's; a share of the scale.

    shares: for each system, the share of its cells with each of N numbers of labels, (M, N). order, cells: as for
    ``steps``. The effect of a number differs by system, since a majority raises good systems and lowers poor ones; so
    each pair has its own effect, estimated from the cells of both. 0 if the shares are equal for all systems, up to
    chance. ties: ways to resolve an even split; the largest value of these counts.
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
    """(M, M) ``raised`` of a panel of labels (M, J, K), NaN for no label, as levels.

    unit, levels: as for ``JudgeMeetings.of_panel``. ties: as from ``splits_as``.
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
    """(M, M) ``raised`` of a dataset. ties: as from ``splits_as``. runs, tallied: as for ``reduce.cells``."""
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
    """The WITH clause up to ``levels(…key, x, n)``: n labels of a cell, or of a cell and judge, are on level x."""
    key = _key(of)
    if tallied:
        names = f"{RUBRIC_FACTS}, {SYSTEM_ORDER}"
        levels = portable.counted(response, runs=runs) if of == "labels" else portable.draws(response)
    else:
        names, source = readings_of(response, runs), "readings" if of == "labels" else f"({draws(response)})"
        levels = f"SELECT {key}, x, count(*) AS n FROM {source} GROUP BY {key}, x"
    return f"WITH {names}, {UNITS}, levels AS ({levels})"


def _numbers(dataset: int, levels: str, of: Counted) -> Query:
    """(n,): the distinct numbers of labels per cell (or runs per cell and judge), ascending."""
    return (
        f"{levels} SELECT DISTINCT sum(n)::BIGINT AS n FROM levels GROUP BY {_key(of)} ORDER BY n",
        {"dataset": dataset},
    )


def _shares(dataset: int, levels: str, of: Counted) -> Query:
    """Like ``judge_sums.shares``, with the numbers of labels, ascending, in place of judges; every cell counts 1."""
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

    Grouped by the highest level ``top``, because sums on several scales are added as fractions.
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
