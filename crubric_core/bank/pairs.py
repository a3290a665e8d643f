"""Strategy ``pairs``: how well a bank separates pairs of systems, present and future ones (docs/method.md §8).

Each rubric has a squared distance d_j ≥ 0 for each pair: the squared difference of the two systems' expected levels on
it over the variance of that difference. Distances of rubrics add up, and a pair at the sum x is put in the right order
with probability about Φ(√x). The utility of a bank S is

    U(S) = Σ_p w_p F(Σ_{j in S} d_jp),   F(x) = ½ √(1 - e^(-2x/π)),

where F is within .0032 of Φ(√x) - ½ and needs no normal integral. F is concave: U is monotone and submodular. ½ + U is
not an accuracy: the worth of a bank is measured on systems that did not take part in its choice (``worth``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.special import ndtr

from ..compiled import compiled
from ..errors import AssemblyError
from ..types import BoolArray, FloatArray, IntArray
from .item_posterior import ItemPosterior, item_posterior
from .pairs_kernel import pair_gains

NODES = 12
MOST_SYSTEMS = 40
PRIOR_SHARE = 0.75  # weight of the model in a present system's expected level; the rest is its label's
RATE = 2 / np.pi


@dataclass(frozen=True)
class PairDistances:
    """Distances of P pairs on J rubrics, with U different rows: a Utility.

    rows: (U, P) ≥ 0. row: (J,) the row of each rubric. weights: (P,) > 0, sum 1: the pairs of future systems, which
    come first, have one half, the pairs of present systems the other.
    nodes: (12,) abilities that represent future systems, ascending.
    """

    rows: FloatArray
    row: IntArray
    weights: FloatArray
    nodes: FloatArray

    @property
    def cells(self) -> int:
        """Number of array entries held."""
        return self.rows.size

    def candidates(self, feasible: BoolArray | None) -> IntArray:
        """See Utility: rubrics with a distance above 0."""
        useful = np.asarray((self.rows > 0).any(axis=1))[self.row]
        return np.flatnonzero(useful if feasible is None else useful & feasible)

    def totals(self, rubrics: IntArray) -> FloatArray:
        """See Utility: distances (n, P)."""
        return self.rows[self.row[rubrics]]

    def value(self, total: FloatArray) -> FloatArray:
        """See Utility: U at the summed distances (…, P), in [0, ½]."""
        utility: FloatArray = 0.5 * np.sqrt(-np.expm1(-RATE * total)) @ self.weights
        return utility

    def prepared(self, rubrics: IntArray) -> FloatArray:
        """See Utility: m = 1 - e^(-2d/π) (n, P)."""
        return self.rises[self.row[rubrics]]

    def kinds(self, rubrics: IntArray) -> IntArray:
        """See Utility: the row of distances of each rubric."""
        return self.row[rubrics]

    @cached_property
    def rises(self) -> FloatArray:
        """(U, P) m = 1 - e^(-2d/π) of each different row, in [0, 1]."""
        return np.asarray(-np.expm1(-RATE * self.rows))

    def gains(self, prepared: FloatArray, total: FloatArray) -> FloatArray:
        """See Utility."""
        return pair_gains(prepared, self.weights, np.exp(-RATE * total), np.sqrt(-np.expm1(-RATE * total)))


@dataclass(frozen=True)
class PairMoments:
    """Moments from which the distances of P pairs are computed: for many systems, fewer numbers than pairs.

    future: (U, 66) distances of the pairs of future systems. mean, variance: (U, S) of the expected levels of the S
    present systems. row, nodes: as in ``PairDistances``.
    """

    future: FloatArray
    mean: FloatArray
    variance: FloatArray
    row: IntArray
    nodes: FloatArray

    @property
    def cells(self) -> int:
        """Number of array entries held."""
        return self.future.size + 2 * self.mean.size

    @property
    def pairs(self) -> int:
        """The number of pairs P."""
        systems = self.mean.shape[1]
        return self.future.shape[1] + systems * (systems - 1) // 2

    def distances(self) -> PairDistances:
        """All distances: those of the future systems, then (pi_i - pi_k)² / (var_i + var_k) of the present ones."""
        future = self.future.shape[1]
        rows = np.empty((len(self.future), self.pairs))
        rows[:, :future] = self.future
        _fill_present(self.mean, self.variance, rows[:, future:])
        weights = np.repeat([0.5 / future, 0.5 / (self.pairs - future)], [future, self.pairs - future])
        return PairDistances(rows, self.row, weights, self.nodes)


@compiled
def _fill_present(mean: FloatArray, variance: FloatArray, rows: FloatArray) -> None:
    """Fill ``rows`` with the distances of present systems, pairs in the order of ``itertools.combinations``."""
    for rubric in range(len(mean)):
        pair = 0
        for i in range(mean.shape[1]):
            for k in range(i + 1, mean.shape[1]):
                apart = mean[rubric, i] - mean[rubric, k]
                rows[rubric, pair] = apart * apart / (variance[rubric, i] + variance[rubric, k])
                pair += 1


def pair_distances(
    y: FloatArray,
    theta: FloatArray,
    theta_sd: FloatArray,
    levels: IntArray | None = None,
    thresholds: FloatArray | None = None,
) -> PairDistances:
    """The distances of docs/method.md §8, steps 1–4, from a fit's abilities and the labels.

    y: (M, J) labels 0..L-1, NaN unknown. theta, theta_sd: (M,) abilities and their posterior sds; a system without
    an ability takes no part. levels: (J,) numbers of levels, 2 by default. thresholds: (J, L-1) of a graded fit.
    """
    return pair_moments(y, theta, theta_sd, levels, thresholds).distances()


def pair_moments(
    y: FloatArray,
    theta: FloatArray,
    theta_sd: FloatArray,
    levels: IntArray | None = None,
    thresholds: FloatArray | None = None,
) -> PairMoments:
    """The moments for ``pair_distances``, from the same arguments. Raises AssemblyError with fewer than 2 systems."""
    known = np.isfinite(theta)
    if known.sum() < 2:
        raise AssemblyError(f"Pairs need at least 2 systems with labels: there are {known.sum()}.")
    labels, ability, spread = y[known], theta[known], theta_sd[known]
    n_levels = np.full(y.shape[1], 2) if levels is None else levels
    posterior = item_posterior(labels, ability, n_levels, thresholds)
    nodes = ability_nodes(ability, spread)
    chosen = spread_out(ability)
    mean, variance = _present(posterior, labels[chosen][:, posterior.first], ability[chosen])
    return PairMoments(_future(posterior, nodes), mean, variance, posterior.row, nodes)


def ability_nodes(theta: FloatArray, theta_sd: FloatArray) -> FloatArray:
    """(NODES,) the (g - ½) / NODES quantiles of (1/M) Σ_i N(theta_i, h² + sd_i²); theta, theta_sd (M,).

    h = .9 min(sd(theta), IQR(theta) / 1.34) M^(-1/5) (Silverman 1986, eq. 3.31); from the sd alone if the IQR is 0.
    """
    sd, quartiles = float(np.std(theta, ddof=1)), np.quantile(theta, [0.25, 0.75])
    by_quartiles = float(quartiles[1] - quartiles[0]) / 1.34
    h = 0.9 * (min(sd, by_quartiles) or sd) * len(theta) ** -0.2
    scale = np.maximum(np.sqrt(h**2 + theta_sd**2), 1e-9)
    share = (np.arange(NODES) + 0.5) / NODES
    reach = 9 * float(scale.max())
    low, high = np.full(NODES, theta.min() - reach), np.full(NODES, theta.max() + reach)
    for _ in range(60):  # bisection: the mixture's distribution function rises everywhere
        middle = (low + high) / 2
        below = ndtr((middle[:, None] - theta) / scale).mean(axis=1) < share
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def spread_out(theta: FloatArray, most: int = MOST_SYSTEMS) -> IntArray:
    """Indices of all systems, or of ``most`` of them at equally spaced ranks of ``theta`` (M,)."""
    if len(theta) <= most:
        return np.arange(len(theta))
    ranks = ((np.arange(most) + 0.5) * len(theta) / most).astype(np.int64)
    return np.argsort(theta, kind="stable")[ranks]


def _future(posterior: ItemPosterior, nodes: FloatArray) -> FloatArray:
    """(U, 66) D² / (E[(Y_g - Y_k)²] - D²), D = E[Y_g] - E[Y_k], for the levels Y_g, Y_k at two nodes.

    E[(Y_g - Y_k)²] = E[P_g (1 - P_k) + P_k (1 - P_g)] for pass or fail: given (a, b) the levels are independent.
    """
    g, k = np.array(list(combinations(range(len(nodes)), 2))).T
    out = np.empty((len(posterior.weights), len(g)))
    for size in np.unique(posterior.levels).tolist():
        level, square = posterior.moments(size, nodes)
        apart = square[:, g] + square[:, k] - 2 * level[:, g] * level[:, k]
        of_size = posterior.levels == size
        weights = posterior.weights if of_size.all() else posterior.weights[of_size]
        expected = weights @ level
        gap = (expected[:, g] - expected[:, k]) ** 2
        out[of_size] = gap / (weights @ apart - gap)
    return out


def _present(
    posterior: ItemPosterior, labels: FloatArray, theta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(U, S) expected level pi of each present system on each rubric, and its variance.

    labels: (S, U). A known label has weight ¼, the model's expectation ¾. Pass or fail: var = pi (1 - pi).
    """
    level, square = (np.empty((len(posterior.weights), len(theta))) for _ in range(2))
    for size in np.unique(posterior.levels).tolist():
        of_size = posterior.levels == size
        for moment, at_grid in zip((level, square), posterior.moments(size, theta), strict=True):
            moment[of_size] = posterior.weights[of_size] @ at_grid
    y = labels.T
    mean = np.where(np.isnan(y), level, PRIOR_SHARE * level + (1 - PRIOR_SHARE) * y)
    mean_square = np.where(np.isnan(y), square, PRIOR_SHARE * square + (1 - PRIOR_SHARE) * y**2)
    return mean, mean_square - mean**2
