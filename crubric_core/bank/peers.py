"""Selection methods of other benchmarks, to compare with ours (docs/method.md §11). Each gives weighted rubrics.

- tinyBenchmarks (Maia Polo et al. 2024, ICML; github.com/felipemaiapolo/efficbench, selection.py and acc.py): the
  rubrics nearest to the centres of a k-means clustering, the best of five, each with the share of its cluster.
- metabench (Kipnis et al. 2025, ICLR; github.com/adkipnis/metabench, analysis/random.R): of many random subsets the
  one whose mean best predicts the score on all rubrics. There a spline is fitted to some of thousands of systems and
  tested on the others; a leaderboard has a dozen, so here a line is tested by leaving one system out.
- fluid-benchmarking (Hofmann et al. 2025, COLM; github.com/allenai/fluid-benchmarking, engine.py): each new system
  gets the rubric of the largest Fisher information at its current ability, the MAP under N(0, 1), beginning at 0.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.cluster.vq import kmeans2

from ..errors import AssemblyError
from ..intervals import known_mean
from ..types import FloatArray, IntArray

TRIALS = 5  # k-means runs; the one of least inertia counts
SUBSETS = 1000
MOST_CELLS = 2_000_000  # random keys held at once


@dataclass(frozen=True)
class Selection:
    """A bank of one size, and a line from its weighted mean to the score on all rubrics.

    rubrics: (n,) ascending. weights: (n,) > 0, sum 1. intercept, slope: score = intercept + slope × weighted mean.
    """

    rubrics: IntArray
    weights: FloatArray
    intercept: float = 0.0
    slope: float = 1.0

    def score(self, shares: FloatArray) -> FloatArray:
        """(M,) predicted score on all rubrics from ``shares`` (M, J) of the full mark.

        Unknown labels (NaN) do not count; NaN if all chosen ones are unknown.
        """
        chosen = shares[:, self.rubrics]
        known = ~np.isnan(chosen)
        total = known @ self.weights
        mean = np.full(len(chosen), np.nan)
        np.divide(np.where(known, chosen, 0.0) @ self.weights, total, out=mean, where=total > 0)
        return self.intercept + self.slope * mean


def anchor_points(
    features: FloatArray, candidates: IntArray, size: int, rng: np.random.Generator
) -> Selection:
    """Anchor points of tinyBenchmarks among the ``candidates`` (indices).

    features: (J, F), finite on the candidates: labels of the systems ("correctness"), or slopes and intercepts ("IRT").
    Fewer than ``size`` rubrics if the features have fewer different rows.
    """
    points = features[candidates]
    distinct = len(np.unique(points, axis=0))
    runs = [_cluster(points, min(size, distinct), rng) for _ in range(TRIALS)]
    centres, cluster = min(runs, key=lambda run: float(((points - run[0][run[1]]) ** 2).sum()))
    used = np.unique(cluster)
    nearest = np.array([((points - centres[c]) ** 2).sum(axis=1).argmin() for c in used])
    shares = np.bincount(cluster, minlength=len(centres))[used] / len(points)
    chosen, place = np.unique(nearest, return_inverse=True)
    return Selection(candidates[chosen], np.bincount(place, weights=shares).astype(float))


def _cluster(points: FloatArray, size: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a cluster may lose all its points: it is then dropped
        centres, cluster = kmeans2(points, size, iter=10, minit="++", rng=rng)
    return centres, cluster.astype(np.int64)


def features_of_labels(shares: FloatArray) -> FloatArray:
    """(J, M) features from ``shares`` (M, J) of the full mark; an unknown label becomes its rubric's mean."""
    known = ~np.isnan(shares)
    counts = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, shares, 0.0).sum(axis=0) / counts
    return np.where(known, shares, mean).T


