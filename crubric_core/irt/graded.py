"""Samejima's graded response model, also for rubrics with different numbers of levels.

Levels that no system received leave their thresholds without a likelihood of their own. At the optimum such thresholds
coincide: between two observed levels the likelihood pulls them together, and beyond the lowest or highest observed
level only the nearest one is pushed outwards while the prior pulls the others back against it. So the thresholds of a
rubric form groups that move as one, and the groups are strictly ordered. With a flat prior the outer groups have no
finite optimum; they are excluded and reported as infinite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..settings import Priors
from ..types import BoolArray, FloatArray, IntArray
from .kernel import SoftplusSum, TermSum
from .models import (
    LOG_2PI,
    ItemParameters,
    Score,
    curvature_of_blocks,
    log_normal,
    smoothed_logit,
    solve_blocks,
)

SMALLEST_GAP = 0.05  # between a rubric's thresholds at the start of the search


@dataclass(frozen=True)
class ThresholdGroups:
    """T groups of coinciding thresholds, ordered by rubric and then by level.

    owner, slot: (T,) the group's rubric and its position within the rubric. lower, upper: (T,) the observed levels just
    below and above it, -1 where there is none. size: (T,) number of thresholds in the group.
    """

    owner: IntArray
    slot: IntArray
    lower: IntArray
    upper: IntArray
    size: IntArray


def threshold_groups(y: FloatArray, levels: IntArray, *, outer: bool) -> ThresholdGroups:
    """Groups of the thresholds of a table ``y`` (M, J) with ``levels`` (J,) numbers of levels.

    outer: also the groups below the lowest or above the highest observed level.
    """
    owner, level = np.nonzero(observed_levels(y, int(levels.max())))
    first = np.r_[True, owner[1:] != owner[:-1]]
    last = np.r_[owner[1:] != owner[:-1], True]
    inner = ~first
    parts = [np.stack([owner[inner], level[:-1][inner[1:]], level[inner], np.diff(level)[inner[1:]]])]
    if outer:
        low, high = first & (level > 0), last & (level < levels[owner] - 1)
        parts.append(np.stack([owner[low], np.full(low.sum(), -1), level[low], level[low]]))
        above = levels[owner[high]] - 1 - level[high]
        parts.append(np.stack([owner[high], level[high], np.full(high.sum(), -1), above]))
    table = np.concatenate(parts, axis=1)
    table = table[:, np.lexsort((table[1], table[0]))]
    starts = np.searchsorted(table[0], table[0])
    return ThresholdGroups(table[0], np.arange(table.shape[1]) - starts, table[1], table[2], table[3])


def observed_levels(y: FloatArray, n_levels: int) -> BoolArray:
    """(J, L) whether any system received the level on the rubric."""
    return np.stack([(y == level).any(axis=0) for level in range(n_levels)], axis=1)


class Graded:
    """GRM. x is log a, the first threshold and the logs of the gaps: (J, P), 0 where unused. See ItemModel."""

    def __init__(self, y: FloatArray, priors: Priors, levels: IntArray) -> None:
        self._levels, self._priors = levels, priors
        self._groups = groups = threshold_groups(y, levels, outer=priors.b_sd is not None)
        labels = y.T[groups.owner]
        passed = labels == groups.upper[:, None]
        self._passed = np.ascontiguousarray(passed, dtype=float)
        seen = passed | (labels == groups.lower[:, None])
        self._mask = np.ascontiguousarray(seen, dtype=float)
        self._sum: TermSum = SoftplusSum(self._mask, len(y))
        self._passes, self._seen = self._passed.sum(axis=1), seen.sum(axis=1)
        self._follows = groups.slot > 0
        self._between = self._seen[self._follows] - self._passes[self._follows]  # labels on the level below
        self._width = 2 + int(groups.slot.max())
        self._shape = (y.shape[1], self._width)
        self._used = np.zeros(self._shape, dtype=bool)
        self._used[:, 0] = True
        self._used[groups.owner, groups.slot + 1] = True
        self._at_least = np.array(
            [np.nansum(y[:, j] > low) for j, low in zip(groups.owner, groups.lower, strict=True)], dtype=float
        )
        self._labels = (~np.isnan(y)).sum(axis=0)[groups.owner]

    @property
    def n_parameters(self) -> int:
        """See ItemModel; thresholds that coincide count once."""
        return int(self._used.sum())

    def start(self) -> FloatArray:
        """Unit slopes, and thresholds from the smoothed logits of the cumulative shares."""
        t = -1.3 * smoothed_logit(self._at_least, self._labels)
        return self._join(np.zeros(self._shape[0]), t)

    def at(self, items: ItemParameters) -> FloatArray:
        """See ItemModel; a group takes the value of its lowest threshold."""
        groups = self._groups
        lowest = np.where(groups.lower >= 0, groups.lower, groups.upper - 1)
        return self._join(np.log(items.a), items.edges[groups.owner, lowest])

    def _join(self, log_a: FloatArray, t: FloatArray) -> FloatArray:
        """The point x of log slopes (J,) and the groups' thresholds (T,), kept SMALLEST_GAP apart within a rubric."""
        x = np.zeros(self._shape)
        x[:, 0] = log_a
        gap = np.maximum(np.diff(t, prepend=0.0), SMALLEST_GAP)
        x[self._groups.owner, self._groups.slot + 1] = np.where(self._follows, np.log(gap), t)
        return x.ravel()

    def _split(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Slopes (J,) and the groups' thresholds (T,)."""
        grid = x.reshape(self._shape)
        steps = np.where(self._used[:, 1:], grid[:, 1:], 0.0)
        steps[:, 1:] = np.where(self._used[:, 2:], np.exp(steps[:, 1:]), 0.0)
        return np.exp(grid[:, 0]), np.cumsum(steps, axis=1)[self._groups.owner, self._groups.slot]

    def _gaps(self, a: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Slopes and gaps to the group before, for each group that is not its rubric's first."""
        follows = self._follows
        return a[self._groups.owner[follows]], np.diff(t)[follows[1:]]

    def steepest(self, x: FloatArray) -> float:
        """See ItemModel."""
        return float(np.exp(x.reshape(self._shape)[:, 0]).max())

    def forward(self, x: FloatArray, nodes: FloatArray) -> tuple[FloatArray, float]:
        """See ItemModel."""
        a, t = self._split(x)
        slope = a[self._groups.owner]
        d = -slope * t
        by_theta, fixed = np.stack([slope, d]) @ self._passed
        gap_slope, gap = self._gaps(a, t)
        constant = float(self._between @ np.log(-np.expm1(-gap_slope * gap)))
        return by_theta[:, None] * nodes + fixed[:, None] - self._sum.forward(slope, d, nodes), constant

    def backward(self, x: FloatArray, nodes: FloatArray, weights: FloatArray) -> Score:
        """See ItemModel. The information includes the thresholds' prior, which is not diagonal in x."""
        a, t = self._split(x)
        slope, groups = a[self._groups.owner], self._groups
        sums = self._sum.backward(weights, nodes)
        by_d = self._passes - sums.sigma
        by_a = self._passed @ (weights @ nodes) - sums.sigma_theta
        gap_slope, gap = self._gaps(a, t)
        pull = self._between / np.expm1(gap_slope * gap)
        by_t = -slope * by_d
        by_t[self._follows] += pull * gap_slope
        by_t[np.flatnonzero(self._follows) - 1] -= pull * gap_slope
        by_log_a = np.zeros(self._shape[0])
        np.add.at(by_log_a, groups.owner, slope * (by_a - t * by_d))
        np.add.at(by_log_a, groups.owner[self._follows], pull * gap_slope * gap)
        jacobian = self._jacobian(x)
        blocks = self._threshold_information(
            slope, t, gap_slope, gap, sums.info, sums.info_theta, sums.info_theta2
        )
        gradient = self._to_x(by_log_a, by_t, jacobian)
        return Score(gradient, np.swapaxes(jacobian, 1, 2) @ blocks @ jacobian)

    def _jacobian(self, x: FloatArray) -> FloatArray:
        """(J, P, P) derivative of (log a, thresholds) in x; each gap moves its own threshold and all later ones."""
        grid = x.reshape(self._shape)
        scale = np.where(self._used, 1.0, 0.0)
        scale[:, 2:] = np.where(self._used[:, 2:], np.exp(grid[:, 2:]), 0.0)
        lower = np.tril(np.ones((self._width, self._width)))
        lower[1:, 0] = 0.0
        return lower * scale[:, None, :] * self._used[:, :, None]

    def _to_x(self, by_log_a: FloatArray, by_t: FloatArray, jacobian: FloatArray) -> FloatArray:
        full = np.zeros(self._shape)
        full[:, 0] = by_log_a
        full[self._groups.owner, self._groups.slot + 1] = by_t
        return (full[:, None, :] @ jacobian)[:, 0, :].ravel()

    def _threshold_information(
        self,
        slope: FloatArray,
        t: FloatArray,
        gap_slope: FloatArray,
        gap: FloatArray,
        i0: FloatArray,
        i1: FloatArray,
        i2: FloatArray,
    ) -> FloatArray:
        """(J, P, P) minus the expected second derivatives in (log a, thresholds)."""
        owner, place = self._groups.owner, self._groups.slot + 1
        blocks = np.zeros((*self._shape, self._width))
        squared = slope * slope
        blocks[:, 0, 0] = np.bincount(owner, squared * (i2 - 2 * t * i1 + t * t * i0), len(blocks))
        cross = -squared * (i1 - t * i0)
        blocks[owner, 0, place] = blocks[owner, place, 0] = cross
        precision = 0.0 if self._priors.b_sd is None else self._priors.b_sd**-2
        blocks[owner, place, place] = squared * i0 + precision * self._groups.size
        rubric, here = owner[self._follows], place[self._follows]
        bend = self._between / (4 * np.sinh(gap_slope * gap / 2) ** 2)
        direction = np.zeros((len(rubric), self._width))
        each = np.arange(len(rubric))
        direction[:, 0], direction[each, here - 1], direction[each, here] = (
            gap_slope * gap,
            -gap_slope,
            gap_slope,
        )
        np.add.at(blocks, rubric, bend[:, None, None] * direction[:, :, None] * direction[:, None, :])
        return blocks

    def log_prior(self, x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """See ItemModel; every threshold counts, also each of several that coincide."""
        _, t = self._split(x)
        value, slope_gradient, slope_curvature = log_normal(
            x.reshape(self._shape)[:, 0], self._priors.log_a_sd
        )
        by_t = np.zeros_like(t)
        if self._priors.b_sd is not None:
            precision, size = self._priors.b_sd**-2, self._groups.size
            value -= 0.5 * precision * float(size @ t**2) + size.sum() * (
                np.log(self._priors.b_sd) + 0.5 * LOG_2PI
            )
            by_t = -precision * size * t
        curvature = np.zeros(self._shape)
        curvature[:, 0] = slope_curvature
        return value, self._to_x(slope_gradient, by_t, self._jacobian(x)), curvature.ravel()

    def solve(self, information: FloatArray, diagonal: FloatArray, vector: FloatArray) -> FloatArray:
        """See ItemModel; unused positions have unit blocks and stay 0."""
        diagonal = diagonal.reshape(self._shape) + ~self._used
        return solve_blocks(information, diagonal, vector.reshape(self._shape)).ravel()

    def axes(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See ItemModel; the logs of the gaps change with the stretch only."""
        shift, bend = np.zeros(self._shape), np.zeros(self._shape)
        shift[:, 1] = self._used[:, 1]
        bend[:, 1] = np.where(self._used[:, 1], x.reshape(self._shape)[:, 1], 0.0)
        stretch = np.where(self._used, 1.0, 0.0)
        stretch[:, 0], stretch[:, 1] = -1.0, bend[:, 1]
        return np.stack([shift.ravel(), stretch.ravel()]), bend.ravel()

    def curvature(self, information: FloatArray, diagonal: FloatArray, vectors: FloatArray) -> FloatArray:
        """See ItemModel."""
        return curvature_of_blocks(
            information, diagonal.reshape(self._shape), vectors.reshape(2, *self._shape)
        )

    def items(self, x: FloatArray) -> ItemParameters:
        """See ItemModel."""
        a, t = self._split(x)
        groups, n_rubrics = self._groups, self._shape[0]
        last = int(self._levels.max()) - 1
        thresholds = np.full((n_rubrics, last), np.nan)
        level = np.arange(1, last + 1)
        low = np.where(groups.lower < 0, 0, groups.lower)[:, None]
        high = np.where(groups.upper < 0, self._levels[groups.owner] - 1, groups.upper)[:, None]
        member, position = np.nonzero((level > low) & (level <= high))
        if self._priors.b_sd is None:
            _fill_outer(thresholds, self._levels, groups)
        thresholds[groups.owner[member], position] = t[member]
        finite = np.where(np.isfinite(thresholds), thresholds, np.nan)
        return ItemParameters(a, np.asarray(np.nanmean(finite, axis=1)), np.zeros(n_rubrics), thresholds)


def _fill_outer(thresholds: FloatArray, levels: IntArray, groups: ThresholdGroups) -> None:
    """Set thresholds beyond the observed levels to -inf or inf, in place; used where no prior holds them."""
    first, last = groups.slot == 0, np.r_[groups.slot[1:] == 0, True]
    for j, low, high in zip(groups.owner[first], groups.lower[first], groups.upper[last], strict=True):
        thresholds[j, :low] = -np.inf
        thresholds[j, high : levels[j] - 1] = np.inf
