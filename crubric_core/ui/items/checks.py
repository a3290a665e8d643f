"""Cached checks of the response model: which model the labels support, and where it does not hold."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from ...analysis.selection import query_positions
from ...analysis.stage import stage
from ...experiments.model_check import Dependence, compared_models, dependence_of, spectrum_of
from ...irt.comparison import Comparison
from ...irt.diagnostics import Spectrum
from ...irt.item_fit import ItemFit, bootstrap_item_fit
from ...leaderboard.cross_fit import FEW_SYSTEMS, too_few_to_cross_fit
from ...leaderboard.linked import groups_by_query
from ...types import FloatArray
from ..loaders import Study
from ..text import percent


def ability_interval(study: Study) -> tuple[FloatArray, FloatArray]:
    """(low, high), (M,) each: intervals of θ from the information of all rubrics, at the settings' level.

    NaN if there are too few systems to cross-fit: these standard errors ignore a common shift and stretch of the axis,
    which dominates the error with few systems.
    """
    theta = study.calibration().fit.theta
    if too_few_to_cross_fit(len(theta)):
        return np.full_like(theta, np.nan), np.full_like(theta, np.nan)
    margin = float(ndtri((1 + study.settings.confidence) / 2)) * study.standard_errors()
    return theta - margin, theta + margin


def about_abilities(study: Study) -> str:
    """A sentence on the systems' marks in a chart of rubrics and systems: what they show and do not show."""
    reduction = study.reduction()
    level = percent(study.settings.confidence)
    said = (
        f"Fewer than {FEW_SYSTEMS} systems have no intervals of ability."
        if too_few_to_cross_fit(len(reduction.systems))
        else f"Lines: {level} intervals by the model alone, from all rubrics; the intervals on the leaderboard also "
        "allow for queries and judges."
    )
    groups = groups_by_query(reduction.y, query_positions(study.queries(), reduction))[1]
    if groups < 2:
        return said
    return (
        f"{said} The systems form {groups:,} groups that share too few queries for a common scale: abilities of two "
        "groups cannot be compared."
    )


@stage("seed", after=("calibration",), title="Comparing models on held-out labels", heavy=True)
def comparison(study: Study) -> Comparison:
    """Comparison of the binary response models; for ordered labels, the GRM only."""
    return compared_models(study.reduction(), study.settings)


@stage(after=("calibration",), heavy=True)
def spectrum(study: Study) -> Spectrum:
    """Eigenvalues of the residual correlations."""
    return spectrum_of(study.calibration().fit, study.reduction().y)


@stage(
    "seed", after=("calibration",), title="Comparing residuals with tables drawn from the model", heavy=True
)
def dependence(study: Study) -> Dependence:
    """Local dependence and the ratio of the first eigenvalues, compared with tables simulated from the model."""
    found = study.reduction()
    at = query_positions(study.queries(), found)
    return dependence_of(study.calibration().fit, found.y, at, study.settings.seed, study.progress)


@stage("seed", after=("calibration",), title="Fitting 100 tables drawn from the model", heavy=True)
def item_fit(study: Study) -> ItemFit:
    """Parametric bootstrap of every rubric's outfit; it takes seconds to minutes."""
    return bootstrap_item_fit(study.calibration().fit, study.reduction().y, seed=study.settings.seed)
