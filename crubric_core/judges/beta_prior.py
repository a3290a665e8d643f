"""The Beta prior of the rubrics' agreement rates, fitted to all of them (docs/method.md §2).

Beta-binomial maximum likelihood (Skellam 1948, J. R. Stat. Soc. B 10, 257–261): rubric j has q_j ~ Beta(a, b) and
n_agree_j ~ Binomial(n_total_j, q_j). With shares of agreeing pairs instead of whole agreements it is a
quasi-likelihood. If a few rubrics happen to vary less than by chance, the likelihood is highest for one common rate: a
+ b grows without bound, and intervals have no width. Then B = (a + b) / (a + b + n), the weight of the common mean
against n instances, gets a uniform prior on (0, 1) (Daniels 1999, Can. J. Stat. 27, 567–578), and (a, b) is the mode in
log(a + b).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize
from scipy.special import betaln, digamma, expit, logit

from ..types import FloatArray

FEWEST = 10
"""Measured rubrics from which a prior is estimated; with fewer it is flat."""
SIZE = (0.1, 1000.0)
"""Bounds of a + b."""
ENDLESS = 1e-6
"""Logarithm of a + b below its upper bound, from which on it counts as without end."""


@dataclass(frozen=True)
class BetaPrior:
    """Beta(alpha, beta). estimated: whether it was fitted to the rubrics."""

    alpha: float
    beta: float
    estimated: bool = False


def estimate_prior(n_agree: FloatArray, n_total: FloatArray) -> BetaPrior:
    """The likeliest Beta prior of agreements (J,) among instances (J,); Beta(1, 1) with fewer than ten rubrics.

    If the likelihood has no maximum, because a + b grows without bound, the mode under a prior on a + b. The mean a /
    (a + b) stays half an instance of all away from 0 and 1, a + b within SIZE.
    """
    measured = n_total > 0
    if measured.sum() < FEWEST:
        return BetaPrior(1.0, 1.0)
    counts = np.column_stack([n_agree[measured], n_total[measured]]).astype(np.float64)
    rows, weight = np.unique(counts, axis=0, return_counts=True)
    agree, total = rows.T
    bounds = bounds_of_the_fit(weight @ total)
    mean = float(np.clip((weight @ agree) / (weight @ total), *expit(bounds[0])))

    def fitted(*, drawn: bool) -> FloatArray:
        fits = [
            optimize.minimize(
                _loss,
                [logit(mean), np.log(size)],
                (agree, total, weight, drawn),
                jac=True,
                bounds=bounds,
                method="L-BFGS-B",
            )
            for size in (1.0, 20.0)
        ]
        return np.asarray(min(fits, key=lambda fit: float(fit.fun)).x)

    at = fitted(drawn=False)
    if at[1] > bounds[1][1] - ENDLESS:
        at = fitted(drawn=True)
    share, size = float(expit(at[0])), float(np.exp(at[1]))
    return BetaPrior(share * size, (1 - share) * size, estimated=True)


def bounds_of_the_fit(instances: float) -> list[tuple[float, float]]:
    """Bounds of the logit of a / (a + b) and of log(a + b). instances: their total number.

    The mean stays half an instance of all away from 0 and 1, a + b within SIZE.
    """
    edge = 0.5 / (instances + 1)
    low, high = np.log(SIZE)
    return [(float(logit(edge)), float(logit(1 - edge))), (float(low), float(high))]


def log_prior_of_size(size: FloatArray, instances: float) -> FloatArray:
    """Log density of log(a + b) for a uniform B, up to a constant. instances: of a typical rubric."""
    to_mean = size / (size + instances)
    return np.asarray(np.log(to_mean * (1 - to_mean)))


def _loss(
    at: FloatArray, agree: FloatArray, total: FloatArray, weight: FloatArray, drawn: bool
) -> tuple[float, FloatArray]:
    """Minus the mean log-likelihood at (logit of the mean, log of a + b), and its gradient.

    drawn: add the log prior of a + b. agree, total, weight: agreements, instances and number of rubrics of each
    distinct pair of counts.
    """
    share, size = expit(at[0]), np.exp(at[1])
    a, b = share * size, (1 - share) * size
    value = betaln(a + agree, b + total - agree) - betaln(a, b)
    common = digamma(size) - digamma(size + total)
    by_a = digamma(a + agree) - digamma(a) + common
    by_b = digamma(b + total - agree) - digamma(b) + common
    gradient = np.array(
        [
            weight @ (by_a - by_b) * size * share * (1 - share),
            weight @ (by_a * a + by_b * b),
        ]
    )
    found = float(weight @ value)
    if drawn:
        typical = weight @ total / weight.sum()
        found += float(log_prior_of_size(size, typical))
        gradient[1] += 1 - 2 * size / (size + typical)
    return -found / weight.sum(), -gradient / weight.sum()
