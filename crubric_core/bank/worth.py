"""What a bank is worth: how much of the standing on the whole pool it keeps for systems that it has not seen.

Both standings are of the same M systems: on the pool, and on the bank as if each system were new. A pair that the
pool separates is *kept* where the bank separates it the same way, *reversed* where it separates it the other way.
Intervals are by the jackknife over systems (Efron & Tibshirani 1993, ch. 11), those of shares exact at its effective
number of pairs (Korn & Graubard 1998): they tell what other systems like these would show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np

from ..errors import AssemblyError
from ..intervals import difference_interval, disjoint_pairs, jackknife_half_width, share_interval
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
    absolute difference of the ranks. separated: pairs that the pool separates, of the ``systems`` that take part.
    without: (M, 5) the same five measures without each system in turn, for the jackknife intervals.
    """

    kept: Interval
    reversed: Interval
    ordered: Interval
    tau: Interval
    rank_error: Interval
    separated: int
    systems: int
    without: FloatArray


def bank_worth(
    pool: FloatArray,
    pool_separated: BoolArray,
    banks: FloatArray,
    banks_separated: BoolArray,
    confidence: float = 0.95,
) -> Worth:
    """The worth of one bank, or the mean over D banks of one size, such as random ones.

    pool: (M,) abilities on the whole pool; pool_separated: (M, M) symmetric. banks: (M,) or (D, M) abilities on each
    bank as if new; banks_separated: (M, M) or (D, M, M). A system unknown (NaN) on the pool or on all banks takes no
    part. The shares are of the pairs that a bank places; to tau and rank_error a system that it does not place ties.
    """
    banks, separated = np.atleast_2d(banks), banks_separated.reshape(-1, *pool_separated.shape)
    if banks.shape[1:] != pool.shape or separated.shape != (len(banks), len(pool), len(pool)):
        raise AssemblyError("The standings on pool and bank must be of the same systems.")
    known = np.flatnonzero(np.isfinite(pool) & np.isfinite(banks).any(axis=0))
    pool_true, bank_separated = pool_separated[known][:, known], separated[:, known][:, :, known]
    pool, banks = pool[known], banks[:, known]
    placed, truth, found = np.isfinite(banks), _signs(pool), np.nan_to_num(_signs(banks))
    compared = pool_true & placed[:, :, None] & placed[:, None, :]
    shares = _shares(truth, found, compared, bank_separated)
    values = np.column_stack([*shares, _tau(truth, found), _rank_errors(truth, found)])
    without = np.full((len(pool_separated), len(MEASURES)), np.nan)
    without[known] = values[1:]
    trials, most = disjoint_pairs(pool_true), float(compared.sum() / 2)
    kept, reversed_, ordered, tau, rank_error = (
        _interval(values[0, k], values[1:, k], trials if k < _SHARES else 0, confidence, most)
        for k in range(len(MEASURES))
    )
    pairs = int(np.triu(compared.any(axis=0), 1).sum())
    return Worth(kept, reversed_, ordered, tau, rank_error, pairs, len(known), without)


def worth_difference(first: Worth, second: Worth, measure: str, confidence: float = 0.95) -> Interval:
    """First less second on the same systems, paired by the omitted system. confidence: that of both.

    That of two shares is made of their intervals, but for banks that place the systems alike: these differ by nothing.
    """
    k = MEASURES.index(measure)
    one, other = getattr(first, measure), getattr(second, measure)
    difference, left = one.estimate - other.estimate, np.stack([first.without[:, k], second.without[:, k]])
    if k >= _SHARES or np.array_equal(first.without, second.without, equal_nan=True):
        return _interval(difference, left[0] - left[1], 0, confidence)
    return Interval(difference, *difference_interval(astuple(one), astuple(other), left))


def least_keeping(sizes: IntArray | Sequence[int], kept: FloatArray, target: float = 0.95) -> int | None:
    """The least size from which on every size keeps ``target``; None where not even the largest does.

    sizes: (n,) ascending. kept: (n,) share that banks of each size keep.
    """
    enough = np.logical_and.accumulate((kept >= target)[::-1])[::-1]
    return int(np.asarray(sizes)[enough.argmax()]) if enough.any() else None


def _signs(values: FloatArray) -> FloatArray:
    """(…, M, M) 1 where the row is above the column, -1 below, 0 tied. values: (…, M)."""
    return np.sign(values[..., :, None] - values[..., None, :])


def _with_and_without(pairs: FloatArray) -> FloatArray:
    """Sums of a symmetric matrix over all pairs, then without each system in turn. (…, M, M) → (1 + M, …)."""
    rows = pairs.sum(axis=-1)
    total = rows.sum(axis=-1, keepdims=True) / 2
    return np.moveaxis(np.concatenate([total, total - rows], axis=-1), -1, 0)


def _shares(
    truth: FloatArray, found: FloatArray, compared: BoolArray, bank_separated: BoolArray
) -> list[FloatArray]:
    """Kept, reversed and ordered shares of the pairs compared (D, M, M), (1 + M,) each; NaN without any."""
    agrees, opposes = found * truth > 0, found * truth < 0
    pairs = _with_and_without(compared.mean(axis=0))
    out = []
    for events in (bank_separated & agrees, bank_separated & opposes, agrees):
        share = np.full(len(pairs), np.nan)
        counts = _with_and_without((events & compared).mean(axis=0))
        np.divide(counts, pairs, out=share, where=pairs > 0.5 / len(compared))
        out.append(np.clip(share, 0.0, 1.0))
    return out


def _tau(truth: FloatArray, found: FloatArray) -> FloatArray:
    """(1 + M,) Kendall's tau-b, averaged over the banks; NaN where a bank ties all systems."""
    agreement = _with_and_without(truth * found)
    scale = np.sqrt(_with_and_without(truth**2)[:, None] * _with_and_without(found**2))
    tau = np.full(agreement.shape, np.nan)
    np.divide(agreement, scale, out=tau, where=scale > 0)
    return np.asarray(tau.mean(axis=1))


def _rank_errors(truth: FloatArray, found: FloatArray) -> FloatArray:
    """(1 + M,) mean absolute rank difference. A rank is (M + 1 + those above - those below) / 2."""
    shift = (found - truth) / 2  # what the column contributes to the row's rank difference
    difference = shift.sum(axis=-1)
    size = truth.shape[0]
    left_out = np.abs(difference[:, :, None] - shift)  # row: the system, column: which is omitted
    np.einsum("dii->di", left_out)[:] = 0.0
    without = left_out.sum(axis=1).mean(axis=0) / max(size - 1, 1)
    return np.append(np.abs(difference).mean(), without)


def _interval(
    estimate: float, without: FloatArray, trials: int, confidence: float, most: float = np.inf
) -> Interval:
    """That of the jackknife. trials: of a share, how many of its pairs share no system; else 0."""
    if trials:
        return Interval(float(estimate), *share_interval(estimate, without, trials, confidence, most))
    half = float(jackknife_half_width(without[np.isfinite(without)], confidence))
    return Interval(float(estimate), float(estimate - half), float(estimate + half))
