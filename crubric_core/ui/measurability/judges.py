"""Cached views of the judges: who is reliable, who agrees with whom, and what the rule of unanimity would cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from ...analysis.stage import Key
from ...experiments.leave_one_judge_out import JudgeInfluence, leave_one_judge_out
from ...experiments.results import ExperimentResult
from ...experiments.threshold_sweep import THRESHOLDS, sweep
from ...judges.attrition import Attrition, attrition_of
from ...judges.consensus import baseline_mask
from ...judges.report import JudgesReport, judges_report
from ..loaders import FEW, MANY, Study

TESTED = (*THRESHOLDS, 0.75, 0.85, 0.9)


def report(study: Study) -> JudgesReport:
    """Leniency, rates, weights, agreement and shared errors, from human labels where there are any."""
    return _report((study.fingerprint, study.settings.confidence, study.settings.seed), study)


@st.cache_resource(max_entries=FEW, show_spinner="Comparing judges …")
def _report(key: Key, _study: Study) -> JudgesReport:
    return _study.checked(judges_report(_study.dataset, _study.settings))


def influence(study: Study) -> JudgeInfluence:
    """The leaderboard without each judge; seconds to minutes."""
    return _influence(_everything(study), study)


@st.cache_resource(max_entries=FEW, show_spinner="Ranking the systems without each judge …")
def _influence(key: Key, _study: Study) -> JudgeInfluence:
    return _study.checked(leave_one_judge_out(_study.dataset, _study.settings))


def _everything(study: Study) -> Key:
    return (study.fingerprint, study.settings)


def swept(study: Study) -> ExperimentResult:
    """Kappa of the rubrics that each threshold keeps, the chosen one among them."""
    return _swept((*study.key("measurability"), study.settings.seed), study)


@st.cache_resource(max_entries=MANY, show_spinner="Sweeping the threshold …")
def _swept(key: Key, _study: Study) -> ExperimentResult:
    chosen = _study.gating()
    own = {chosen.threshold} if chosen.statistic == "agreement" and not chosen.off else set()
    thresholds = sorted({*TESTED, *own})
    return _study.checked(sweep(_study.dataset, _study.settings, thresholds=thresholds, splits=0))


def attrition(study: Study) -> Attrition:
    """How the rule of unanimity thins out the rubrics."""
    return _attrition((study.fingerprint,), study)


@st.cache_resource(max_entries=FEW, show_spinner="Counting unanimous panels …")
def _attrition(key: Key, _study: Study) -> Attrition:
    return attrition_of(_study.panel("binary"))


def compared_with_baseline(study: Study) -> pd.DataFrame:
    """One row a rubric: n_agree, n_total, q_mean, split (systems the judges disagree on), nu, here, baseline, why.

    here: passes the gate and varies. baseline: all judges agree on every system, and some pass, some fail.
    """
    found = study.reduction()
    consistent, discriminating = baseline_mask(found)
    here = study.feasible & ~study.calibration().fit.constant
    table = study.measurability()[["rubric", "query", "n_agree", "n_total", "q_mean"]].copy()
    table["split"] = table["n_total"] - table["n_agree"]
    table["nu"] = study.calibration().nu
    table["here"], table["baseline"] = here, consistent & discriminating
    split = "judges split on " + table["split"].astype(str) + " of " + table["n_total"].astype(str)
    table["why"] = np.where(consistent, np.where(discriminating, "", "same label for every system"), split)
    return table
