"""How far systems differ because different judges labelled them (docs/method.md §10, unequal panels).

A lenient judge raises the systems that it labels. If all systems have the same judges, this cancels in each difference.
If not, it is part of the difference, and no resampling of queries shows it. A judge's leniency is estimated on the
cells that several judges labelled, so that it does not depend on systems or rubrics. Between judges that no chain of
common cells links it is unknown, and may be as large as the whole scale. Unequal numbers of labels have the same
effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri, stdtrit

from ..labels.store.judge_sums import CHANCE, JudgeMeetings, JudgeShares
from ..labels.store.label_numbers import raised_on_panel
from ..settings import Tie
from ..types import BoolArray, FloatArray, IntArray

LEVEL = 0.95  # confidence of the bound of a difference in leniency
# How much further a majority may move than the mean of its labels: with 2 to 9 judges of whom pairs disagree on up to
# 30% of the cells, for cells whose pass rates follow a beta distribution (``benchmarks.unequal_panels --majority``).
MAJORITY = 1.43
ROUNDING = 1e-9


@dataclass(frozen=True)
class Allowance:
    """How far M estimates and their differences may be off because of unequal panels, ≥ 0, in units of the estimates.

    pairs: (M, M) by how much row minus column may be too high; the transpose: too low. high, low: (M,) by how much an
    estimate may be too high and too low, compared with the panels of all systems together.
    """

    pairs: FloatArray
    high: FloatArray
    low: FloatArray

    def of(self, systems: BoolArray | IntArray) -> Allowance:
        """The allowance of some systems only: a mask (M,), or their positions."""
        return Allowance(self.pairs[systems][:, systems], self.high[systems], self.low[systems])


@dataclass(frozen=True)
class UnequalPanels:
    """Effects on M systems of judges that others lack, as a share of the scale; chance differences do not count.

    shift: (M,) mean effect of the leniency of its judges on a system's consensus labels. error: (M, B) contribution of
    each of B blocks of queries to the shift's error; squares sum to its variance. noise: (M, M) least covariance of the
    shifts' errors, as if labels of a cell were independent: few cells may agree by chance.
    unlinked: (M, C) deviation of its share of labels by each of C sets of judges that no common cell links; C = 0 if
    all are linked. numbers: (M, M) by how much numbers of labels may raise row above column; None: no effect.
    """

    shift: FloatArray
    error: FloatArray
    noise: FloatArray
    unlinked: FloatArray
    numbers: FloatArray | None = None

    def allowance(self, slope: FloatArray) -> Allowance:
        """The estimated shift, plus its error at LEVEL, plus the whole scale for the difference in unlinked judges.

        An interval widened by it holds both with the labels as given and with the leniencies subtracted. slope: (M,)
        change of an estimate if all labels of the system rise by the whole scale.
        """
        shift, slopes = slope * self.shift, np.multiply.outer(slope, slope)
        steepest = np.maximum.outer(slope, slope)
        shown, least = slopes * (self.error @ self.error.T), slopes * self.noise
        own = np.maximum(shown.diagonal(), least.diagonal())
        variance = np.maximum(_of_differences(shown), _of_differences(least))
        apart = np.zeros_like(variance)
        for column in self.unlinked.T:
            apart += np.abs(column[:, None] - column) / 2
        bound = -ndtri((1 - LEVEL) / 2)
        unsure = bound * np.sqrt(variance) + steepest * apart
        alone = bound * np.sqrt(own) + slope * np.abs(self.unlinked).sum(axis=1) / 2
        between, high, low = shift[:, None] - shift, shift, -shift
        if self.numbers is not None:
            between = between + steepest * self.numbers
            high = shift + slope * self.numbers.mean(axis=1)
            low = slope * self.numbers.mean(axis=0) - shift
        pairs = np.maximum(between, 0.0) + unsure
        np.fill_diagonal(pairs, 0.0)
        return Allowance(pairs, np.maximum(high, 0.0) + alone, np.maximum(low, 0.0) + alone)


def unequal_panels(
    shares: JudgeShares, meetings: JudgeMeetings, raised: FloatArray | None = None
) -> UnequalPanels:
    """Effects of unequal panels, from leniencies that are least-squares effects of judges with an effect for each cell.

    Leniencies have mean 0 in a linked set. Their errors are by the jackknife over the blocks of queries with common
    cells, and at least those of independent labels that vary within cells as observed, with one further label as far
    from the mean as possible. raised: (M, M) by how much numbers of labels raise one system above another
    (``label_numbers``).
    """
    met = meetings.tied.any(axis=(1, 2))
    if met.sum() < 2:  # the error of a leniency cannot be estimated
        meetings, met = JudgeMeetings.unknown(meetings.tied.shape[1]), np.ones(1, dtype=bool)
    tied, excess, apart = meetings.tied[met], meetings.excess[met], shares.beyond_chance
    apart = apart - apart.mean(axis=0)
    whole, blocks = tied.sum(axis=0), len(tied)
    links = whole < -ROUNDING
    count, linked = connected_components(links, directed=False)
    leniency = _effects(whole, excess.sum(axis=0))
    left = _effects(whole - tied, excess.sum(axis=0) - excess)
    error = MAJORITY * apart @ (left - left.mean(axis=0)).T * np.sqrt((blocks - 1) / blocks)
    variance = (meetings.squares + 1) / (whole.trace() + 1)
    noise = MAJORITY**2 * variance * apart @ _inverse(whole) @ apart.T
    sets = np.stack([apart[:, linked == part].sum(axis=1) for part in range(count)], axis=1)
    # The effect of numbers of labels, too, is larger on rubrics that distinguish systems.
    numbers = MAJORITY * raised if raised is not None and raised.any() else None
    return UnequalPanels(
        MAJORITY * apart @ leniency, error, noise, sets if count > 1 else sets[:, :0], numbers
    )


def leniencies(panel: FloatArray, unit: IntArray, levels: IntArray) -> FloatArray:
    """(K,) how much more lenient each judge is than the others, as a share of the scale: see ``unequal_panels``."""
    met = JudgeMeetings.of_panel(panel, unit, levels)
    return _effects(met.tied.sum(axis=0), met.excess.sum(axis=0))


def panels_of(
    panel: FloatArray, unit: IntArray, levels: IntArray, ties: Sequence[Tie] = ()
) -> UnequalPanels | None:
    """``unequal_panels`` of labels (M, J, K); None if all systems have the same judges, up to chance.

    unit: (J,) as ``units_of``. levels: (J,). ties: the values that an even split may get (``label_numbers.splits_as``);
    empty: ignore numbers of labels.
    """
    shares = JudgeShares.of_panel(panel, unit)
    raised = raised_on_panel(panel, unit, levels, ties) if ties else None
    if not shares.beyond_chance.any() and (raised is None or not raised.any()):
        return None
    return unequal_panels(shares, JudgeMeetings.of_panel(panel, unit, levels), raised)


def differ_by_group(panel: FloatArray, unit: IntArray, group: IntArray) -> bool:
    """Whether systems have different judges, beyond chance, in any group of rubrics, even if not over all rubrics.

    panel: (M, J, K) labels. unit: (J,) as ``units_of``. group: (J,) from 0; -1: in no group. A group of one query is
    left out, since chance cannot be estimated from it.
    """
    groups = [np.flatnonzero(group == number) for number in range(int(group.max(initial=-1)) + 1)]
    groups = [its for its in groups if len(np.unique(unit[its])) > 1]
    return any(_judges_differ(panel[:, its], unit[its], CHANCE / len(groups)) for its in groups)


def _judges_differ(panel: FloatArray, unit: IntArray, chance: float) -> bool:
    """Whether judges differ, by Student's t; errors are at least those of all systems together, as units may be few."""
    shares, units = JudgeShares.of_panel(panel, unit), len(np.unique(unit))
    labelled = shares.error[np.isfinite(shares.error).all(axis=1)]
    pooled = np.sqrt((labelled**2).mean(axis=0)) if len(labelled) else 0.0
    errors = float(-stdtrit(units - 1, chance / 2 / max(shares.share.size, 1)))
    return bool(replace(shares, error=np.maximum(shares.error, pooled)).beyond(errors).any())


def _of_differences(covariance: FloatArray) -> FloatArray:
    """(M, M) variances of the differences of M values with this covariance."""
    own = covariance.diagonal()
    return np.asarray(np.maximum(own[:, None] + own - 2 * covariance, 0.0))


def _effects(tied: FloatArray, excess: FloatArray) -> FloatArray:
    """(…, K) least-squares effects from the normal equations: tied (…, K, K) and excess (…, K)."""
    return (_inverse(tied) @ excess[..., None])[..., 0]


def _inverse(tied: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.pinv(tied, rcond=ROUNDING, hermitian=True))
