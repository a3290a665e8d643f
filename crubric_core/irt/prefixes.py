"""EAP abilities from many prefixes of many orders of the rubrics at once, for cross-fitting.

One table of log-probabilities at Chebyshev nodes serves all orders. Along an order the log-likelihood is a running sum
over the rubrics between two requested sizes, so that a size costs no more than the rubrics it adds. Each size is then
integrated on its own uniform grid, as wide as its posteriors and as fine as the narrowest of them needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..types import FloatArray, IntArray
from .abilities import log_likelihoods
from .fit import IrtFit
from .quadrature import DROP, GRID_NODES, LIMIT, AdaptiveQuadrature, GridQuadrature, interpolation_matrix

REACH = 6.5  # the prior's mass beyond is 1e-10
BEYOND = 2.0  # margin of the nodes on either side of the fit's abilities
STEP = 0.9  # largest spacing, in units of the least posterior sd: the trapezoidal sum errs by e^-24
STRIP = 0.3  # largest spacing, in units of the distance pi/a to the nearest singularity: an error of e^-21


class PrefixAbilities:
    """Abilities of the M systems of ``y`` (M, J) from the first rubrics of any order, at the parameters of ``fit``."""

    def __init__(self, fit: IrtFit, y: FloatArray) -> None:
        used = np.flatnonzero(~fit.constant)
        self._n_systems = len(y)
        self._on_grid = fit.quadrature == "grid"
        self._nodes = nodes_for(fit, float(np.nanmax(fit.a)))
        self._position = np.full(len(fit.constant), -1)
        self._position[used] = np.arange(len(used))
        self._steepest = float(fit.a[used].max())
        # -d² log P / dθ² is at most a²/4 for a pass or fail, a²/2 for a level between two thresholds.
        self._curvature = fit.a[used] ** 2 / (4 if fit.thresholds is None else 2)
        self._terms = _terms(fit, y.T[used], used, self._nodes)

    def __call__(self, orders: Sequence[IntArray], sizes: Sequence[int] | IntArray) -> FloatArray:
        """(orders, sizes, M) EAP from the first rubrics of each order; ``sizes`` ascend.

        A size beyond an order's end means the whole order. A system without a label in a prefix stays at the prior
        mean, 0.
        """
        places = [self._position[order] for order in orders]
        loglik = np.stack([self._along(place, sizes) for place in places])
        out = np.empty(loglik.shape[:-1])
        for k, size in enumerate(sizes):
            sharpest = max(float(self._curvature[_known(place[:size])].sum()) for place in places)
            out[:, k] = self._means(loglik[:, k], 1 / np.sqrt(1 + sharpest))
        return out

    def _along(self, places: IntArray, sizes: Sequence[int] | IntArray) -> FloatArray:
        """(sizes, M, G) log-likelihoods of the prefixes; constant rubrics are skipped."""
        added = np.zeros((len(sizes), self._n_systems, len(self._nodes)))
        for total, (start, stop) in zip(added, pairwise([0, *sizes]), strict=True):
            stretch = _known(places[start:stop])
            for answers, table, basis in self._terms:
                total += answers[stretch].T @ table[stretch] @ basis
        return np.cumsum(added, axis=0)

    def _means(self, loglik: FloatArray, least_sd: float) -> FloatArray:
        """(orders, M) posterior means from (orders, M, G) log-likelihoods at the nodes."""
        return posterior_means(loglik, self._nodes, least_sd, self._steepest, on_grid=self._on_grid)


def posterior_means(
    loglik: FloatArray, nodes: FloatArray, least_sd: float, steepest: float, *, on_grid: bool
) -> FloatArray:
    """(…,) posterior means under N(0, 1) from log-likelihoods (…, G) at ``nodes`` (G,), Chebyshev unless ``on_grid``.

    least_sd: lower bound on the posterior sds. steepest: the largest slope of any rubric.
    """
    if on_grid:
        flat = loglik.reshape(-1, len(nodes))
        return GridQuadrature(nodes).posterior(flat).mean.reshape(loglik.shape[:-1])
    log_joint = loglik - 0.5 * nodes**2
    top = log_joint.max(axis=-1, keepdims=True)
    inside = np.flatnonzero((log_joint >= top - DROP).reshape(-1, len(nodes)).any(axis=0))
    low, high = nodes[max(inside[0] - 1, 0)], nodes[min(inside[-1] + 1, len(nodes) - 1)]
    spacing = min(STEP * least_sd, STRIP * np.pi / max(steepest, 1e-3))
    theta = np.linspace(low, high, max(int(np.ceil((high - low) / spacing)), 24) + 1)
    log_density = loglik @ interpolation_matrix(nodes, theta).T - 0.5 * theta**2
    density = np.exp(log_density - log_density.max(axis=-1, keepdims=True))
    means: FloatArray = density @ theta / density.sum(axis=-1)
    return means


def _terms(
    fit: IrtFit, y: FloatArray, rubrics: IntArray, nodes: FloatArray
) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """Log-likelihoods as a sum of products answers' table basis: (J', M), (J', P), (P, G) each; ``y`` is (J', M).

    There is one term for each level. For two levels without guessing, log P(pass) - log P(fail) = a theta - a b: P = 2
    for a pass.
    """
    table = log_likelihoods(fit, rubrics, nodes)
    whole = np.eye(len(nodes))
    if fit.thresholds is None and not fit.c[rubrics].any():
        a, b = fit.a[rubrics], fit.b[rubrics]
        line = np.stack([a, -a * b], axis=1), np.stack([nodes, np.ones_like(nodes)])
        return [((~np.isnan(y)).astype(float), table[0], whole), ((y == 1).astype(float), *line)]
    return [((y == level).astype(float), part, whole) for level, part in enumerate(table)]


def nodes_for(fit: IrtFit, steepest: float) -> FloatArray:
    """(G,) nodes that cover all posteriors: the paper's grid, or as many Chebyshev nodes as ``steepest`` needs.

    steepest: the largest slope of any rubric.
    """
    if fit.quadrature == "grid":
        return GRID_NODES
    low, high = min(-REACH, fit.theta.min() - BEYOND), max(REACH, fit.theta.max() + BEYOND)
    rule = AdaptiveQuadrature(low=max(float(low), -LIMIT), high=min(float(high), LIMIT))
    return rule.fit_for(steepest).nodes


def _known(places: IntArray) -> IntArray:
    return places[places >= 0]
