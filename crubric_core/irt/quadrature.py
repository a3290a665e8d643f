"""Integration over ability: the paper's fixed grid, and an adaptive rule that is exact where posteriors are narrow.

With hundreds of rubrics a system's posterior is far narrower than the spacing of any affordable grid of item functions,
yet each log-likelihood, as a function of theta, is smooth on the scale 1/a. So the item functions are computed at a few
Chebyshev nodes, the systems' log-likelihoods are interpolated from there to a fine uniform grid (with an error that
falls geometrically in the number of nodes), and only then exponentiated. The weights that are returned for the nodes
are the transpose of the same interpolation: the gradient is exactly that of the objective as computed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from ..errors import FitError
from ..types import FloatArray

LOG_2PI = float(np.log(2 * np.pi))
GRID_NODES = np.linspace(-4.0, 4.0, 41)
DROP = 32.0  # a posterior ends where its log lies this far below its top: e^-32 = 1e-14
LEAST_POINTS = 24  # within that stretch: a Gaussian is then sampled every two thirds of its sd, error e^-44
LIMIT = 12.0  # the prior alone is e^-72 out there
ROOM = 0.25  # margin of a domain beyond what it needs
LONGEST_REACH = 1.0  # largest single extension: an early iterate may have posteriors far out
TOLERANCE = 1e-7  # error of the interpolation of one item's log-probability


@dataclass(frozen=True)
class Posterior:
    """Posterior of each system's ability given its labels.

    loglik: (M,) log marginal likelihood of each system's labels.
    mean, sd: (M,) moments of the posterior; EAP and its standard error.
    nodes: (G,) the rule's nodes. node_weights: (M, G) with ``sum_g node_weights * f(nodes_g) =
    E[f(theta) | labels]`` for every f as smooth as the item functions.
    theta, density: (Q,) fine grid and (M, Q) posterior probabilities on it; each row sums to 1.
    """

    loglik: FloatArray
    mean: FloatArray
    sd: FloatArray
    nodes: FloatArray
    node_weights: FloatArray
    theta: FloatArray
    density: FloatArray


class Quadrature(Protocol):
    """An integration rule: nodes for the item functions, and posteriors from the log-likelihoods at these nodes."""

    @property
    def nodes(self) -> FloatArray:
        """(G,) abilities at which the item functions are evaluated."""

    def posterior(self, loglik: FloatArray) -> Posterior:
        """Posterior of each system from its log-likelihood (M, G) at the nodes."""


class RuleTooSmallError(Exception):
    """Some posterior reaches beyond the rule's domain or is too narrow for its points; ``better`` is a larger rule."""

    def __init__(self, better: AdaptiveQuadrature) -> None:
        super().__init__("the quadrature rule is too small")
        self.better = better


@dataclass(frozen=True)
class GridQuadrature:
    """The paper's rule (§3.4): equally spaced nodes with normalised standard-normal weights."""

    nodes: FloatArray

    def posterior(self, loglik: FloatArray) -> Posterior:
        """Posterior on the nodes themselves; ``loglik`` is (M, G)."""
        log_weights = -0.5 * self.nodes**2
        log_weights = log_weights - np.logaddexp.reduce(log_weights)
        log_marginal, density = _normalised(loglik + log_weights)
        mean, sd = _moments(self.nodes, density)
        return Posterior(log_marginal, mean, sd, self.nodes, density, self.nodes, density)


