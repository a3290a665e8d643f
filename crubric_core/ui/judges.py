"""Cached views of the judges: who is reliable, who agrees with whom, and what the rule of unanimity would cost."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
import streamlit as st

from ..experiments.inputs import gold_labels
from ..experiments.leave_one_judge_out import JudgeInfluence, leave_one_judge_out
from ..experiments.results import ExperimentResult
from ..experiments.threshold_sweep import THRESHOLDS, sweep
from ..judges.agreement import Agreement, Coefficient, agreement
from ..judges.attrition import (
    BetaMixtureFit,
    HomogeneousFit,
    RetentionCurve,
    attrition_counts,
    fit_beta_mixture,
    fit_homogeneous,
    retention_curve,
)
from ..judges.consensus import baseline_mask
from ..judges.reliability import JudgeReliability, judge_reliability
from ..judges.resampling import Bootstrap
from .loaders import FEW, MANY, Key, Study, calibration, facts, gate, panel, pool, reduction

REPLICATES = 300
TESTED = (*THRESHOLDS, 0.75, 0.85, 0.9)
PANEL: dict[Coefficient, str] = {
    "percent": "equal labels",
    "fleiss": "Fleiss' κ",
    "alpha_nominal": "Krippendorff's α",
}
ORDINAL: dict[Coefficient, str] = {"alpha_ordinal": "… ordinal"}


def _drawn(study: Study) -> Key:
    return (study.fingerprint, study.settings.confidence, study.settings.seed)


def reliability(study: Study) -> JudgeReliability:
    """Leniency, rates, weights and shared errors, from human labels where there are any."""
    return _reliability(_drawn(study), study)


@st.cache_resource(max_entries=FEW, show_spinner="Comparing the judges …")
def _reliability(key: Key, _study: Study) -> JudgeReliability:
    found, settings = reduction(_study), _study.settings
    gold = gold_labels(_study.dataset, found)
    how = Bootstrap(confidence=settings.confidence, seed=settings.seed)
    return judge_reliability(panel(_study, "binary"), facts(_study).judges, found.rubrics, gold, None, how)


def agreements(study: Study) -> pd.DataFrame:
    """Columns measure, raters, value, low, high, n_units: the whole panel first, then each pair of judges."""
    return _agreements(_drawn(study), study)


@st.cache_resource(max_entries=FEW, show_spinner="Measuring agreement …")
def _agreements(key: Key, _study: Study) -> pd.DataFrame:
    names, scale = facts(_study).judges, facts(_study).scale
    everyone = f"all {len(names)} judges"
    rows = [(word, everyone, _agree(_study, name)) for name, word in PANEL.items()]
    if scale is not None and scale.levels > 2:
        rows += [(word, everyone, _agree(_study, name, ordered=True)) for name, word in ORDINAL.items()]
    for pair in combinations(range(len(names)), 2):
        rows.append(("Cohen's κ", " – ".join(names[k] for k in pair), _agree(_study, "cohen", pair)))
    return pd.DataFrame(
        [(word, who, a.value, a.low, a.high, a.n_units) for word, who, a in rows],
        columns=["measure", "raters", "value", "low", "high", "n_units"],
    )


def _agree(
    study: Study, coefficient: Coefficient, judges: tuple[int, ...] | None = None, *, ordered: bool = False
) -> Agreement:
    """Units are (system, rubric); rubrics are drawn whole."""
    labels = panel(study, "ordered" if ordered else "binary")
    n_systems, n_rubrics, n_judges = labels.shape
    units = labels.reshape(-1, n_judges)[:, list(judges or range(n_judges))]
    settings = study.settings
    how = Bootstrap(REPLICATES, settings.confidence, settings.seed)
    return agreement(units, coefficient, how, np.tile(np.arange(n_rubrics), n_systems))


def influence(study: Study) -> JudgeInfluence:
    """The leaderboard without each judge; seconds to minutes."""
    return _influence(_everything(study), study)


@st.cache_resource(max_entries=FEW, show_spinner="Ranking the systems without each judge …")
def _influence(key: Key, _study: Study) -> JudgeInfluence:
    return leave_one_judge_out(_study.dataset, _study.settings)


def _everything(study: Study) -> Key:
    return (study.fingerprint, study.settings)


def swept(study: Study) -> ExperimentResult:
    """Kappa of the rubrics that each threshold keeps, the chosen one among them."""
    return _swept((*study.key("gate"), study.settings.seed), study)


@st.cache_resource(max_entries=MANY, show_spinner="Sweeping the threshold …")
def _swept(key: Key, _study: Study) -> ExperimentResult:
    thresholds = sorted({*TESTED, _study.settings.tau_c})
    return sweep(_study.dataset, _study.settings, thresholds=thresholds)


@dataclass(frozen=True)
class Attrition:
    """Retention under unanimity, exactly up to the systems there are, and the two models that go on."""

    curve: RetentionCurve
    homogeneous: HomogeneousFit
    mixture: BetaMixtureFit


def attrition(study: Study) -> Attrition:
    """How the rule of unanimity thins out the rubrics."""
    return _attrition((study.fingerprint,), study)


@st.cache_resource(max_entries=FEW, show_spinner="Counting unanimous panels …")
def _attrition(key: Key, _study: Study) -> Attrition:
    labels = panel(_study, "binary")
    counts = attrition_counts(labels)
    curve = retention_curve(counts)
    homogeneous = fit_homogeneous(curve.m, curve.consistency, labels.shape[2])
    return Attrition(curve, homogeneous, fit_beta_mixture(counts, curve))


def beside_baseline(study: Study) -> pd.DataFrame:
    """One row a rubric: n_agree, n_total, q_mean, split (systems the judges disagree on), nu, here, baseline, why.

    here: passes the gate and varies. baseline: all judges agree on every system, and some pass, some fail.
    """
    found = reduction(study)
    consistent, discriminating = baseline_mask(found)
    here = np.zeros(len(consistent), dtype=bool)
    here[pool(study)] = True
    table = gate(study)[["rubric", "query", "n_agree", "n_total", "q_mean"]].copy()
    table["split"] = table["n_total"] - table["n_agree"]
    table["nu"] = calibration(study).nu
    table["here"], table["baseline"] = here, consistent & discriminating
    split = "judges split on " + table["split"].astype(str) + " of " + table["n_total"].astype(str)
    table["why"] = np.where(consistent, np.where(discriminating, "", "same label for every system"), split)
    return table
