"""Votes on the validity of rubrics, and the log-odds of validity that follow (prop:bayes, eq:logodds)."""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from ..text import count
from ..types import FloatArray
from .rates import FEW_ANCHORS, JudgeRates


def leave_one_out_majority(panel: FloatArray) -> FloatArray:
    """(M, J, K) the strict majority of the other judges' 0/1 labels; NaN for a tie or if no other judge labelled."""
    known = ~np.isnan(panel)
    others = known.sum(axis=2, keepdims=True) - known
    passed = np.nansum(panel, axis=2, keepdims=True) - np.where(known, panel, 0)
    return np.where(2 * passed > others, 1.0, np.where(2 * passed < others, 0.0, np.nan))


def validity_votes(panel: FloatArray) -> FloatArray:
    """V (J, K): 1 iff judge k equals the others' majority on every cell of j that has one, else 0; NaN without a cell.

    panel: (M, J, K) labels 0/1; NaN unknown.
    """
    consensus = leave_one_out_majority(panel)
    comparable = ~np.isnan(panel) & ~np.isnan(consensus)
    astray = comparable & (panel != consensus)
    return np.where(comparable.any(axis=0), 1.0 - astray.any(axis=0), np.nan)


def validity_log_odds(votes: FloatArray, rates: JudgeRates) -> FloatArray:
    """eq:logodds (J,): log prior odds + Σ_k v log s⁺/(1 - s⁻) + (1 - v) log (1 - s⁺)/s⁻ over the known votes.

    A rubric without a vote keeps the prior odds; a judge without a rate is skipped.
    """
    right, refused = rates.sensitivity.value, rates.specificity.value
    for_, against = np.log(right) - np.log1p(-refused), np.log1p(-right) - np.log(refused)
    evidence = np.where(votes == 1, for_, against)
    return logit(rates.prevalence) + np.where(np.isnan(votes), 0, np.nan_to_num(evidence)).sum(axis=1)


def votes_note(p_valid: FloatArray, rates: JudgeRates) -> str:
    """A text on the meaning of the probabilities of rubrics (J,), NaN unknown: validity only with human verdicts."""
    likely, known = int((p_valid > 0.5).sum()), count(int(np.isfinite(p_valid).sum()), "rubric")
    if rates.source == "none":
        return (
            f"Which rubrics are valid is unknown: this needs {FEW_ANCHORS} human verdicts (anchors) of each kind, or "
            "three judges whose votes are shown to tell two kinds of rubrics apart."
        )
    verdicts = count(rates.n_anchors, "human verdict")
    if rates.source == "anchors":
        return (
            f"s⁺ and s⁻ come from {verdicts} on rubrics. More likely valid than not: {likely:,} of {known}."
        )
    without = (
        f"With {verdicts} on rubrics, too few to use alone," if rates.n_anchors else "Without human verdicts"
    )
    return (
        f"{without} nothing shows which rubrics are valid. The votes divide the rubrics into two kinds (Dawid–Skene), "
        f"which need not be valid and invalid; {likely:,} of {known} are more likely of the kind that judges vote for."
    )
