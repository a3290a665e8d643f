"""Posterior of each rubric's slope and difficulty from its labels, given the abilities (docs/method.md §8, step 2).

A slope fitted to fifteen labels is subject to the winner's curse: the rubrics chosen for steep slopes are those whose
slopes are overestimated. So each rubric keeps its whole posterior of (log a, b), on one small grid that all rubrics
share: log a ~ N(0, .5²), b ~ N(m, v), with m and v by maximum marginal likelihood (EM). An ordered rubric has
thresholds t_l = b + o_l, with offsets o_l pooled over the rubrics of its number of levels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import AssemblyError
from ..irt.abilities import level_log_probabilities
from ..irt.fit import equal_rubrics
from ..types import FloatArray, IntArray

LOG_A_SD = 0.5
LOG_A = np.linspace(-3 * LOG_A_SD, 3 * LOG_A_SD, 13)
N_DIFFICULTIES = 31
BEYOND = 4.0  # how far the grid of b reaches beyond the abilities on either side
EM_STEPS = 6


@dataclass(frozen=True)
class ItemPosterior:
    """Posterior of (log a, b) of J rubrics on a grid of G = 13 × 31 points.

    Rubrics with equal labels and levels share one of U rows. row: (J,) the row of each rubric. first: (U,) lowest index
    of a rubric of each row. slope: (G,) a > 0. difficulty: (G,) b. weights: (U, G) ≥ 0, each row sums to 1.
    levels: (U,) numbers of levels. offsets: number of levels L → (L-1,) thresholds minus their mean, ascending.
    mean, sd: of the difficulties' prior N(m, v), estimated.
    """

    row: IntArray
    first: IntArray
    slope: FloatArray
    difficulty: FloatArray
    weights: FloatArray
    levels: IntArray
    offsets: dict[int, FloatArray]
    mean: float
    sd: float

    def moments(self, n_levels: int, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Expected level and expected squared level at each grid point and ability, (G, T) each.

        For two levels both are P(pass).
        """
        chances = np.exp(_level_table(self.slope, self.difficulty, self.offsets[n_levels], theta))
        level = np.arange(n_levels, dtype=float)
        return np.tensordot(level, chances, 1), np.tensordot(level**2, chances, 1)


def item_posterior(
    y: FloatArray, theta: FloatArray, levels: IntArray, thresholds: FloatArray | None = None
) -> ItemPosterior:
    """The posteriors from labels ``y`` (M, J) in 0..L-1, NaN unknown, at the abilities ``theta`` (M,).

    levels: (J,) numbers of levels, at least 2. thresholds: (J, L-1) of a GRM, NaN where there is none; needed for the
    offsets if a rubric has more than two levels, else AssemblyError. A rubric without labels keeps the prior.
    """
    first, row, copies = equal_rubrics(y, levels)
    labels, n_levels = y.T[first], levels[first]
    grid = np.linspace(float(theta.min()) - BEYOND, float(theta.max()) + BEYOND, N_DIFFICULTIES)
    log_a, b = np.repeat(LOG_A, N_DIFFICULTIES), np.tile(grid, len(LOG_A))
    slope, offsets = np.exp(log_a), _offsets(levels, thresholds)
    log_lik = np.zeros((len(first), len(b)))
    for size, steps in offsets.items():
        table = _level_table(slope, b, steps, theta)
        for level in range(size):
            given = (labels == level) & (n_levels == size)[:, None]
            if given.any():  # a level that no system received may have log-probability -inf
                log_lik += given.astype(float) @ table[level].T
    joint = np.exp(log_lik - log_lik.max(axis=1, keepdims=True) - 0.5 * (log_a / LOG_A_SD) ** 2)
    # Rubrics without labels do not count in the prior.
    labelled = np.where((~np.isnan(labels)).any(axis=1), copies, 0)
    mean, variance = _difficulty_prior(joint.reshape(len(first), len(LOG_A), -1).sum(axis=1), labelled, grid)
    joint *= np.exp(-0.5 * (b - mean) ** 2 / variance)
    joint /= joint.sum(axis=1, keepdims=True)
    return ItemPosterior(row, first, slope, b, joint, n_levels, offsets, mean, float(np.sqrt(variance)))


def _difficulty_prior(likelihood: FloatArray, copies: IntArray, grid: FloatArray) -> tuple[float, float]:
    """The m and v of b ~ N(m, v) by EM.

    likelihood: (U, 31), the slope integrated out. copies: (U,) rubrics of each row.
    """
    mean, variance = 0.0, 4.0
    if not copies.any():
        return mean, variance
    least = (grid[1] - grid[0]) ** 2  # a narrower prior would fall between two points
    for _ in range(EM_STEPS):
        posterior = likelihood * np.exp(-0.5 * (grid - mean) ** 2 / variance)
        share = (copies / copies.sum() / posterior.sum(axis=1)) @ posterior
        mean = float(share @ grid)
        variance = max(float(share @ (grid - mean) ** 2), least)
    return mean, variance


def _offsets(levels: IntArray, thresholds: FloatArray | None) -> dict[int, FloatArray]:
    """The mean of the thresholds minus their centre, for each number of levels, (L-1,)."""
    offsets = {2: np.zeros(1)}
    for size in np.unique(levels[levels > 2]).tolist():
        if thresholds is None:
            raise AssemblyError(f"Rubrics of {size} levels need the thresholds of a fitted graded model.")
        steps = thresholds[levels == size, : size - 1]
        # Without a prior a level that no system received has an infinite threshold.
        steps = steps[np.isfinite(steps).all(axis=1)]
        if not len(steps):  # none of them varies
            steps = np.arange(size - 1, dtype=float)[None]
        offsets[size] = (steps - steps.mean(axis=1, keepdims=True)).mean(axis=0)
    return offsets


def _level_table(slope: FloatArray, b: FloatArray, offsets: FloatArray, theta: FloatArray) -> FloatArray:
    """(L, G, T) log-probability of each level at each grid point and ability."""
    return level_log_probabilities(slope[:, None], b[:, None] + offsets, theta)
