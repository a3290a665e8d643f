"""A gate that no useful rubric passes: explain it on the page, and offer thresholds that leave some rubrics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from ..irt.fit import constant_rubrics
from ..judges.gate import shown_threshold
from ..judges.nothing_passes import SAME_FOR_ALL, nearest_threshold
from ..settings import LOWEST_TAU
from . import state
from .settings_bar import LEFT_END
from .text import count, numeral

if TYPE_CHECKING:
    from .page import StudyPage

FIRST = 100  # rubrics that pass and are checked first: almost always one of them varies, and the rest is not needed
WHAT = {"kappa": "agreement beyond chance (κ)", "agreement": "agreement rate"}


def nothing_passes(study: StudyPage) -> bool:
    """Whether no rubric that varies between systems passes the gate; if so, it explains this on the page."""
    gate, y = study.gating(), study.given().y
    if not constant_rubrics(y[:, np.flatnonzero(gate.feasible)[:FIRST]]).all():
        return False
    varying = ~constant_rubrics(y)
    if (gate.feasible & varying).any():
        return False
    nearest = nearest_threshold(gate, varying)
    if nearest is None:
        study.answer("Nothing to rank by.", SAME_FOR_ALL)
        return True
    study.answer(f"No rubric passes τ_c = {shown_threshold(gate)}, so there is nothing to rank by.")
    st.write(
        f"The highest {WHAT[gate.statistic]} of a rubric on which systems differ is {numeral(nearest.best, 'z.3f')}. "
        f"τ_c = {numeral(nearest.tau_c)} leaves {count(nearest.passing, 'rubric')}."
    )
    enough = study.verdict().remedy
    if enough is not None and enough < nearest.tau_c:
        st.write(f"A claim about systems needs more: τ_c = {numeral(enough)} or less leaves enough of them.")
    offer_thresholds(study, nearest.tau_c, enough)
    return True


def offer_thresholds(study: StudyPage, *taus: float | None) -> None:
    """Show a button for each threshold that the slider can reach, and one for the default; None values are skipped."""
    thresholds = dict.fromkeys(tau for tau in taus if tau is not None and _reached(study, tau))
    with st.container(horizontal=True):
        for tau in thresholds:
            st.button(f"Use τ_c = {numeral(tau)}", on_click=_use, args=(tau,))
        if study.settings.tau_c is not None:
            st.button("Drop the lowest quarter instead", on_click=_use, args=(None,))


def _reached(study: StudyPage, tau_c: float) -> bool:
    """Whether the slider can go down to this threshold."""
    return tau_c >= max(LOWEST_TAU[study.settings.gate], LEFT_END)


def _use(tau_c: float | None) -> None:
    state.hold_settings(replace(state.held(), tau_c=tau_c))
    st.rerun()  # of the page: the button may be in a part of it
