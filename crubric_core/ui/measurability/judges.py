"""Cached results about the judges: their reliability and agreement, and what the rule of unanimity would cost."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...analysis.stage import EVERY, stage
from ...experiments.leave_one_judge_out import JudgeInfluence, leave_one_judge_out
from ...experiments.results import ExperimentResult
from ...experiments.threshold_sweep import THRESHOLDS, sweep
from ...judges.attrition import Attrition, attrition_of
from ...judges.consensus import baseline_mask
from ...judges.report import JudgesReport, judges_report
from ..loaders import Study

TESTED = (*THRESHOLDS, 0.75, 0.85, 0.9)


@stage("confidence", "seed", title="Comparing judges", heavy=True, of_content=True)
def report(study: Study) -> JudgesReport:
    """Leniency, rates, weights, agreement and shared errors of the judges, based on human labels if there are any."""
    return judges_report(study.dataset, study.settings)


@stage(*EVERY, title="Ranking the systems without each judge", heavy=True, of_content=True)
def influence(study: Study) -> JudgeInfluence:
    """The leaderboard without each judge in turn; it takes seconds to minutes."""
    return leave_one_judge_out(study.dataset, study.settings)


@stage("seed", after=("measurability",), title="Sweeping the threshold", of_content=True)
def swept(study: Study) -> ExperimentResult:
    """Kappa of the rubrics that each threshold keeps, including the threshold in use if the gate is by agreement."""
    chosen = study.gating()
    own = {chosen.threshold} if chosen.statistic == "agreement" and not chosen.off else set()
    return sweep(study.dataset, study.settings, thresholds=sorted({*TESTED, *own}), splits=0)


@stage(title="Counting unanimous panels", heavy=True)
def attrition(study: Study) -> Attrition:
    """The attrition of rubrics under the rule of unanimity as systems join."""
    return attrition_of(study.panel("binary"))


def compared_with_baseline(study: Study) -> pd.DataFrame:
    """One row a rubric: n_agree, n_total, q_mean, split (systems the judges disagree on), nu, here, baseline, why.

    here: whether it passes the gate and varies. baseline: whether all judges agree on every system, and both outcomes
    occur. why: the reason if it is not in the baseline, else "".
    """
    found = study.reduction()
    baseline = baseline_mask(found)
    here = study.feasible & ~study.calibration().fit.constant
    table = study.measurability()[["rubric", "query", "n_agree", "n_total", "q_mean"]].copy()
    table["split"] = table["n_total"] - table["n_agree"]
    table["nu"] = study.calibration().nu
    table["here"], table["baseline"] = here, baseline
    split = "judges split on " + table["split"].astype(str) + " of " + table["n_total"].astype(str)
    table["why"] = np.where(found.unanimous, np.where(baseline, "", "same outcome for every system"), split)
    return table
