"""Item parameters at known abilities: the mode of prior × likelihood, also for rubrics whose labels are all equal.

A rubric that all systems pass has no maximum likelihood estimate, but with proper priors it has a mode: it is as easy
as the prior permits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..settings import Model, Priors
from ..types import FloatArray, IntArray
from .fit import bind_model
from .models import ItemModel, ItemParameters
from .optimise import maximise

TOLERANCE = 1e-12  # predicted gain relative to the objective
RELATIVE_GRADIENT = 1e-6
MAX_EVALUATIONS = 200
FIXED = 1e-4  # sd of log a where the slope is given; it then moves by less than this


@dataclass(frozen=True)
class _Value:
    value: float
    gradient: FloatArray
    _model: ItemModel
    _information: FloatArray
    _curvature: FloatArray

    def precondition(self, vector: FloatArray) -> FloatArray:
        return self._model.solve(self._information, self._curvature, vector)


def item_modes(
    y: FloatArray,
    theta: FloatArray,
    model: Model,
    priors: Priors,
    levels: IntArray,
    *,
    slope: float | None = None,
) -> ItemParameters:
    """Modes of the parameters of each rubric of ``y`` (M, J), given the systems' abilities ``theta`` (M,).

    slope: the known common slope of the 1PL. NaN for a rubric without any label, and for all rubrics under a flat
    prior, which has no mode. Rubrics with equal labels have equal modes.
    """
    width = y.shape[1]
    flat = priors.log_a_sd is None or priors.b_sd is None or (model == "3PL" and priors.c_beta is None)
    labelled = np.flatnonzero((~np.isnan(y)).any(axis=0))
    if flat or not labelled.size:
        return _nowhere(width, model, levels)
    codes = np.vstack([np.where(np.isnan(y), -1, y), levels])[:, labelled]
    _, first, same = np.unique(codes, axis=1, return_index=True, return_inverse=True)
    source = labelled[first]
    found = _modes(y[:, source], theta, model, priors, levels[source], slope)
    place = np.full(width, -1)
    place[labelled] = same.ravel()
    return _placed(found, place)


def _modes(
    y: FloatArray, theta: FloatArray, model: Model, priors: Priors, levels: IntArray, slope: float | None
) -> ItemParameters:
    if model == "1PL":
        # sigma(a (theta - b)) = sigma(a theta - a b): a rubric of slope 1 and difficulty a b among abilities a theta.
        a, b_sd = slope or 1.0, priors.b_sd or 1.0
        unit = _modes(y, a * theta, "2PL", Priors(log_a_sd=FIXED, b_sd=a * b_sd), levels, None)
        return ItemParameters(np.full(len(unit.b), a), unit.b / a, unit.c, None)
    bound = bind_model(np.ascontiguousarray(y), model, priors, levels)
    each = np.eye(len(theta))

    def value(x: FloatArray) -> _Value:
        loglik, constant = bound.forward(x, theta)
        score = bound.backward(x, theta, each)
        prior, gradient, curvature = bound.log_prior(x)
        total = float(np.trace(loglik)) + constant + prior
        return _Value(total, score.gradient + gradient, bound, score.information, curvature)

    best = maximise(value, bound.start(), TOLERANCE, RELATIVE_GRADIENT, MAX_EVALUATIONS)
    return bound.items(best.point)


def _nowhere(width: int, model: Model, levels: IntArray) -> ItemParameters:
    nothing = np.full(width, np.nan)
    steps = np.full((width, int(levels.max()) - 1), np.nan) if model == "GRM" else None
    return ItemParameters(nothing, nothing.copy(), nothing.copy(), steps)


def _placed(items: ItemParameters, place: IntArray) -> ItemParameters:
    """The parameters of ``items`` with the indices ``place`` (J,); NaN where an index is -1."""

    def at(values: FloatArray) -> FloatArray:
        keep = (place >= 0).reshape(-1, *[1] * (values.ndim - 1))
        return np.where(keep, values[place], np.nan)

    thresholds = None if items.thresholds is None else at(items.thresholds)
    return ItemParameters(at(items.a), at(items.b), at(items.c), thresholds)
