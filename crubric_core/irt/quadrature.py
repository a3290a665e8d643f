"""Integration over ability: the paper's fixed grid, and an adaptive rule that is exact where posteriors are narrow.

With hundreds of rubrics a system's posterior is far narrower than the spacing of any fixed grid, yet each
log-likelihood, as a function of theta, is smooth on the scale 1/a. So the item functions are computed at a few
Chebyshev nodes only, each system's log-likelihood is interpolated from there (with an error that falls
geometrically in the number of nodes), and it is exponentiated on a fine window around its own posterior.
The weights that flow back to the nodes are the transpose of the same interpolation: the gradient is that of the
very objective that is returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..arrays import FloatArray

LOG_2PI = float(np.log(2 * np.pi))
GRID_NODES = np.linspace(-4.0, 4.0, 41)
DROP = 32.0  # a window ends where the log posterior lies this far below its top: e^-32 = 1e-14
FINE = 49  # points a window; a Gaussian is then sampled every third of its sd
SCAN = 400  # uniform points on which the windows are found
LIMIT = 12.0  # the prior alone is e^-72 out there
TOLERANCE = 1e-7  # of the interpolation of one item's log-probability


@dataclass(frozen=True)
class Posterior:
    """What the labels of each system say of its ability.

    loglik: (M,) log marginal likelihood of each system's labels.
    mean, sd: (M,) moments of the posterior; EAP and its standard error.
    nodes: (G,) the rule's nodes. node_weights: (M, G) with ``sum_g node_weights * f(nodes_g) =
    E[f(theta) | labels]`` for every f as smooth as the item functions.
    density: (M, Q) posterior probabilities at ``theta`` (M, Q); each row sums to 1.
    """

    loglik: FloatArray
    mean: FloatArray
    sd: FloatArray
    nodes: FloatArray
    node_weights: FloatArray
    theta: FloatArray
    density: FloatArray


class DomainTooNarrowError(Exception):
    """Some posterior reaches the end of the interpolation domain; ``low`` and ``high`` say what is needed."""

    def __init__(self, low: float, high: float) -> None:
        super().__init__(f"posterior mass beyond [{low}, {high}]")
        self.low, self.high = low, high


class Quadrature(Protocol):
    """A rule: nodes at which item functions are wanted, and the posterior from log-likelihoods there."""

    @property
    def nodes(self) -> FloatArray:
        """(G,) abilities at which the item functions are evaluated."""

    def posterior(self, loglik: FloatArray) -> Posterior:
        """Posterior of each system from its log-likelihood (M, G) at the nodes."""


@dataclass(frozen=True)
class GridQuadrature:
    """The paper's rule (§3.4): equally spaced nodes with normalised standard-normal weights."""

    nodes: FloatArray

    def posterior(self, loglik: FloatArray) -> Posterior:
        """Posterior on the nodes themselves; ``loglik`` is (M, G)."""
        log_weights = -0.5 * self.nodes**2
        log_weights = log_weights - np.logaddexp.reduce(log_weights)
        log_joint = loglik + log_weights
        top = log_joint.max(axis=1, keepdims=True)
        mass = np.exp(log_joint - top)
        total = mass.sum(axis=1, keepdims=True)
        density = mass / total
        theta = np.broadcast_to(self.nodes, loglik.shape)
        mean, sd = _moments(theta, density)
        return Posterior((top + np.log(total))[:, 0], mean, sd, self.nodes, density, theta, density)


