"""The marginal log posterior of a model's item parameters (METHOD §6) with its gradient by Fisher's identity."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import FloatArray
from ..settings import Quadrature as QuadratureName
from .models import ItemModel
from .quadrature import (
    GRID_NODES,
    AdaptiveQuadrature,
    GridQuadrature,
    Posterior,
    Quadrature,
    RuleTooSmallError,
)


@dataclass(frozen=True)
class PosteriorValue:
    """The objective at one point x.

    value: log posterior; loglik: its likelihood part. gradient: (n,) of the log posterior.
    posterior: what the labels say of each system at these parameters.
    """

    value: float
    loglik: float
    gradient: FloatArray
    posterior: Posterior
    _model: ItemModel
    _information: FloatArray
    _curvature: FloatArray

    def precondition(self, vector: FloatArray) -> FloatArray:
        """Divide by the expected complete-data information plus the priors' curvature."""
        return self._model.solve(self._information, self._curvature, vector)


class MarginalPosterior:
    """x → PosteriorValue. Holds the integration rule, which grows wherever a posterior or a slope asks for it."""

    def __init__(self, model: ItemModel, quadrature: QuadratureName) -> None:
        self.model = model
        self.rule: Quadrature
        self.rule = GridQuadrature(GRID_NODES) if quadrature == "grid" else AdaptiveQuadrature()

    def __call__(self, x: FloatArray) -> PosteriorValue:
        """Value, gradient and posterior at ``x``."""
        nodes, posterior, constant = self._integrate(x)
        score = self.model.backward(x, nodes, posterior.node_weights)
        prior, prior_gradient, curvature = self.model.log_prior(x)
        loglik = float(posterior.loglik.sum()) + constant
        return PosteriorValue(
            loglik + prior,
            loglik,
            score.gradient + prior_gradient,
            posterior,
            self.model,
            score.information,
            curvature,
        )

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
