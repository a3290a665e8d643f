"""How far systems spread, beside how uncertain they are: it turns a difference into a probability (docs/method.md §10).

That a difference is 2 standard errors says how often equal systems would show as much. How probable it is that the one
system really is ahead depends on how far such systems differ at all: of many that hardly do, the best looks better than
it is. Their true values are taken as N(mu, tau²), tau integrated over what the estimates say of it.

Daniels, M. J. (1999), A prior for the variance in hierarchical models, Canadian Journal of Statistics 27, 567-578.
Laird, N. M. & Louis, T. A. (1989), Empirical Bayes ranking methods, Journal of Educational Statistics 14, 29-46.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from ..types import FloatArray, IntArray

STEPS = 100  # values of tau
NEGLIGIBLE = 1e-4  # of the likeliest one's probability: such values of tau are left out
LEAST = 0.01  # of the mean variance of an estimate that one may have


@dataclass(frozen=True)
class SystemSpread:
    """What M estimates say of the spread of the true values.

    tau: (G,) possible standard deviations of these. weight: (G,) how probable each is, summing to 1.
    error: (M,) variance of each estimate beside the others. group: (M,) systems of different groups have means of
    their own.
    """

    tau: FloatArray
    weight: FloatArray
    error: FloatArray
    group: IntArray

    def ahead(self, z: FloatArray, se: FloatArray) -> FloatArray:
        """(…,) probability of being above, of differences that are ``z`` normal deviates of standard errors ``se``."""
        found = np.zeros(z.shape)
        for tau, weight in zip(self.tau, self.weight, strict=True):
            found += weight * ndtr(z * np.sqrt(2 * tau**2 / (2 * tau**2 + se**2)))
        return found

    def values(self, estimate: FloatArray, errors: FloatArray) -> FloatArray:
        """(R, M) draws of the true values, of estimates (M,) with draws of their errors (R, M).

        The r-th of R draws has the tau below which (r + ½) / R of the probability lies.
        """
        place = (np.arange(len(errors)) + 0.5) / len(errors)
        tau = self.tau[np.searchsorted(np.cumsum(self.weight)[:-1], place)][:, None]
        kept = tau**2 / (tau**2 + self.error)
        mean = np.empty_like(kept)
        for group in np.unique(self.group):
            members = self.group == group
            precision = 1 / (tau**2 + self.error[members])
            centre = (precision * estimate[members]).sum(axis=1) / precision.sum(axis=1)
            mean[:, members] = centre[:, None]
        return np.asarray(mean + kept * (estimate - mean) + np.sqrt(kept) * errors)


def spread_of(estimate: FloatArray, se: FloatArray, group: IntArray | None = None) -> SystemSpread:
    """From estimates (M,) and the standard errors of their differences (M, M).

    The share of an estimate's variance that is error is uniform on (0, 1) before any estimate is seen (Daniels 1999);
    the estimates count by the likelihood of their differences.
    """
    groups = np.zeros(len(estimate), dtype=np.int64) if group is None else group
    error = _errors(se)
    if not error.any():
        return SystemSpread(np.ones(1), np.ones(1), error, groups)
    share = (np.arange(STEPS) + 0.5) / STEPS
    tau = np.sqrt(error.mean() * (1 / share - 1))
    loglik = np.zeros(STEPS)
    for at in np.unique(groups):
        loglik += _loglik(tau, estimate[groups == at], error[groups == at])
    weight = np.exp(loglik - loglik.max())
    kept = weight > NEGLIGIBLE
    return SystemSpread(tau[kept], weight[kept] / weight[kept].sum(), error, groups)


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


def _loglik(tau: FloatArray, estimate: FloatArray, error: FloatArray) -> FloatArray:
    """(G,) of the differences of estimates N(mu, tau² + error), mu unknown; 0 of one estimate."""
    precision = 1 / (tau[:, None] ** 2 + error)
    total = precision.sum(axis=1)
    mean = precision @ estimate / total
    squares = (precision * (estimate - mean[:, None]) ** 2).sum(axis=1)
    return np.asarray(0.5 * (np.log(precision).sum(axis=1) - np.log(total) - squares))