@dataclass(frozen=True)
class AdaptiveQuadrature:
    """Chebyshev interpolation on [low, high] and a window of its own for each system (see the module)."""

    low: float
    high: float
    order: int

    @property
    def nodes(self) -> FloatArray:
        """(order,) Chebyshev extreme points of the domain, ascending."""
        return _chebyshev(self.order) * (self.high - self.low) / 2 + (self.high + self.low) / 2

    def posterior(self, loglik: FloatArray) -> Posterior:
        """Posterior on each system's own window; ``loglik`` is (M, order).

        Raises:
            DomainTooNarrowError: a window touches an end of the domain.

        """
        nodes = self.nodes
        start, stop = self._windows(loglik, nodes)
        theta = start[:, None] + (stop - start)[:, None] * np.linspace(0.0, 1.0, self._points(stop - start))
        basis = interpolation_matrix(nodes, theta)
        log_joint = (basis @ loglik[:, :, None])[:, :, 0] - 0.5 * (theta**2 + LOG_2PI)
        top = log_joint.max(axis=1, keepdims=True)
        mass = np.exp(log_joint - top)
        total = mass.sum(axis=1, keepdims=True)
        density = mass / total
        step = (stop - start) / (theta.shape[1] - 1)
        mean, sd = _moments(theta, density)
        weights = (density[:, None, :] @ basis)[:, 0, :]
        return Posterior((top + np.log(total))[:, 0] + np.log(step), mean, sd, nodes, weights, theta, density)

    def _windows(self, loglik: FloatArray, nodes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Ends (M,), (M,) of the stretch in which each log posterior lies within DROP of its top."""
        scan = np.linspace(self.low, self.high, SCAN)
        log_joint = loglik @ interpolation_matrix(nodes, scan[None, :])[0].T - 0.5 * scan**2
        inside = log_joint >= log_joint.max(axis=1, keepdims=True) - DROP
        first, last = inside.argmax(axis=1), SCAN - 1 - inside[:, ::-1].argmax(axis=1)
        self._require_room(int(first.min()), int(last.max()))
        return scan[np.maximum(first - 1, 0)], scan[np.minimum(last + 1, SCAN - 1)]

    def _require_room(self, first: int, last: int) -> None:
        low, high = self.low, self.high
        reach = 0.5
        wanted_low = max(low - reach, -LIMIT) if first == 0 else low
        wanted_high = min(high + reach, LIMIT) if last == SCAN - 1 else high
        if (wanted_low, wanted_high) != (low, high):
            raise DomainTooNarrowError(wanted_low, wanted_high)

    def _points(self, widths: FloatArray) -> int:
        """Points a window: more where it is wide beside the steepest item, whose scale the order tells."""
        scale = (self.high - self.low) / self.order
        return int(np.clip(np.ceil(3.0 * widths.max() / scale / np.pi), FINE, 1025))


def chebyshev_order(steepest: float, low: float, high: float) -> int:
    """Nodes needed so that log-probabilities with slopes up to ``steepest`` interpolate to TOLERANCE.

    The singularities nearest to the real axis lie at distance pi/a, so the error falls like rho^-order with
    log rho = asinh(pi / (a * half-width)) (Trefethen, Approximation Theory and Approximation Practice, ch. 8).
    """
    rate = np.arcsinh(np.pi / (max(steepest, 1e-3) * (high - low) / 2))
    return int(np.clip(16 * np.ceil(-np.log(TOLERANCE) / rate / 16), 32, 768))


def interpolation_matrix(nodes: FloatArray, theta: FloatArray) -> FloatArray:
    """Barycentric Lagrange weights (M, Q, G) that carry values at Chebyshev ``nodes`` (G,) to ``theta`` (M, Q)."""
    weights = np.where(np.arange(len(nodes)) % 2 == 0, 1.0, -1.0)
    weights[[0, -1]] /= 2
    gap = theta[:, :, None] - nodes
    gap[gap == 0.0] = 1e-300  # at a node its own weight outgrows all the others
    basis = np.divide(weights, gap, out=gap)
    basis /= basis.sum(axis=2, keepdims=True)
    return basis


def _chebyshev(order: int) -> FloatArray:
    return -np.cos(np.pi * np.arange(order) / (order - 1))


def _moments(theta: FloatArray, density: FloatArray) -> tuple[FloatArray, FloatArray]:
    mean = (density * theta).sum(axis=1)
    return mean, np.sqrt((density * (theta - mean[:, None]) ** 2).sum(axis=1))
