"""How far systems spread compared with their errors, which turns a difference into a probability (docs/method.md §10).

A difference of 2 standard errors shows how often equal systems would differ so much. How probable it is that the one
system really is ahead depends on how far such systems differ at all: if many systems hardly differ, the best looks
better than it is. Their true values spread by tau about mu, with tau integrated over its posterior given the estimates.
A system far off gives no information on how the others differ: the values follow Student's t, so that it has a spread
of its own.

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
NORMAL = 1e9  # degrees of freedom with which the values are normal
REWEIGHTED = 30  # reweighting steps that find the middle
NEGLIGIBLE = 1e-4  # values of tau with less than this share of the largest probability are left out
LEAST = 0.01  # least variance of an estimate, as a share of the mean variance


@dataclass(frozen=True)
class SystemSpread:
    """Posterior of the spread of the true values of M systems, from their estimates.

    weight: (G,) probability of each of G spreads, summing to 1. centre: (G, M) the middle of each system's group.
    variance: (G, M) variance of each true value about it: tau², more for a system that is far off. error: (M,) error
    variance of each estimate.
    """

    weight: FloatArray
    centre: FloatArray
    variance: FloatArray
    error: FloatArray

    def ahead(self, z: FloatArray, se: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
        """(n,) probability that the first system is above the second, for pairs that differ by ``z`` errors ``se``.

        z: (n,) normal deviates. first, second: (n,) positions of the systems.
        """
        found = np.zeros(z.shape)
        for variance, weight in zip(self.variance, self.weight, strict=True):
            true = variance[first] + variance[second]
            found += weight * ndtr(z * np.sqrt(true / (true + se**2)))
        return found

    def values(self, estimate: FloatArray, errors: FloatArray) -> FloatArray:
        """(R, M) draws of the true values, from estimates (M,) and draws of their errors (R, M).

        Draw r of R, from 0, has the spread at the quantile (r + ½) / R.
        """
        place = (np.arange(len(errors)) + 0.5) / len(errors)
        at = np.searchsorted(np.cumsum(self.weight)[:-1], place)
        kept = (self.variance / (self.variance + self.error))[at]
        mean = self.centre[at]
        return np.asarray(mean + kept * (estimate - mean) + np.sqrt(kept) * errors)


def spread_of(
    estimate: FloatArray, se: FloatArray, group: IntArray | None = None, freedom: float = FREEDOM
) -> SystemSpread:
    """The spread of the true values, from estimates (M,) and the standard errors of their differences (M, M).

    The share of an estimate's variance that is error has a uniform prior on (0, 1) (Daniels 1999). group: (M,) each
    group of systems has its own middle.
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
    """(R, 1) factors that turn normal draws of errors into Student's t; df is the least of ``units`` minus 1."""
    df = max(int(min(units, default=2)) - 1, 1)
    return np.asarray(np.sqrt(df / rng.chisquare(df, (draws, 1))))


def _errors(se: FloatArray) -> FloatArray:
    """(M,) error variances whose pairwise sums best match the variances of the differences; se: (M, M)."""
    size, sums = len(se), (se**2).sum(axis=1)
    total = sums.sum() / max(2 * (size - 1), 1)  # each estimate is in size - 1 differences
    mean = total / max(size, 1)
    found = (sums - total) / (size - 2) if size > 2 else np.full(size, mean)
    return np.asarray(np.maximum(found, LEAST * mean))


def _student(
    estimate: FloatArray, precision: FloatArray, freedom: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-likelihood (G,), middle (G,) and squared deviates from it (G, M) of estimates (M,) about one middle.

    Student's t with ``freedom`` degrees; the middle is integrated out. It is found by reweighting, so that a system far
    off counts less. precision: (G, M).
    """
    middle = np.full(len(precision), np.median(estimate))
    for _ in range(REWEIGHTED):
        counts = precision * (freedom + 1) / (freedom + precision * (estimate - middle[:, None]) ** 2)
        middle = (counts @ estimate) / counts.sum(axis=1)
    off = precision * (estimate - middle[:, None]) ** 2
    counts = precision * (freedom + 1) / (freedom + off)
    loglik = (0.5 * np.log(precision) - (freedom + 1) / 2 * np.log1p(off / freedom)).sum(axis=1)
    return loglik - 0.5 * np.log(counts.sum(axis=1)), middle, off
