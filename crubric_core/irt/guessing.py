"""The three-parameter logistic model: a lower asymptote c, for rubrics that even weak systems pass by chance."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_expit, logit

from ..settings import Priors
from ..types import FloatArray
from .kernel import SoftplusSum
from .models import ItemParameters, Score, curvature_of_blocks, join, log_normal, solve_blocks
from .start import regress_rubrics

START_C = 0.1


class Guessing:
    """3PL. x is log a, b and logit c: (3, J) flattened. See ItemModel for the methods."""

    def __init__(self, y: FloatArray, priors: Priors) -> None:
        observed = ~np.isnan(y)
        passed = np.ascontiguousarray(np.where(observed, y, 0.0).T)
        mask = None if observed.all() else np.ascontiguousarray(observed.T.astype(float))
        self._passed_labels, self._mask = passed, mask
        self._all, self._passed = SoftplusSum(mask, len(y)), SoftplusSum(passed, len(y))
        self._passes = passed.sum(axis=1)
        self._labels = observed.sum(axis=0).astype(float)
        self._share = self._labels / len(y)
        self._priors = priors

    @property
    def n_parameters(self) -> int:
        """See ItemModel."""
        return 3 * len(self._passes)

    def start(self) -> FloatArray:
        """START_C as the asymptote; a and b from each rubric's regression on the systems' normal scores."""
        log_a, b = regress_rubrics(self._passed_labels, self._mask, self._priors)
        return np.concatenate([log_a, b, np.full_like(b, float(logit(START_C)))])

    def at(self, items: ItemParameters) -> FloatArray:
        """See ItemModel."""
        return np.concatenate([np.log(items.a), items.b, logit(items.c)])

    def steepest(self, x: FloatArray) -> float:
        """See ItemModel."""
        return float(np.exp(x.reshape(3, -1)[0]).max())

    def forward(self, x: FloatArray, nodes: FloatArray) -> tuple[FloatArray, float]:
        """See ItemModel."""
        log_a, b, g = x.reshape(3, -1)
        a, log_c = np.exp(log_a), log_expit(g)
        loglik = self._passed.forward(a, -a * b - log_c, nodes) - self._all.forward(a, -a * b, nodes)
        return loglik, float(self._passes @ log_c + (self._labels - self._passes) @ log_expit(-g))

    def backward(self, x: FloatArray, nodes: FloatArray, weights: FloatArray) -> Score:
        """See ItemModel."""
        log_a, b, g = x.reshape(3, -1)
        a, c = np.exp(log_a), expit(g)
        up, down = self._passed.backward(weights, nodes), self._all.backward(weights, nodes)
        by_d, by_a = up.sigma - down.sigma, up.sigma_theta - down.sigma_theta
        by_g = (1 - c) * (self._passes - up.sigma) - c * (self._labels - self._passes)
        gradient = np.concatenate([a * (by_a - b * by_d), -a * by_d, by_g])
        return Score(gradient, self._information(a, b, c, nodes, weights.sum(axis=0)))

    def _information(
        self, a: FloatArray, b: FloatArray, c: FloatArray, nodes: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """(J, 3, 3) expected information n (dP)(dP)' / (P Q); missing labels are spread evenly over the systems.

        With s = sigma(z) and r = sigma(z - log c) = s / P: zz = (1-c) s (1-s) r, zg = c (1-c) (1-s) r,
        gg = c (1-c) (1-r).
        """
        s, r = self._all.sigma, self._passed.sigma
        tail = (1 - s) * r
        powers = weights[:, None] * np.vander(nodes, 3, increasing=True)
        zz, zg, gg = (s * tail) @ powers, tail @ powers[:, :2], (1 - r) @ weights
        blocks = np.empty((len(a), 3, 3))
        blocks[:, 0, 0] = a * a * (zz[:, 2] - 2 * b * zz[:, 1] + b * b * zz[:, 0])
        blocks[:, 0, 1] = blocks[:, 1, 0] = -a * a * (zz[:, 1] - b * zz[:, 0])
        blocks[:, 1, 1] = a * a * zz[:, 0]
        blocks[:, 0, 2] = blocks[:, 2, 0] = c * a * (zg[:, 1] - b * zg[:, 0])
        blocks[:, 1, 2] = blocks[:, 2, 1] = -c * a * zg[:, 0]
        blocks[:, 2, 2] = c * gg
        blocks *= ((1 - c) * self._share)[:, None, None]
        return blocks

    def log_prior(self, x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """See ItemModel; the asymptote has the log prior (p - 1) log c + (q - 1) log(1 - c), without a constant."""
        log_a, b, g = x.reshape(3, -1)
        return join(
            log_normal(log_a, self._priors.log_a_sd),
            log_normal(b, self._priors.b_sd),
            _log_beta(g, self._priors.c_beta),
        )

    def solve(self, information: FloatArray, diagonal: FloatArray, vector: FloatArray) -> FloatArray:
        """See ItemModel; the blocks are 3 × 3."""
        return solve_blocks(information, diagonal.reshape(3, -1).T, vector.reshape(3, -1).T).T.ravel()

    def axes(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See ItemModel."""
        _, b, _ = x.reshape(3, -1)
        one, none = np.ones_like(b), np.zeros_like(b)
        return np.stack([np.r_[none, one, none], np.r_[-one, b, none]]), np.r_[none, b, none]

    def curvature(self, information: FloatArray, diagonal: FloatArray, vectors: FloatArray) -> FloatArray:
        """See ItemModel."""
        by_item = np.moveaxis(vectors.reshape(2, 3, -1), 1, 2)
        return curvature_of_blocks(information, diagonal.reshape(3, -1).T, by_item)

    def items(self, x: FloatArray) -> ItemParameters:
        """See ItemModel."""
        log_a, b, g = x.reshape(3, -1)
        return ItemParameters(np.exp(log_a), b.copy(), np.asarray(expit(g)), None)


def _log_beta(g: FloatArray, beta: tuple[float, float] | None) -> tuple[float, FloatArray, FloatArray]:
    if beta is None:
        return 0.0, np.zeros_like(g), np.zeros_like(g)
    p, q, c = beta[0] - 1, beta[1] - 1, expit(g)
    value = float(p * log_expit(g).sum() + q * log_expit(-g).sum())
    return value, p * (1 - c) - q * c, (p + q) * c * (1 - c)
