"""Dawid–Skene posteriors of every (system, rubric) instead of the majority (docs/method.md §5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..settings import Tie
from ..types import BoolArray, FloatArray, IntArray
from .consensus import TIES
from .dawid_skene import DawidSkene, dawid_skene
from .recalibration import recalibrate_posterior

if TYPE_CHECKING:
    from ..labels.store.reduction import Reduction


@dataclass(frozen=True)
class PosteriorLabels:
    """Labels of the cells, inferred from the judges' labels and the anchors.

    y: (M, J) the likeliest level; NaN unknown. probability: (M, J) of that level; 1 where anchored. anchored: (M, J).
    fits: one for each number of levels among the rubrics, {levels: DawidSkene}. converged: whether all did.
    strengths: {levels: κ}, the number of anchors to which the fit's answer is equivalent (recalibration.py).
    """

    y: FloatArray
    probability: FloatArray
    anchored: BoolArray
    fits: dict[int, DawidSkene]
    strengths: dict[int, float]
    converged: bool


def posterior_labels(
    panel: FloatArray, levels: IntArray, anchors: FloatArray | None = None, tie: Tie = "unknown"
) -> PosteriorLabels:
    """Posterior labels of a panel (M, J, K) whose rubrics have ``levels`` (J,); anchors (M, J) or None.

    Judges' confusion matrices are common to all rubrics with the same number of levels. Anchors fix their own cells and
    correct cells with the same labels. If two levels of a binary rubric are exactly equally likely, ``tie`` applies; of
    ordered levels the lower one is taken.
    """
    y, probability = np.full((2, *panel.shape[:2]), np.nan)
    truth = np.full(y.shape, np.nan) if anchors is None else anchors
    fits, strengths = {}, {}
    for n_levels in (int(n) for n in np.unique(levels)):
        chosen = levels == n_levels
        cells, known = panel[:, chosen].reshape(-1, panel.shape[2]), truth[:, chosen].reshape(-1)
        fit = dawid_skene(cells, n_levels, known)
        checked = recalibrate_posterior(cells, fit.posterior, known)
        shape = panel.shape[0], int(chosen.sum())
        y[:, chosen] = _likeliest(checked.posterior, tie).reshape(shape)
        probability[:, chosen] = checked.posterior.max(axis=1).reshape(shape)
        fits[n_levels], strengths[n_levels] = fit, checked.strength
    return PosteriorLabels(
        y=y,
        probability=probability,
        anchored=~np.isnan(truth),
        fits=fits,
        strengths=strengths,
        converged=all(fit.converged for fit in fits.values()),
    )


def _likeliest(posterior: FloatArray, tie: Tie) -> FloatArray:
    """(U,) the likeliest level from posteriors (U, L); NaN where unknown, ``tie`` for an even binary posterior."""
    unknown = np.isnan(posterior[:, 0])
    level = np.where(unknown[:, None], 0, posterior).argmax(axis=1).astype(np.float64)
    if posterior.shape[1] == 2:
        level = np.where(posterior[:, 0] == posterior[:, 1], TIES[tie], level)
    return np.where(unknown, np.nan, level)


def with_posterior_labels(
    reduction: Reduction, panel: FloatArray, anchors: FloatArray | None, tie: Tie
) -> Reduction:
    """The reduction with posterior labels as its consensus; its agreement is unchanged.

    panel: (M, J, K). anchors: (M, J) human levels.
    """
    return replace(reduction, y=posterior_labels(panel, reduction.levels, anchors, tie).y)
