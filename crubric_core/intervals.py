"""Intervals of draws and of estimates without each cluster, the same for every kernel that has some."""

from __future__ import annotations

import numpy as np
from scipy.special import betainccinv, betaincinv, stdtrit

from .types import FloatArray


def percentile_interval(draws: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Equal-tailed percentile interval of each column. draws (R, …) → low, high (…); NaN where a draw is NaN."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    return low, high


def jackknife_half_width(left: FloatArray, confidence: float, comparisons: int = 1) -> FloatArray:
    """Half the width of the interval of an estimate, from its values without each of G clusters: (G, …) → (…).

    The delete-one jackknife (Efron & Tibshirani 1993, ch. 11) with Student's t, G - 1 degrees of freedom, adjusted for
    the number of ``comparisons`` (Bonferroni). NaN with fewer than two clusters.
    """
    n = len(left)
    if n < 2:
        return np.full(left.shape[1:], np.nan)
    error = np.sqrt((n - 1) / n * ((left - left.mean(axis=0)) ** 2).sum(axis=0))
    return np.asarray(-stdtrit(n - 1, (1 - confidence) / (2 * comparisons)) * error)


def exact_binomial_interval(met: float, trials: float, confidence: float) -> tuple[float, float]:
    """Of the probability of what ``met`` of independent trials show (Clopper and Pearson 1934); NaN without a trial."""
    if trials <= 0:
        return float("nan"), float("nan")
    tail = (1 - confidence) / 2
    low = betaincinv(met, trials - met + 1, tail) if met > 0 else 0.0
    high = betainccinv(met + 1, trials - met, tail) if met < trials else 1.0
    return float(low), float(high)