@dataclass(frozen=True)
class AdaptiveQuadrature:
    """Chebyshev interpolation on [low, high] from ``order`` nodes to ``points`` uniform ones (see the module)."""

    low: float = -3.5
    high: float = 3.5
    order: int = 32
    points: int = 257

    @cached_property
    def nodes(self) -> FloatArray:
        """(order,) Chebyshev extreme points of the domain, ascending."""
        unit = -np.cos(np.pi * np.arange(self.order) / (self.order - 1))
        return unit * (self.high - self.low) / 2 + (self.high + self.low) / 2

    @cached_property
    def _fine(self) -> FloatArray:
        return np.linspace(self.low, self.high, self.points)

    @cached_property
    def _basis(self) -> FloatArray:
        return interpolation_matrix(self.nodes, self._fine)

    def posterior(self, loglik: FloatArray) -> Posterior:
        """Posterior on the fine grid; ``loglik`` is (M, order).

        Raises:
            RuleTooSmallError: a posterior reaches an end of the domain or has too few points.
            FitError: the log-likelihood of a system is nowhere finite.

        """
        log_joint = loglik @ self._basis.T - 0.5 * (self._fine**2 + LOG_2PI)
        self._require_fit(log_joint)
        log_marginal, density = _normalised(log_joint)
        step = (self.high - self.low) / (self.points - 1)
        mean, sd = _moments(self._fine, density)
        return Posterior(
            log_marginal + np.log(step), mean, sd, self.nodes, density @ self._basis, self._fine, density
        )

    def _require_fit(self, log_joint: FloatArray) -> None:
        excess = log_joint - log_joint.max(axis=1, keepdims=True) + DROP
        inside = excess >= 0
        step = (self.high - self.low) / (self.points - 1)
        low = max(self.low - _reach(excess[:, 0], excess[:, 1], step), -LIMIT)
        high = min(self.high + _reach(excess[:, -1], excess[:, -2], step), LIMIT)
        fewest = int(inside.sum(axis=1).min())
        if not fewest:
            raise FitError("The labels of a system have no probability at any ability: it has no estimate.")
        spacing = step * min(1.0, fewest / (1.25 * LEAST_POINTS)) if fewest < LEAST_POINTS else step
        better = replace(self, low=low, high=high, points=int(np.ceil((high - low) / spacing - 1e-9)) + 1)
        if better != self:
            raise RuleTooSmallError(better)

    def fit_for(self, steepest: float) -> AdaptiveQuadrature:
        """A rule with enough nodes for log-probabilities with slopes up to ``steepest``; this rule if it has enough.

        The singularities nearest to the real axis lie at distance pi/a, so the error falls like rho^-order with log rho
        = asinh(pi / (a × half-width)) (Trefethen, Approximation Theory and Approximation Practice, ch. 8). The same
        distance bounds the error of the trapezoidal sum on the fine grid.
        """
        rate = np.arcsinh(np.pi / (max(steepest, 1e-3) * (self.high - self.low) / 2))
        order = int(np.clip(16 * np.ceil(-np.log(TOLERANCE) / rate / 16), 32, 768))
        if order <= self.order:
            return self
        return replace(self, order=order, points=max(self.points, 2 * order))


def interpolation_matrix(nodes: FloatArray, theta: FloatArray) -> FloatArray:
    """Barycentric Lagrange weights (Q, G) that interpolate values at Chebyshev ``nodes`` (G,) at ``theta`` (Q,)."""
    weights = np.where(np.arange(len(nodes)) % 2 == 0, 1.0, -1.0)
    weights[[0, -1]] /= 2
    gap = theta[:, None] - nodes
    gap[gap == 0.0] = 1e-300  # at a node its own weight outgrows all the others
    basis = np.divide(weights, gap, out=gap)
    basis /= basis.sum(axis=1, keepdims=True)
    return basis


def _normalised(log_mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log of the sum of exp of each row (M,), and exp of the row divided by that sum (M, Q)."""
    top = log_mass.max(axis=1, keepdims=True)
    mass = np.exp(log_mass - top)
    total = mass.sum(axis=1, keepdims=True)
    mass /= total
    return (top + np.log(total))[:, 0], mass


def _reach(edge: FloatArray, neighbour: FloatArray, step: float) -> float:
    """How far to extend a domain beyond its edge so that log posteriors fall by ``edge``, their excess over the drop.

    neighbour: the excess one ``step`` inside. The prior alone bends log posteriors down by 1, so beyond the edge they
    fall by slope × d + d² / 2 or more.
    """
    open_ = edge >= 0
    if not open_.any():
        return 0.0
    slope = np.maximum((neighbour[open_] - edge[open_]) / step, 0.0)
    return min(float((np.sqrt(slope**2 + 2 * edge[open_]) - slope).max()) + ROOM, LONGEST_REACH)


def _moments(theta: FloatArray, density: FloatArray) -> tuple[FloatArray, FloatArray]:
    mean = density @ theta
    return mean, np.sqrt(((theta - mean[:, None]) ** 2 * density).sum(axis=1))
