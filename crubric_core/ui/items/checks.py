"""Cached checks of the response model: which one the labels support, and where it does not hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from ...analysis.selection import query_positions
from ...analysis.stage import Key
from ...irt.comparison import Comparison, compare_models
from ...irt.dependence import LocalDependence, local_dependence, q3_among, worst_rubrics
from ...irt.diagnostics import Spectrum, residual_spectrum, residuals
from ...irt.fit import fit_irt
from ...irt.item_fit import ItemFit, bootstrap_item_fit, simulate_labels
from ...settings import Model
from ...types import FloatArray, IntArray
from ..loaders import FEW, Study, facts

BINARY_MODELS: tuple[Model, ...] = ("1PL", "2PL", "3PL")


def comparison(study: Study) -> Comparison:
    """The binary models compared; for ordered labels the GRM alone."""
    return _comparison((*study.key("calibration"), study.settings.seed), study)


@st.cache_resource(max_entries=FEW, show_spinner="Comparing models on held-out labels …")
def _comparison(key: Key, _study: Study) -> Comparison:
    settings, found = _study.settings, _study.reduction()
    models: tuple[Model, ...] = ("GRM",) if settings.model == "GRM" else BINARY_MODELS
    return compare_models(
        found.y, models, settings.quadrature, settings.priors, seed=settings.seed, levels=found.levels
    )


def spectrum(study: Study) -> Spectrum:
    """Eigenvalues of the residual correlations."""
    return _spectrum(study.key("calibration"), study)


@st.cache_resource(max_entries=FEW, show_spinner=False)
def _spectrum(key: Key, _study: Study) -> Spectrum:
    return residual_spectrum(residuals(_study.calibration().fit, _study.reduction().y))


@dataclass(frozen=True)
class Dependence:
    """Q3 of all pairs; how many a table simulated from the model has flagged; the worst rubrics, and Q3 among them."""

    found: LocalDependence
    chance: int
    rubrics: IntArray
    among: FloatArray


def dependence(study: Study) -> Dependence:
    """Local dependence compared with chance."""
    return _dependence((*study.key("calibration"), study.settings.seed), study)


@st.cache_resource(max_entries=FEW, show_spinner="Correlating residuals of all pairs of rubrics …")
def _dependence(key: Key, _study: Study) -> Dependence:
    fit, found, settings = _study.calibration().fit, _study.reduction(), _study.settings
    queries = query_positions(facts(_study).queries, found)
    drawn = simulate_labels(fit, found.y, np.random.default_rng([settings.seed, 8]))
    refit = fit_irt(drawn, fit.model, fit.quadrature, fit.priors, levels=fit.levels)
    chance = local_dependence(residuals(refit, drawn), queries, keep=1).n_flagged
    residual = residuals(fit, found.y)
    pairs = local_dependence(residual, queries)
    worst = worst_rubrics(pairs)
    return Dependence(pairs, chance, worst, q3_among(residual, worst))


def item_fit(study: Study) -> ItemFit:
    """The parametric bootstrap of every rubric's outfit; a few seconds to minutes."""
    return _item_fit((*study.key("calibration"), study.settings.seed), study)


@st.cache_resource(max_entries=2, show_spinner="Fitting 100 tables drawn from the model …")
def _item_fit(key: Key, _study: Study) -> ItemFit:
    fit = _study.calibration().fit
    return bootstrap_item_fit(fit, _study.reduction().y, seed=_study.settings.seed)
