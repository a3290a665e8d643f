"""Fit an item model again to other systems, as each fold of a cross-fit does (docs/method.md §10)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..types import BoolArray, FloatArray
from .fit import IrtFit, begin, bind_model, constant_rubrics, with_items
from .item_modes import item_modes
from .models import ItemParameters
from .objective import MarginalPosterior
from .optimise import maximise

TOLERANCE = 1e-12  # looser than a fit's own: abilities then agree to a thousandth of their standard errors
RELATIVE_GRADIENT = 1e-3  # relative to the gradient at the pooled estimates, which is small already
MAX_EVALUATIONS = 500


@dataclass(frozen=True)
class Refit:
    """items: parameters of all J rubrics, on the scale of these systems; NaN where they cannot be estimated.

    theta: (M',) EAP abilities; NaN for a system without a label on a rubric that varies.
    converged: whether the gradient vanished.
    """

    items: ItemParameters
    theta: FloatArray
    converged: bool


def refit(fit: IrtFit, y: FloatArray) -> Refit:
    """Fit the model of ``fit`` to the labels ``y`` (M', J) of other systems, starting from the parameters of ``fit``.

    Model, quadrature, priors and levels are those of ``fit``; rubrics that are constant in it stay NaN. A rubric that
    is constant only in ``y`` gets the mode of prior × likelihood at the estimated abilities (``item_modes``).
    """
    here = constant_rubrics(y)
    varying, modal = ~here & ~fit.constant, here & ~fit.constant
    theta, converged, items = np.zeros(len(y)), True, _unknown(fit)
    if varying.any():
        active = np.ascontiguousarray(y[:, varying])
        model = bind_model(active, fit.model, fit.priors, fit.levels[varying])
        objective = MarginalPosterior(model, fit.quadrature)
        best = maximise(
            objective,
            begin(model, fit.items.of(varying)),
            TOLERANCE,
            RELATIVE_GRADIENT,
            MAX_EVALUATIONS,
            objective.allows,
        )
        items = _with(items, varying, model.items(best.point))
        theta, converged = best.evaluation.posterior.mean, best.converged
    if modal.any():
        slope = float(np.nanmean(items.a if varying.any() else fit.a))
        levels = fit.levels[modal]
        found = item_modes(y[:, modal], theta, fit.model, fit.priors, levels, slope=slope)
        items = _with(items, modal, found)
    labelled = (~np.isnan(y[:, varying])).any(axis=1)
    return Refit(items, np.where(labelled, theta, np.nan), converged)


def as_fit(fit: IrtFit, items: ItemParameters) -> IrtFit:
    """``fit`` with its item parameters replaced, for functions that need an IrtFit; NaN rubrics become constant."""
    return replace(with_items(fit, items), constant=np.isnan(items.a))


def _unknown(fit: IrtFit) -> ItemParameters:
    thresholds = None if fit.thresholds is None else np.full_like(fit.thresholds, np.nan)
    a, b, c = np.full((3, len(fit.a)), np.nan)
    return ItemParameters(a, b, c, thresholds)


def _with(items: ItemParameters, rubrics: BoolArray, found: ItemParameters) -> ItemParameters:
    """``items`` with the parameters of ``rubrics`` replaced; a narrower table of thresholds fills its first columns."""
    a, b, c = items.a.copy(), items.b.copy(), items.c.copy()
    a[rubrics], b[rubrics], c[rubrics] = found.a, found.b, found.c
    thresholds = items.thresholds
    if thresholds is not None and found.thresholds is not None:
        thresholds = thresholds.copy()
        thresholds[np.flatnonzero(rubrics), : found.thresholds.shape[1]] = found.thresholds
    return ItemParameters(a, b, c, thresholds)
