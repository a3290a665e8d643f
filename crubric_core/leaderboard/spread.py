"""How far systems spread, beside how uncertain they are: it turns a difference into a probability (docs/method.md §10).

That a difference is 2 standard errors says how often equal systems would show as much. How probable it is that the one
system really is ahead depends on how far such systems differ at all: of many that hardly do, the best looks better than
it is. Their true values spread by tau about mu, with tau integrated over what the estimates say of it. A system far off
says nothing of how the others differ: the values are taken as Student's t, so that it has a spread of its own.

Daniels, M. J. (1999), A prior for the variance in hierarchical models, Canadian Journal of Statistics 27, 567-578.
Laird, N. M. & Louis, T. A. (1989), Empirical Bayes ranking methods, Journal of Educational Statistics 14, 29-46.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from ..types import FloatArray, IntArray

STEPS = 100  # values of tau
FREEDOM = 2.0  # degrees of freedom of the true values
NORMAL = 1e9  # so many that the values are normal
REWEIGHTED = 30  # times, to find their middle
NEGLIGIBLE = 1e-4  # of the likeliest one's probability: such values of tau are left out
LEAST = 0.01  # of the mean variance of an estimate that one may have


@dataclass(frozen=True)
class SystemSpread:
    """What M estimates say of the spread of the true values.

    weight: (G,) how probable each of G spreads is, summing to 1. centre: (G, M) the middle of each system's group.
    variance: (G, M) of each true value about it: tau², more of a system that stands far off. error: (M,) variance of
    each estimate beside the others.
    """

    weight: FloatArray
    centre: FloatArray
    variance: FloatArray
    error: FloatArray

    def ahead(self, z: FloatArray, se: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
        """(n,) probability of being above, of pairs whose difference is ``z`` normal deviates of errors ``se``."""
        found = np.zeros(z.shape)
        for variance, weight in zip(self.variance, self.weight, strict=True):
            true = variance[first] + variance[second]
            found += weight * ndtr(z * np.sqrt(true / (true + se**2)))
        return found

    def values(self, estimate: FloatArray, errors: FloatArray) -> FloatArray:
        """(R, M) draws of the true values, of estimates (M,) with draws of their errors (R, M).

        The r-th of R draws has the spread below which (r + ½) / R of the probability lies.
        """
        place = (np.arange(len(errors)) + 0.5) / len(errors)
        at = np.searchsorted(np.cumsum(self.weight)[:-1], place)
        kept = (self.variance / (self.variance + self.error))[at]
        mean = self.centre[at]
        return np.asarray(mean + kept * (estimate - mean) + np.sqrt(kept) * errors)


def spread_of(
    estimate: FloatArray, se: FloatArray, group: IntArray | None = None, freedom: float = FREEDOM
) -> SystemSpread:
    """From estimates (M,) and the standard errors of their differences (M, M).

    The share of an estimate's variance that is error is uniform on (0, 1) before any estimate is seen (Daniels 1999).
    group: (M,) systems of different groups have middles of their own.
    """
    groups = np.zeros(len(estimate), dtype=np.int64) if group is None else group
    error = _errors(se)
    if not error.any():
        return SystemSpread(np.ones(1), np.zeros((1, len(error))), np.ones((1, len(error))), error)
    share = (np.arange(STEPS) + 0.5) / STEPS
    tau2 = (error.mean() * (1 / share - 1))[:, None]
    loglik, centre, variance = np.zeros(STEPS), np.empty((STEPS, len(error))), np.empty((STEPS, len(error)))
    for at in np.unique(groups):
        its = np.flatnonzero(groups == at)
        found, middle, off = _student(estimate[its], 1 / (tau2 + error[its]), freedom)
        loglik += found
        centre[:, its] = middle[:, None]
        variance[:, its] = tau2 * np.maximum(off / (2 * np.log(len(its) + 1)), 1.0)
    weight = np.exp(loglik - loglik.max())
    kept = weight > NEGLIGIBLE
    return SystemSpread(weight[kept] / weight[kept].sum(), centre[kept], variance[kept], error)


def student_scale(rng: np.random.Generator, draws: int, units: IntArray) -> FloatArray:
    """(R, 1) what turns normal draws of errors into Student's t, by the system with the fewest ``units``."""
    df = max(int(min(units, default=2)) - 1, 1)
    return np.asarray(np.sqrt(df / rng.chisquare(df, (draws, 1))))


def _errors(se: FloatArray) -> FloatArray:
    """(M,) variances of which those of the differences, (M, M) ``se`` squared, are sums, as nearly as may be."""
    size, sums = len(se), (se**2).sum(axis=1)
    total = sums.sum() / max(2 * (size - 1), 1)  # each estimate is in size - 1 differences
    mean = total / max(size, 1)
    found = (sums - total) / (size - 2) if size > 2 else np.full(size, mean)
    return np.asarray(np.maximum(found, LEAST * mean))


def _student(
    estimate: FloatArray, precision: FloatArray, freedom: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-likelihood (G,), middle (G,) and squared deviates from it (G, M) of estimates (M,) about one middle.

    Student's t of ``freedom`` degrees; the middle is integrated out, and found by reweighting: whoever is far off
    counts less. precision: (G, M).
    """
    middle = np.full(len(precision), np.median(estimate))
    for _ in range(REWEIGHTED):
        counts = precision * (freedom + 1) / (freedom + precision * (estimate - middle[:, None]) ** 2)
        middle = (counts @ estimate) / counts.sum(axis=1)
    off = precision * (estimate - middle[:, None]) ** 2
    counts = precision * (freedom + 1) / (freedom + off)
    loglik = (0.5 * np.log(precision) - (freedom + 1) / 2 * np.log1p(off / freedom)).sum(axis=1)
    return loglik - 0.5 * np.log(counts.sum(axis=1)), middle, off
