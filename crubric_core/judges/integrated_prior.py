"""Agreement rates under a prior that is itself uncertain (docs/method.md §2).

With a prior fitted to few rubrics, 95% intervals cover as little as .85 of the rates, and if all judges agree they have
no width (Kass and Steffey 1989, J. Am. Stat. Assoc. 84, 717–726). So intervals and probabilities are those of a
mixture: of the Beta posteriors under the priors of a grid, each weighted by its posterior probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import elementwise
from scipy.special import betainc, betaln, expit

from ..types import BoolArray, FloatArray, IntArray
from .beta_prior import BetaPrior, bounds_of_the_fit, log_prior_of_size
from .measurability import MeasurabilityPosterior

NODES = 15
"""Of either axis of the grid: the logit of a / (a + b), and log(a + b)."""
DEPTH = 8.0
"""Below the highest log posterior of the grid, from which on nothing is left to integrate."""


@dataclass(frozen=True)
class IntegratedPosterior(MeasurabilityPosterior):
    """Posterior of the rates (J,); ``a`` and ``b``, and so the mean, are those at the fitted prior.

    n_agree, n_total: (J,) counts. A priori the logit of a / (a + b) is uniform, and so is B (``beta_prior``).
    """

    n_agree: FloatArray
    n_total: FloatArray

    @cached_property
    def _mixture(self) -> Mixture:
        counts, of, times = np.unique(
            np.column_stack([self.n_agree, self.n_total]), axis=0, return_inverse=True, return_counts=True
        )
        agree, total = counts.T
        share, size, weights = _grid(agree, total, times * (total > 0))
        alphas = (share * size)[:, None] + agree
        betas = ((1 - share) * size)[:, None] + total - agree
        return Mixture(alphas, betas, weights, of.ravel())

    @cached_property
    def sd(self) -> FloatArray:
        """(J,) root mean square distance of the rate from the mean."""
        mixture, total = self._mixture, self._mixture.alphas + self._mixture.betas
        means, center = mixture.alphas / total, np.empty(total.shape[1])
        center[mixture.of] = self.mean
        square = mixture.weights @ (means * (1 - means) / (total + 1) + (means - center) ** 2)
        return np.asarray(np.sqrt(square)[mixture.of])

    def _ends(self, tail: float) -> tuple[FloatArray, FloatArray]:
        if tail not in self._known_ends:
            mixture = self._mixture
            low, high = (mixture.quantile(level)[mixture.of] for level in (tail, 1 - tail))
            self._known_ends[tail] = low, high
        return self._known_ends[tail]

    @cached_property
    def _known_ends(self) -> dict[float, tuple[FloatArray, FloatArray]]:
        return {}

    def p_above(self, tau: float) -> FloatArray:
        """(J,) Pr(q ≥ tau | labels)."""
        counts = np.arange(self._mixture.alphas.shape[1])
        return 1 - self._mixture.below(np.float64(tau), counts)[self._mixture.of]


@dataclass(frozen=True)
class Mixture:
    """A mixture of Beta(alphas, betas), (H, R) for R different counts. weights: (H,), sum 1.

    of: (J,) index of each rubric's counts among the R.
    """

    alphas: FloatArray
    betas: FloatArray
    weights: FloatArray
    of: IntArray

    def below(
        self, rate: FloatArray | np.float64, counts: IntArray, level: float | FloatArray = 0.0
    ) -> FloatArray:
        """(n,) Pr(q ≤ rate) for the counts with these indices (n,), minus ``level``."""
        at = betainc(self.alphas[:, counts], self.betas[:, counts], rate)
        return np.asarray(self.weights @ at - level)

    def quantile(self, level: float) -> FloatArray:
        """(R,) the rate below which q lies with probability ``level``."""
        counts = np.arange(self.alphas.shape[1])
        return np.asarray(elementwise.find_root(self.below, (0.0, 1.0), args=(counts, level)).x)


def integrated_posterior(prior: BetaPrior, n_agree: FloatArray, n_total: FloatArray) -> IntegratedPosterior:
    """Posterior of each rate (J,) under an estimated prior."""
    return IntegratedPosterior(prior.alpha + n_agree, prior.beta + n_total - n_agree, n_agree, n_total)


def _grid(agree: FloatArray, total: FloatArray, times: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(H,) means a / (a + b), sizes a + b and their posterior weights, on a grid narrowed to where the weights are."""
    bounds: FloatArray = np.array(bounds_of_the_fit(float(times @ total)))
    while True:
        axes = [np.linspace(low, high, NODES) for low, high in bounds]
        share, size = (x.ravel() for x in np.meshgrid(expit(axes[0]), np.exp(axes[1]), indexing="ij"))
        a, b = share * size, (1 - share) * size
        log_weight = log_prior_of_size(size, times @ total / times.sum()) - times.sum() * betaln(a, b)
        for met, of, n in zip(agree, total, times, strict=True):
            log_weight += n * betaln(a + met, b + of - met)
        log_weight -= log_weight.max()
        high = (log_weight > -DEPTH).reshape(NODES, NODES)
        inner = np.array([_around(axis, high.any(axis=1 - n)) for n, axis in enumerate(axes)])
        if (np.ptp(inner, axis=1) > 0.7 * np.ptp(bounds, axis=1)).all():
            break
        bounds = inner
    trapezoids = np.ones((NODES, NODES))
    trapezoids[[0, -1]] /= 2
    trapezoids[:, [0, -1]] /= 2
    weight = np.exp(log_weight) * trapezoids.ravel() * high.ravel()
    kept = weight > 0
    return share[kept], size[kept], weight[kept] / weight.sum()


def _around(axis: FloatArray, high: BoolArray) -> FloatArray:
    """From one node before the first of the high nodes to one after the last."""
    at = np.flatnonzero(high)
    return axis[[max(at[0] - 1, 0), min(at[-1] + 1, len(axis) - 1)]]
