"""The marginal log posterior of the item parameters (docs/method.md §6), its gradient by Fisher's identity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from ..settings import Quadrature as QuadratureName
from ..types import FloatArray
from .models import ItemModel
from .quadrature import (
    GRID_NODES,
    AdaptiveQuadrature,
    GridQuadrature,
    Posterior,
    Quadrature,
    RuleTooSmallError,
)

STEP = 1e-4  # of the central differences
STEEPEST = 100.0  # logits per unit of θ; the nodes of the integrals grow with it, and so does their memory
SMALLEST = 1e-6  # least share of the complete-data curvature along an axis that is trusted


def axis_curvature(posterior: Posterior) -> FloatArray:
    """(2, 2) minus the second derivatives of sum_i log ∫ L_i(theta) phi(e^s theta + d) e^s dtheta in (d, s), at 0."""
    theta, density = posterior.theta, posterior.density
    first, second, third, fourth = (density @ np.stack([theta**k for k in (1, 2, 3, 4)], axis=1)).T
    shift = (1 - (second - first**2)).sum()
    stretch = (2 * second - (fourth - second**2)).sum()
    both = (first - (third - first * second)).sum()
    return np.array([[shift, both], [both, stretch]])


def _slack(complete: FloatArray, actual: FloatArray) -> FloatArray:
    """(2, 2) ``actual^-1 - complete^-1``, positive semidefinite: what to add to the complete data's inverse."""
    curvatures, axes = eigh(complete)  # where slopes grow without bound, rounding may make one negative
    regular = (axes * np.maximum(curvatures, 1e-9 + 1e-9 * abs(curvatures).max())) @ axes.T
    shares, vectors = eigh(actual, regular)
    trusted = np.where(
        shares > SMALLEST, np.minimum(shares, 1.0), 1.0
    )  # far from the optimum it may bend upwards
    return np.asarray((vectors * (1 / trusted - 1)) @ vectors.T)


@dataclass(frozen=True)
class PosteriorValue:
    """The objective at one point x.

    value: log posterior; loglik: its likelihood part. gradient: (n,) of the log posterior.
    posterior: posterior of each system's ability at these parameters.
    """

    value: float
    loglik: float
    gradient: FloatArray
    posterior: Posterior
    _model: ItemModel
    _information: FloatArray
    _curvature: FloatArray
    _axes: FloatArray
    _slack: FloatArray

    def precondition(self, vector: FloatArray) -> FloatArray:
        """Divide by the expected complete-data information plus the priors' curvature.

        That information is wrong for a common shift and stretch of the ability axis: the labels do not determine them,
        only the priors of systems and items do. So these two directions get their own curvature.
        """
        scaled = self._model.solve(self._information, self._curvature, vector)
        return scaled + self._axes.T @ (self._slack @ (self._axes @ vector))


class MarginalPosterior:
    """Function x → PosteriorValue. Holds the integration rule, which grows when a posterior or a slope needs it."""

    def __init__(self, model: ItemModel, quadrature: QuadratureName) -> None:
        self.model = model
        self.rule: Quadrature
        self.rule = GridQuadrature(GRID_NODES) if quadrature == "grid" else AdaptiveQuadrature()

    def allows(self, x: FloatArray) -> bool:
        """Whether the slopes are so small that the integrals fit into memory; without a prior they may diverge."""
        return self.model.steepest(x) <= STEEPEST

    def __call__(self, x: FloatArray) -> PosteriorValue:
        """Value, gradient and posterior at ``x``."""
        nodes, posterior, constant = self._integrate(x)
        score = self.model.backward(x, nodes, posterior.node_weights)
        prior, prior_gradient, curvature = self.model.log_prior(x)
        loglik = float(posterior.loglik.sum()) + constant
        axes, bend = self.model.axes(x)
        complete = self.model.curvature(score.information, curvature, axes)
        actual = axis_curvature(posterior) + self.prior_curvature(x, axes, bend)
        return PosteriorValue(
            loglik + prior,
            loglik,
            score.gradient + prior_gradient,
            posterior,
            self.model,
            score.information,
            curvature,
            axes,
            _slack(complete, actual),
        )

    def prior_curvature(self, x: FloatArray, axes: FloatArray, bend: FloatArray) -> FloatArray:
        """(2, 2) minus the second derivatives of the items' log prior in their common shift and stretch."""
        change = [
            self.model.log_prior(x - STEP * axis)[1] - self.model.log_prior(x + STEP * axis)[1]
            for axis in axes
        ]
        found = np.stack(change) @ axes.T / (2 * STEP)
        found[1, 1] -= self.model.log_prior(x)[1] @ bend
        return np.asarray((found + found.T) / 2)

    def _integrate(self, x: FloatArray) -> tuple[FloatArray, Posterior, float]:
        while True:
            if isinstance(self.rule, AdaptiveQuadrature):
                self.rule = self.rule.fit_for(self.model.steepest(x))
            nodes = self.rule.nodes
            loglik, constant = self.model.forward(x, nodes)
            try:
                return nodes, self.rule.posterior(loglik), constant
            except RuleTooSmallError as error:
                self.rule = error.better
