"""Correlation of the abilities of two dimensions, corrected for the noise of measuring them (docs/method.md §12).

Each system's abilities by dimension are drawn from a normal distribution. Their estimates are shrunken by the prior and
have errors, which are correlated for two dimensions with common queries. The correlation is that of the abilities
themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.special import stdtrit

from ..types import FloatArray, IntArray
from .influence import Influence

ANGLES = np.linspace(
    -np.pi / 2, np.pi / 2, 25
)  # correlations are their sines, closest together near -1 and 1
BOUNDS = [
    (np.log(0.01), np.log(20.0))
] * 2  # of the logarithms of both abilities' sd, in units of their prior


@dataclass(frozen=True)
class Traits:
    """Estimates x (M, D) of M systems as measurements of their abilities t on D dimensions: x = kept t + error.

    estimate: (M, D) EAP; NaN unknown. kept: (M, D) factor of the shrinkage by the prior N(0, 1), information / (1 +
    information). error: (M, D, D) covariance of the errors.
    """

    estimate: FloatArray
    kept: FloatArray
    error: FloatArray


@dataclass(frozen=True)
class Correlation:
    """Correlation of the true abilities of two dimensions over systems like these, in [-1, 1].

    value: the most likely; NaN if unknown. low, high: its interval.
    """

    value: float
    low: float
    high: float

    @property
    def shown(self) -> float:
        """The value; NaN if the interval is the whole of [-1, 1]."""
        return self.value if (self.low, self.high) != (-1, 1) else float("nan")


def traits_of(influences: Sequence[Influence], units: Sequence[IntArray]) -> Traits:
    """The measurements on D dimensions. units: for each dimension, (n,) unit of evidence of each row of its psi.

    A saturated system has no measurement in its dimension, since its ability is bounded on one side only. Errors are
    those of the model, times one matrix of design effects for all systems: the mean over the systems of the covariance
    of their contributions, in units of the model's standard errors. The few units of a single system would estimate it
    poorly.
    """
    estimate = np.stack([np.where(each.saturated == 0, each.estimate, np.nan) for each in influences], axis=1)
    floor = np.stack([each.floor for each in influences], axis=1)
    kept = 1 - floor
    sd = np.sqrt(kept * floor)
    standard = np.zeros((len(influences), 1 + max(int(each.max()) for each in units), len(estimate)))
    for at, (found, place) in enumerate(zip(influences, units, strict=True)):
        np.add.at(standard[at], place, found.psi)
        n = (standard[at] != 0).sum(axis=0)
        counts = (n > 1) & (found.saturated == 0)
        standard[at] *= np.where(counts, np.sqrt(n / np.maximum(n - 1, 1)) / sd[:, at], 0.0)
    products = np.einsum("dqi,eqi->ide", standard, standard)
    informed = np.diagonal(products, axis1=1, axis2=2) > 0
    both = (informed[:, :, None] & informed[:, None, :]).sum(axis=0)
    design = products.sum(axis=0) / np.maximum(both, 1)
    return Traits(estimate, kept, design * sd[:, :, None] * sd[:, None, :])


def latent_correlation(traits: Traits, first: int, second: int, confidence: float = 0.95) -> Correlation:
    """Correlation of the abilities of two dimensions by restricted likelihood, means and spreads profiled out.

    The interval holds all correlations whose profile is at most (m - 1) / 2 log(1 + t² / (m - 2)) below the best, t the
    quantile of Student's t with m - 2 degrees: without noise that is the exact test of a correlation of 0. With fewer
    than four systems that have both dimensions: NaN, and the interval from -1 to 1.
    """
    pair = np.array([first, second])
    known = np.isfinite(traits.estimate[:, pair]).all(axis=1)
    size = int(known.sum())
    if size < 4:
        return Correlation(float("nan"), -1.0, 1.0)
    x, kept = traits.estimate[known][:, pair], traits.kept[known][:, pair]
    error = traits.error[np.ix_(np.flatnonzero(known), pair, pair)]
    start = np.log(np.clip(np.std(x / np.maximum(kept, 0.1), axis=0), 0.1, 5.0))

    def loss(log_sd: FloatArray, rho: float) -> float:
        return -restricted_loglik(x, kept, error, np.exp(log_sd), rho)

    def profile(angle: float) -> float:
        return -float(minimize(loss, start, (np.sin(angle),), "L-BFGS-B", bounds=BOUNDS).fun)

    t = float(stdtrit(size - 2, (1 + confidence) / 2))
    best, low, high = _peak(profile, (size - 1) / 2 * float(np.log1p(t**2 / (size - 2))))
    return Correlation(float(np.sin(best)), float(np.sin(low)), float(np.sin(high)))


def _peak(profile: Callable[[float], float], depth: float) -> tuple[float, float, float]:
    """Where a function is largest on ANGLES, and the outermost points where it is ``depth`` or less below that."""
    values = np.array([profile(angle) for angle in ANGLES.tolist()])
    place = int(values.argmax())
    around = ANGLES[max(place - 1, 0)], ANGLES[min(place + 1, len(ANGLES) - 1)]
    found = minimize_scalar(lambda angle: -profile(angle), bounds=around, method="bounded")
    best, top = (found.x, -found.fun) if -found.fun > values[place] else (ANGLES[place], values[place])
    at = int(np.searchsorted(ANGLES, best))
    angles, values = np.insert(ANGLES, at, best), np.insert(values, at, top) - (top - depth)
    inside = np.flatnonzero(values >= 0)
    ends = []
    for edge, beyond in ((inside[0], -1), (inside[-1], 1)):
        outside = edge + beyond
        if outside in (-1, len(angles)):
            ends.append(angles[edge])
        else:
            ends.append(brentq(lambda angle: profile(angle) - (top - depth), angles[edge], angles[outside]))
    return best, ends[0], ends[1]


def restricted_loglik(
    x: FloatArray, kept: FloatArray, error: FloatArray, sd: FloatArray, rho: float
) -> float:
    """Log-likelihood of x (m, 2) = kept (mean + ability) + error, the means integrated out.

    kept: (m, 2). error: (m, 2, 2) covariances. sd: (2,) of the abilities, and rho their correlation.
    """
    shift = kept * sd
    a, b = (shift[:, at] ** 2 + error[:, at, at] for at in (0, 1))
    c = rho * shift[:, 0] * shift[:, 1] + error[:, 0, 1]
    determinant = a * b - c**2
    # inverse of each [[a, c], [c, b]], and sums of kept S⁻¹ kept, kept S⁻¹ x and x S⁻¹ x
    p, q, r = b / determinant, a / determinant, -c / determinant
    k, m = kept.T
    u, v = x.T
    weight = np.array([[(k * k * p).sum(), (k * m * r).sum()], [(k * m * r).sum(), (m * m * q).sum()]])
    pull = np.array([(k * (p * u + r * v)).sum(), (m * (r * u + q * v)).sum()])
    squares = (u * u * p + 2 * u * v * r + v * v * q).sum()
    spread = squares - pull @ np.linalg.solve(weight, pull)
    return float(-0.5 * (np.log(determinant).sum() + np.linalg.slogdet(weight)[1] + spread))
