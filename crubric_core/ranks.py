"""Spearman's rank correlation and its p-value, as array kernels."""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations

import numpy as np
import pandas as pd
from scipy.special import gammaln, stdtr

from .intervals import ratio
from .types import FloatArray, IntArray

COUNTED = 64  # up to so many systems, ranks are computed by comparing pairs; beyond, by sorting
EXACT = 8  # up to so many values, the p-value of a rank correlation uses all their orders
TIE_DIGITS = 9  # decimals to which abilities from the same labels are equal in spite of rounding: they tie


def rank_correlation(values: FloatArray, reference: FloatArray) -> FloatArray:
    """Spearman's rho of each row with ``reference``. values (…, M), reference (M,) → (…) in [-1, 1].

    Systems without a reference are left out; ties get mean ranks. NaN for fewer than 3 systems, if a value is NaN, and
    if all values tie.
    """
    known = np.isfinite(reference)
    if known.sum() < 3:
        return np.full(values.shape[:-1], np.nan)
    kept = np.round(values[..., known], TIE_DIGITS)
    ranks, target = _centred_ranks(kept), _centred_ranks(np.round(reference[known], TIE_DIGITS))
    return ratio(ranks @ target, np.sqrt((ranks**2).sum(axis=-1) * (target**2).sum()))


def spearman_p(values: FloatArray, reference: FloatArray) -> float:
    """Two-sided p-value of Spearman's rho of values and reference (n,), all known; NaN if n < 3 or all values tie.

    For at most EXACT values it is the share of their orders whose rho is at least as far from 0. For more values it
    is from the t approximation, except if |rho| = 1, where that would give 0: then it is the exact share.
    """
    rho, n = float(rank_correlation(values, reference)), len(values)
    if n < 3 or not np.isfinite(rho):
        return float("nan")
    if n <= EXACT:
        ranks, target = (_centred_ranks(np.round(each, TIE_DIGITS)) for each in (values, reference))
        return float(np.mean(np.abs(ranks[_orders(n)] @ target) >= abs(ranks @ target) - 1e-9))
    if abs(rho) >= 1 - 1e-12:
        return _share_in_order(reference)
    return float(2 * stdtr(n - 2, -abs(rho) * np.sqrt((n - 2) / (1 - rho**2))))


def _share_in_order(reference: FloatArray) -> float:
    """Probability that a random order of values with the ties of ``reference`` (n,) is its order or the reverse."""
    ties = np.unique(np.round(reference, TIE_DIGITS), return_counts=True)[1]
    alike = float(np.exp(gammaln(ties + 1.0).sum() - gammaln(len(reference) + 1.0)))
    return alike * (2 if (ties == ties[::-1]).all() else 1)


@lru_cache(maxsize=EXACT)
def _orders(n: int) -> IntArray:
    """(n!, n) all permutations of 0..n-1."""
    return np.array(list(permutations(range(n))))


def _centred_ranks(values: FloatArray) -> FloatArray:
    """Mean ranks along the last axis minus their mean; NaN if a value is NaN."""
    if values.shape[-1] > COUNTED:
        rows = pd.DataFrame(values.reshape(-1, values.shape[-1])).rank(axis=1).to_numpy()
        return np.asarray(rows - rows.mean(axis=1, keepdims=True)).reshape(values.shape)
    # A centred rank is half of (number of values below - number above): for few values faster than sorting.
    difference = values[..., :, None] - values[..., None, :]
    return np.asarray(np.sign(difference).sum(axis=-1) / 2)
