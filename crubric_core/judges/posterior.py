"""Dawid–Skene posteriors of every (system, rubric) in place of the majority (METHOD §5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import BoolArray, FloatArray
from ..settings import Tie
from .consensus import TIES
from .dawid_skene import DawidSkene, dawid_skene

if TYPE_CHECKING:
    from ..labels.dataset import Reduction


@dataclass(frozen=True)
class PosteriorLabels:
    """What the judges' labels, and the anchors, make of each cell.

    y: (M, J) the likeliest level; NaN unknown. probability: (M, J) of that level; 1 where anchored. anchored: (M, J).
    fits: one per number of levels that rubrics have, {levels: DawidSkene}. converged: whether all did.
    """

    y: FloatArray
    probability: FloatArray
    anchored: BoolArray
    fits: dict[int, DawidSkene]
    converged: bool


def posterior_labels(
    panel: FloatArray, levels: np.ndarray, anchors: FloatArray | None = None, tie: Tie = "unknown"
) -> PosteriorLabels:
    """Posterior labels of a panel (M, J, K) whose rubrics have ``levels`` (J,); anchors (M, J) or None.

    Judges' confusion matrices are common to all rubrics with as many levels. Two levels that are exactly equally
    likely are a tie of the binary majority; of ordered levels the lower one is taken.
    """
    y, probability = np.full((2, *panel.shape[:2]), np.nan)
    truth = np.full(y.shape, np.nan) if anchors is None else anchors
    fits = {}
    for n_levels in np.unique(levels):
        chosen = levels == n_levels
        cells = panel[:, chosen]
        fit = dawid_skene(cells.reshape(-1, panel.shape[2]), int(n_levels), truth[:, chosen].reshape(-1))
        posterior = fit.posterior.reshape(*cells.shape[:2], n_levels)
        label = fit.level().reshape(cells.shape[:2])
        if n_levels == 2:
            label = np.where(posterior[..., 0] == posterior[..., 1], TIES[tie], label)
        y[:, chosen], probability[:, chosen] = label, posterior.max(axis=-1)
        fits[int(n_levels)] = fit
    return PosteriorLabels(y, probability, ~np.isnan(truth), fits, all(f.converged for f in fits.values()))


def with_posterior_labels(
    reduction: Reduction, panel: FloatArray, anchors: FloatArray | None, tie: Tie
) -> Reduction:
    """The reduction with posterior labels as its consensus; agreement stays what the judges showed."""
    return replace(reduction, y=posterior_labels(panel, reduction.levels, anchors, tie).y)
