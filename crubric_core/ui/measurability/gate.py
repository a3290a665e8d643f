"""The gate on screen: what its threshold is, what it costs, and whether what remains can carry a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from ...errors import CrubricError
from ...figures.measurability import measurability_histogram
from ...judges.gate_price import gate_prices
from ...judges.measurability import STATISTIC_NAMES, agreements_needed, possible_values, shown_threshold
from .. import widgets
from ..text import count, plain
from .rules import compared_with_rules

if TYPE_CHECKING:
    from ...judges.measurability import Gate
    from ..page import StudyPage


def answer(study: StudyPage, *first: str) -> None:
    """How many rubrics pass; ``first`` goes before it."""
    gate, total = study.gating(), len(study.measurability())
    if gate.off:
        study.answer(
            f"Nothing was labelled by two judges, so agreement is unknown: the gate is off and all "
            f"{count(total, 'rubric')} stay."
        )
        return
    kept = int(gate.feasible.sum())
    uses = "rubric κ, agreement beyond chance" if gate.statistic == "kappa" else "the agreement rate"
    study.answer(
        *first,
        f"{kept:,} of {count(total, 'rubric')} pass τ_c = {shown_threshold(gate)}{_in_counts(gate)}; "
        f"{total - kept:,} do not.",
        f"The gate uses {uses}" + ("." if gate.given else "; this threshold drops the lowest quarter."),
    )


def _in_counts(gate: Gate) -> str:
    """The threshold as a number of systems, where that means something."""
    instances = int(np.median(gate.n_total))
    needed = agreements_needed(gate, instances)
    return "" if needed is None else f" ({needed} of {count(instances, 'system')})"


def show(study: StudyPage) -> None:
    """The histogram of the statistic, and the price of the threshold next to it."""
    gate = study.gating()
    if gate.off:
        st.info("With one judge there is nothing to compare: add the labels of a second and a third one.")
        return
    left, right = st.columns([3, 1], gap="large")
    with left:
        widgets.show(
            measurability_histogram(
                gate.values,
                gate.feasible,
                gate.threshold,
                possible_values(gate),
                STATISTIC_NAMES[gate.statistic],
            ),
            alt=f"Rubrics by the gate's statistic ({gate.statistic}), kept and dropped",
            title="Rubrics by measurability",
            look="how many rubrics stand just below the line: they cost information and say little about quality.",
        )
    with right:
        _price(study)
    with st.expander("Compared with rules of perfect agreement"):
        compared_with_rules(study.reduction(), int(gate.feasible.sum()))


def _price(study: StudyPage) -> None:
    """What the threshold costs; unknown where no model can be fitted."""
    st.markdown("**What this threshold costs**")
    try:
        nu, verdict = study.calibration().nu, study.verdict()
    except CrubricError as error:
        st.write(plain(f"Unknown, as no model can be fitted: {error}"))
        return
    gate, reduction = study.gating(), study.reduction()
    query = np.unique(reduction.rubrics["query"].to_numpy(dtype=str), return_inverse=True)[1]
    found = gate_prices(gate.values, [gate.threshold], nu, query, reduction.n_judges)
    share = found.information[0]
    st.metric("Rubrics that pass and carry information", f"{found.informative[0]:,}")
    st.metric("Information kept", widgets.UNKNOWN if np.isnan(share) else f"{share:.0%}")
    st.metric("Queries left without such a rubric", f"{found.queries_lost[0]:,}")
    st.metric("Labels for a new system on all of them", f"{found.judge_calls[0]:,}")
    if not verdict.holds:
        answer(study, verdict.sentence)
