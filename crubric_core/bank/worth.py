"""The worth of a bank: how much of the pool's order of the systems it keeps for systems that it has not seen.

Pool and bank both place the same M systems, the bank as if each system were new. A pair that the pool separates is
*kept* if the bank separates it in the same direction, *reversed* if in the opposite direction. Intervals are by the
jackknife over systems (Efron & Tibshirani 1993, ch. 11); those of shares are exact at the effective number of pairs
(Korn & Graubard 1998). They generalise to other systems like these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import NamedTuple

import numpy as np

from ..compiled import compiled
from ..errors import AssemblyError
from ..intervals import (
    difference_interval,
    disjoint_pairs,
    jackknife_half_width,
    leave_one_out_sums,
    ratio,
    share_interval,
)
from ..ranks import TIE_DIGITS
from ..types import BoolArray, FloatArray, IntArray

MEASURES = ("kept", "reversed", "ordered", "tau", "rank_error")
_SHARES = 3  # the first measures are shares of pairs


@dataclass(frozen=True)
class Interval:
    """An estimate with the ends of its interval; NaN where unknown."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Worth:
    """Means over the banks of one size.

    kept, reversed: shares in [0, 1] of the pairs that the pool separates. ordered: share of these pairs that the bank
    puts in the pool's order, separated or not. tau: Kendall's tau-b of the abilities, in [-1, 1]. rank_error: mean
    absolute difference of the ranks, over systems that have another system in their group. separated: number of pairs
    that the pool separates. systems: number of systems that take part. groups: number of groups of systems, which have
    no common scale with each other.
    without: (M, 5) the same five measures without each system in turn, for the jackknife intervals.
    """

    kept: Interval
    reversed: Interval
    ordered: Interval
    tau: Interval
    rank_error: Interval
    separated: int
    systems: int
    groups: int
    without: FloatArray


def bank_worth(
    pool: FloatArray,
    pool_separated: BoolArray,
    banks: FloatArray,
    banks_separated: BoolArray,
    confidence: float = 0.95,
    *,
    group: IntArray | None = None,
    bank_groups: IntArray | None = None,
) -> Worth:
    """The worth of one bank, or the mean over D banks of one size, such as random ones.

    pool: (M,) abilities on the whole pool; pool_separated: (M, M) symmetric. banks: (M,) or (D, M) abilities on each
    bank as if new; banks_separated: (M, M) or (D, M, M). A system unknown (NaN) on the pool or on all banks takes no
    part. The shares count the pairs of systems that a bank places; for tau and rank_error a system that a bank does not
    place is tied, and so are abilities equal to TIE_DIGITS.
    group, bank_groups: (M,), and shaped as ``banks``: group of each system on the pool and on each bank, a group being
    systems with a common scale; None: one group. Two systems of different groups have no order: ranks are within a
    group of the pool, and systems of different groups of a bank are tied on it. Raises AssemblyError if shapes do not
    fit.
    """
    pool, banks = pool.round(TIE_DIGITS), np.atleast_2d(banks).round(TIE_DIGITS)
    separated = banks_separated.reshape(-1, *pool_separated.shape)
    if banks.shape[1:] != pool.shape or separated.shape != (len(banks), len(pool), len(pool)):
        raise AssemblyError("The standings on pool and bank must be of the same systems.")
    known = np.flatnonzero(np.isfinite(pool) & np.isfinite(banks).any(axis=0))
    pool_true = pool_separated[known][:, known]
    of = np.zeros(pool.shape, dtype=np.int64) if group is None else group
    on_bank = np.zeros(banks.shape, dtype=np.int64) if bank_groups is None else np.atleast_2d(bank_groups)
    of, on_bank = of[known], on_bank[:, known]
    found = _sums(pool[known], pool_true, banks[:, known], separated[:, known][:, :, known], of, on_bank)
    values = np.column_stack([*_shares(found), _tau(found), _rank_errors(found, of)])
    without = np.full((len(pool_separated), len(MEASURES)), np.nan)
    without[known] = values[1:]
    trials, most = disjoint_pairs(pool_true), float(found.compared.sum() / 2)
    kept, reversed_, ordered, tau, rank_error = (
        _interval(values[0, k], values[1:, k], trials if k < _SHARES else 0, confidence, most)
        for k in range(len(MEASURES))
    )
    placed = np.isfinite(banks[:, known]).astype(float)
    pairs = int((pool_true & (placed.T @ placed > 0)).sum()) // 2
    groups = len(np.unique(of))
    return Worth(kept, reversed_, ordered, tau, rank_error, pairs, len(known), groups, without)


def worth_difference(first: Worth, second: Worth, measure: str, confidence: float = 0.95) -> Interval:
    """Difference first - second of one measure on the same systems, with its interval; paired by the omitted system.

    confidence: that of both. The interval of a difference of shares is made from the intervals of the shares, except
    for banks that place the systems in exactly the same way, whose difference is 0.
    """
    k = MEASURES.index(measure)
    one, other = getattr(first, measure), getattr(second, measure)
    difference, left = one.estimate - other.estimate, np.stack([first.without[:, k], second.without[:, k]])
    if k >= _SHARES or np.array_equal(first.without, second.without, equal_nan=True):
        return _interval(difference, left[0] - left[1], 0, confidence)
    return Interval(difference, *difference_interval(astuple(one), astuple(other), left))