def best_of_random(
    shares: FloatArray, candidates: IntArray, size: int, rng: np.random.Generator, subsets: int = SUBSETS
) -> Selection:
    """Selection of metabench: the random bank of ``size`` with the least error of the predicted score.

    The best of ``subsets`` random banks. shares: (M, J) of the full mark; NaN unknown. The error is the root mean
    square over systems, each predicted by the line fitted to the others. Raises AssemblyError with fewer than 3
    systems.
    """
    if len(shares) < 3:
        raise AssemblyError(f"A line tested on each system needs 3 systems: there are {len(shares)}.")
    target = known_mean(shares, axis=1)
    size = min(size, len(candidates))
    best, least = Selection(candidates[:0], np.empty(0)), np.inf
    step = max(1, MOST_CELLS // len(candidates))
    for start in range(0, subsets, step):
        keys = rng.random((min(step, subsets - start), len(candidates)))
        drawn = candidates[np.argpartition(keys, size - 1, axis=1)[:, :size]]
        means = _subset_means(shares, drawn)
        errors, slope, intercept = _left_out_errors(means, target)
        winner = int(errors.argmin())
        if errors[winner] < least or not best.rubrics.size:
            least = float(errors[winner])
            weights = np.full(size, 1 / size)
            best = Selection(np.sort(drawn[winner]), weights, float(intercept[winner]), float(slope[winner]))
    return best


def _left_out_errors(means: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(n,) leave-one-out root mean square errors, slopes and intercepts of target (M,) on each row of means (n, M)."""
    centred = means - means.mean(axis=1, keepdims=True)
    spread = (centred**2).sum(axis=1)
    flat = spread <= 1e-12
    spread = np.where(flat, 1.0, spread)
    slope = np.where(flat, 0.0, centred @ target / spread)
    intercept = target.mean() - slope * means.mean(axis=1)
    leverage = 1 / means.shape[1] + np.where(flat[:, None], 0.0, centred**2 / spread[:, None])
    residual = target - intercept[:, None] - slope[:, None] * means
    left_out = residual / np.maximum(1 - leverage, 1e-9)
    errors = np.sqrt((left_out**2).mean(axis=1))
    return np.where(np.isnan(errors), np.inf, errors), slope, intercept


def _subset_means(shares: FloatArray, drawn: IntArray) -> FloatArray:
    """(n, M) mean of the known labels of each system on each subset (n, size); NaN if it has none there."""
    inside = np.zeros((len(drawn), shares.shape[1]))
    np.put_along_axis(inside, drawn, 1.0, axis=1)
    known = ~np.isnan(shares)
    counts = inside @ known.T.astype(float)
    mean = np.full(counts.shape, np.nan)
    np.divide(inside @ np.where(known, shares, 0.0).T, counts, out=mean, where=counts > 0)
    return mean


def fluid_orders(
    y: FloatArray, log_chances: FloatArray, info: FloatArray, nodes: FloatArray, budget: int
) -> list[IntArray]:
    """Adaptive order of fluid-benchmarking for each system: always the largest information at its current MAP.

    y: (M, J) levels of the new systems; a rubric without a label is never asked. log_chances: (L, J, G) of each level
    at a grid ``nodes`` (G,) of abilities; info: (G, J) ≥ 0. Ties go to the lowest index. Orders end after ``budget``
    rubrics, or when no rubric with a label and with information is left.
    """
    prior = -0.5 * nodes**2
    return [_adaptive(row, log_chances, info, prior, budget) for row in y]


def _adaptive(
    row: FloatArray, log_chances: FloatArray, info: FloatArray, prior: FloatArray, budget: int
) -> IntArray:
    free, log_posterior, order = ~np.isnan(row) & (info > 0).any(axis=0), prior.copy(), []
    for _ in range(min(budget, int(free.sum()))):
        at = info[log_posterior.argmax()]
        best = int(np.where(free, at, -1.0).argmax())
        free[best] = False
        order.append(best)
        log_posterior += log_chances[int(row[best]), best]
    return np.array(order, dtype=np.int64)


def p_irt(naive: FloatArray, expected: FloatArray, rubrics: IntArray) -> FloatArray:
    """(M,) p-IRT of tinyBenchmarks: observed labels where available, the model's expectation elsewhere.

    λ naive + (1 - λ) mean of the unlabelled rubrics' expected shares, λ the share of rubrics labelled. naive: (M,)
    weighted means of the labels. expected: (M, J) shares of the mark at each system's ability. rubrics: indices of the
    labelled ones.
    """
    others = np.ones(expected.shape[1], dtype=bool)
    others[rubrics] = False
    share = 1 - others.mean()
    if not others.any():
        return naive
    return np.asarray(share * naive + (1 - share) * expected[:, others].mean(axis=1))


def gp_irt_weight(error: float, variance: float, size: int) -> float:
    """Weight of the weighted mean against p-IRT in gp-IRT: b² / (v + b²), v = variance / (4 size) for anchor points.

    error: b, the model's mean absolute error of a score on unseen rubrics. variance: of the labels of a system.
    """
    noise = variance / (4 * size)
    return error**2 / (noise + error**2) if noise + error**2 > 0 else 0.0
