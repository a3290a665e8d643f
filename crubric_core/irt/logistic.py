"""The one- and two-parameter logistic models."""

from __future__ import annotations

import numpy as np

from ..settings import Priors
from ..types import FloatArray
from .kernel import SoftplusSum
from .models import ItemParameters, Score, join, log_normal
from .start import regress_rubrics


class Logistic:
    """2PL, or 1PL if ``common_slope``. x is log a and b: (2, J) flattened; 1PL: (1 + J,). See ItemModel."""

    def __init__(self, y: FloatArray, priors: Priors, *, common_slope: bool) -> None:
        observed = ~np.isnan(y)
        self._passed = np.ascontiguousarray(np.where(observed, y, 0.0).T)
        self._mask = None if observed.all() else np.ascontiguousarray(observed.T.astype(float))
        self._sum = SoftplusSum(self._mask, len(y))
        self._passes = self._passed.sum(axis=1)
        self._labels = observed.sum(axis=0).astype(float)
        self._priors, self._common = priors, common_slope

    @property
    def n_parameters(self) -> int:
        """See ItemModel."""
        return len(self._passes) + (1 if self._common else len(self._passes))

    def start(self) -> FloatArray:
        """Slopes and difficulties from each rubric's regression on the systems' normal scores."""
        log_a, b = regress_rubrics(self._passed, self._mask, self._priors)
        return np.concatenate([[log_a.mean()] if self._common else log_a, b])

    def at(self, items: ItemParameters) -> FloatArray:
        """See ItemModel; a common slope is the geometric mean of the given slopes."""
        log_a = np.log(items.a)
        return np.concatenate([log_a.mean(keepdims=True) if self._common else log_a, items.b])

    def _split(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        n = len(self._passes)
        return np.broadcast_to(np.exp(x[:-n]), n), x[-n:]

    def steepest(self, x: FloatArray) -> float:
        """See ItemModel."""
        return float(self._split(x)[0].max())

    def forward(self, x: FloatArray, nodes: FloatArray) -> tuple[FloatArray, float]:
        """See ItemModel."""
        a, b = self._split(x)
        d = -a * b
        slope, intercept = np.stack([a, d]) @ self._passed
        return slope[:, None] * nodes + intercept[:, None] - self._sum.forward(a, d, nodes), 0.0

    def backward(self, x: FloatArray, nodes: FloatArray, weights: FloatArray) -> Score:
        """See ItemModel."""
        a, b = self._split(x)
        sums = self._sum.backward(weights, nodes)
        by_d = self._passes - sums.sigma
        by_a = self._passed @ (weights @ nodes) - sums.sigma_theta
        gradient = np.stack([a * (by_a - b * by_d), -a * by_d])
        z2 = sums.info_theta2 - 2 * b * sums.info_theta + b * b * sums.info
        z1 = sums.info_theta - b * sums.info
        information = np.stack([a * a * z2, -a * a * z1, a * a * sums.info])
        if self._common:
            return Score(np.concatenate([[gradient[0].sum()], gradient[1]]), information)
        return Score(gradient.ravel(), information)

    def log_prior(self, x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """See ItemModel."""
        n = len(self._passes)
        return join(log_normal(x[:-n], self._priors.log_a_sd), log_normal(x[-n:], self._priors.b_sd))

    def solve(self, information: FloatArray, diagonal: FloatArray, vector: FloatArray) -> FloatArray:
        """See ItemModel; the blocks are 2 × 2. With a common slope the matrix has an arrow shape."""
        n = len(self._passes)
        aa, ab, bb = information
        bb = bb + diagonal[-n:] + 1e-9
        va, vb = vector[:-n], vector[-n:]
        if self._common:
            xa = (va[0] - ab @ (vb / bb)) / max(aa.sum() + diagonal[0] - ab @ (ab / bb), 1e-9)
            return np.concatenate([[xa], (vb - ab * xa) / bb])
        aa = aa + diagonal[:-n] + 1e-9
        determinant = aa * bb - ab * ab
        return np.concatenate([(bb * va - ab * vb) / determinant, (aa * vb - ab * va) / determinant])

    def axes(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See ItemModel."""
        slopes, b = np.split(x, [len(x) - len(self._passes)])
        none, one = np.zeros_like(slopes), np.ones_like(b)
        return np.stack([np.r_[none, one], np.r_[none - 1, b]]), np.r_[none, b]

    def curvature(self, information: FloatArray, diagonal: FloatArray, vectors: FloatArray) -> FloatArray:
        """See ItemModel."""
        n = len(self._passes)
        aa, ab, bb = information
        slopes = np.broadcast_to(vectors[:, :-n], (2, n))
        b = vectors[:, -n:]
        cross = (slopes * ab) @ b.T
        return np.asarray(
            (slopes * aa) @ slopes.T + cross + cross.T + (b * bb) @ b.T + (vectors * diagonal) @ vectors.T
        )

    def items(self, x: FloatArray) -> ItemParameters:
        """See ItemModel."""
        a, b = self._split(x)
        return ItemParameters(a.copy(), b.copy(), np.zeros(len(b)), None)
