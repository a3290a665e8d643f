"""Paired differences between systems within each bootstrap replicate (docs/method.md §10)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from ..intervals import percentile_interval
from ..types import BoolArray, FloatArray


@dataclass(frozen=True)
class PairedDifferences:
    """Paired differences between M systems; NaN or False if one of the two is not ranked.

    ahead: (M, M) share of the replicates in which the row's system is above the column's; a tie counts half.
    p_value: (M, M) two-sided, 2Φ(−|mean| / sd) of the differences; 1 where they are all 0.
    separated: (M, M) True where the percentile interval of the differences excludes 0; symmetric.
    """

    ahead: FloatArray
    p_value: FloatArray
    separated: BoolArray


def separation(draws: FloatArray, confidence: float = 0.95) -> PairedDifferences:
    """Which pairs of systems the bootstrap separates, each pair tested alone. draws (R, M), R ≥ 2."""
    size = draws.shape[1]
    ahead, p_value = np.full((size, size), np.nan), np.full((size, size), np.nan)
    separated = np.zeros((size, size), dtype=bool)
    ranked = np.flatnonzero(np.isfinite(draws).all(axis=0))
    ahead[ranked, ranked], p_value[ranked, ranked] = 0.5, 1.0
    for at, i in enumerate(ranked[:-1], start=1):
        others = ranked[at:]
        difference = draws[:, [i]] - draws[:, others]
        ahead[i, others] = (np.sign(difference).mean(axis=0) + 1) / 2
        ahead[others, i] = 1 - ahead[i, others]
        p_value[i, others] = p_value[others, i] = two_sided_p(difference)
        separated[i, others] = separated[others, i] = excludes_zero(difference, confidence)
    return PairedDifferences(ahead, p_value, separated)


def with_holm(tested: PairedDifferences, confidence: float) -> PairedDifferences:
    """``tested``, but separated pairs must also pass Holm's procedure over all pairs at level 1 − confidence."""
    ranked = np.flatnonzero(np.isfinite(tested.p_value.diagonal()))
    rows, columns = (ranked[side] for side in np.triu_indices(len(ranked), 1))
    passes = np.zeros(tested.separated.shape, dtype=bool)
    passes[rows, columns] = holm_rejects(tested.p_value[rows, columns], 1 - confidence)
    return PairedDifferences(tested.ahead, tested.p_value, tested.separated & (passes | passes.T))


def excludes_zero(difference: FloatArray, confidence: float) -> BoolArray:
    """(n,) whether the percentile interval of each column of difference (R, n) lies on one side of 0.

    Counting decides for most columns; the interval is computed only if it ends close to 0.
    """
    replicates = len(difference)
    against = np.minimum((difference <= 0).sum(axis=0), (difference >= 0).sum(axis=0))
    allowed = np.floor((replicates - 1) * (1 - confidence) / 2)
    excluded: BoolArray = against <= allowed
    close = np.flatnonzero(np.abs(against - allowed) <= 2)
    low, high = percentile_interval(difference[:, close], confidence)
    excluded[close] = (low > 0) | (high < 0)
    return excluded


def two_sided_p(difference: FloatArray) -> FloatArray:
    """(n,) p-values 2Φ(−|mean| / sd), in [0, 1], of the columns of difference (R, n).

    The share of replicates beyond 0 cannot be less than 1/R: with R = 300 Holm's procedure over 14 tests could never
    reject. The normal approximation has no such lower limit.
    """
    mean, sd = difference.mean(axis=0), difference.std(axis=0, ddof=1)
    z = np.where(mean == 0, 0.0, np.inf)
    np.divide(np.abs(mean), sd, out=z, where=sd > 0)
    p: FloatArray = 2 * ndtr(-z)
    return p


def holm_rejects(p_values: FloatArray, level: float) -> BoolArray:
    """(n,) hypotheses that Holm's step-down procedure rejects, from p-values (n,).

    The k-th smallest of n p-values must be at most level / (n − k + 1), and so must all smaller ones.
    """
    order = np.argsort(p_values, kind="stable")
    holds = p_values[order] <= level / np.arange(len(p_values), 0, -1)
    rejected = np.empty(len(p_values), dtype=bool)
    rejected[order] = np.logical_and.accumulate(holds)
    return rejected