def least_keeping(sizes: IntArray | Sequence[int], kept: FloatArray, target: float = 0.95) -> int | None:
    """The least size from which on every size keeps at least ``target``; None if the largest size does not.

    sizes: (n,) ascending. kept: (n,) share that banks of each size keep.
    """
    enough = np.logical_and.accumulate((kept >= target)[::-1])[::-1]
    return int(np.asarray(sizes)[enough.argmax()]) if enough.any() else None


class _Sums(NamedTuple):
    """Sums over the pairs of each system. compared, kept, reversed, ordered: (M,) pairs in all D banks.

    They are defined as in ``Worth``. truth: (M,) pairs that the pool does not tie. found: (D, M) pairs that a bank does
    not tie. agreement: (D, M) sums of the products of both signs. shift: (D, M) rank of the system on the pool minus
    that on the bank. without: (D, M) sum of the other systems' absolute shifts if this system is left out.
    """

    compared: FloatArray
    kept: FloatArray
    reversed: FloatArray
    ordered: FloatArray
    truth: FloatArray
    found: FloatArray
    agreement: FloatArray
    shift: FloatArray
    without: FloatArray


def _sums(
    pool: FloatArray,
    pool_true: BoolArray,
    banks: FloatArray,
    separated: BoolArray,
    group: IntArray,
    bank_groups: IntArray,
) -> _Sums:
    found = _Sums(*np.zeros((5, len(pool))), *np.zeros((4, *banks.shape)))
    whole = np.ascontiguousarray
    _add_up(found, pool, whole(pool_true), whole(banks), whole(separated), group, whole(bank_groups))
    return found


@compiled
def _add_up(
    sums: _Sums,
    pool: FloatArray,
    pool_true: BoolArray,
    banks: FloatArray,
    separated: BoolArray,
    group: IntArray,
    bank_groups: IntArray,
) -> None:
    """Add the sums over all pairs to ``sums``, which must be zeros."""
    shifts = np.zeros((len(pool), len(pool)))
    for bank in range(len(banks)):
        for i in range(len(pool)):
            for k in range(len(pool)):
                together = group[i] == group[k]
                truth = np.sign(pool[i] - pool[k]) if together else 0.0
                found = np.sign(banks[bank, i] - banks[bank, k])
                placed = not np.isnan(found)
                together &= bank_groups[bank, i] == bank_groups[bank, k]
                found = found if placed and together else 0.0
                compared = pool_true[i, k] & placed
                told = compared & separated[bank, i, k]
                sums.compared[i] += compared
                sums.kept[i] += told & (truth * found > 0)
                sums.reversed[i] += told & (truth * found < 0)
                sums.ordered[i] += compared & (truth * found > 0)
                sums.truth[i] += truth * truth if bank == 0 else 0.0
                sums.found[bank, i] += found * found
                sums.agreement[bank, i] += truth * found
                # A rank is (systems of the group + 1 + those above - those below) / 2.
                shifts[i, k] = (found - truth) / 2
                sums.shift[bank, i] += shifts[i, k]
        for i in range(len(pool)):
            for left_out in range(len(pool)):
                if left_out != i:
                    sums.without[bank, left_out] += abs(sums.shift[bank, i] - shifts[i, left_out])


def _shares(sums: _Sums) -> list[FloatArray]:
    """Kept, reversed and ordered shares of the pairs compared, (1 + M,) each; NaN without any."""
    pairs = leave_one_out_sums(sums.compared)
    return [ratio(leave_one_out_sums(events), pairs) for events in (sums.kept, sums.reversed, sums.ordered)]


def _tau(sums: _Sums) -> FloatArray:
    """(1 + M,) Kendall's tau-b, averaged over the banks; NaN where a bank ties all systems."""
    scale = np.sqrt(leave_one_out_sums(sums.truth) * leave_one_out_sums(sums.found))
    return np.asarray(ratio(leave_one_out_sums(sums.agreement), scale).mean(axis=0))


def _rank_errors(sums: _Sums, group: IntArray) -> FloatArray:
    """(1 + M,) mean absolute rank difference, of systems with another in their group; NaN without any."""
    linked = group[:, None] == group
    others = linked.sum(axis=0) - 1
    # Without each system: how many others still have another system in their group.
    left = ((others - linked > 0) & ~np.eye(len(group), dtype=bool)).sum(axis=1)
    counts = np.append((others > 0).sum(), left)
    total = np.append(np.abs(sums.shift).sum(axis=1).mean(), sums.without.mean(axis=0))
    return ratio(total, counts)


def _interval(
    estimate: float, without: FloatArray, trials: int, confidence: float, most: float = np.inf
) -> Interval:
    """Jackknife interval. trials: for a share, the number of its pairs that share no system; else 0."""
    if trials:
        return Interval(float(estimate), *share_interval(estimate, without, trials, confidence, most))
    half = float(jackknife_half_width(without[np.isfinite(without)], confidence))
    return Interval(float(estimate), float(estimate - half), float(estimate + half))
