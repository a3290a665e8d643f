"""The gate on the page: its threshold, what it costs, and whether the remaining rubrics support a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from ...analysis.selection import query_positions
from ...errors import CrubricError
from ...figures.measurability import histogram_edges, measurability_histogram, price_curve
from ...judges.gate import (
    STATISTIC_NAMES,
    agreements_needed,
    lowest_quarter,
    possible_values,
    shown_threshold,
)
from ...judges.gate_price import gate_prices
from .. import state, widgets
from ..charts import computed, drawn
from ..nothing_passes import offer_thresholds
from ..settings_bar import keep_from
from ..text import UNKNOWN, count, plain, rounded, verb
from .rules import compared_with_rules

if TYPE_CHECKING:
    from ...judges.gate import Gate
    from ...judges.gate_price import GatePrices
    from ...types import BoolArray, FloatArray, IntArray
    from ..page import StudyPage

STEPS = 100  # steps per unit of the threshold, on the price curve as on its slider
HISTOGRAM = "measurability histogram"  # its key; in the session, a number that changes to clear its selection


def answer(study: StudyPage, *first: str) -> None:
    """Answer how many rubrics pass. first: sentences before that."""
    gate, total = study.gating(), len(study.reduction().rubrics)
    if gate.off:
        study.answer(
            f"Nothing was labelled by two judges, so agreement is unknown: the gate is off and all "
            f"{count(total, 'rubric')} stay."
        )
        return
    if not np.isfinite(gate.values).any():
        study.answer(
            *first,
            f"Rubric κ is undefined for every rubric, because where two judges labelled one, all labels are the same: "
            f"all {count(total, 'rubric')} stay.",
        )
        return
    kept = int(gate.feasible.sum())
    passes = "passes" if kept == total == 1 else "pass"
    uses = "rubric κ, agreement beyond chance" if gate.statistic == "kappa" else "the agreement rate"
    study.answer(
        *first,
        f"{kept:,} of {count(total, 'rubric')} {passes} τ_c = {shown_threshold(gate)}{_in_counts(gate)}; "
        f"{total - kept:,} {verb(total - kept, 'do')} not.",
        f"The gate uses {uses}" + ("." if gate.given else f"; {own_threshold(gate)}."),
    )


def own_threshold(gate: Gate) -> str:
    """A clause on the effect of the threshold that follows from the labels; rubrics that reach it exactly all stay."""
    measured = np.isfinite(gate.values) & (gate.n_total > 0)
    if measured.sum() < 4:
        return "this threshold drops none, because fewer than four rubrics have no lowest quarter"
    if (~gate.feasible).sum() >= measured.sum() // 4:
        of = "" if (gate.n_total > 0).all() else " of those that two judges labelled"
        return f"this threshold drops the lowest quarter{of}"
    if gate.threshold < lowest_quarter(gate.values[measured]):
        return (
            "this threshold is the value of rubrics of which no cell has labels of two judges, and these stay"
        )
    return "this threshold is where the lowest quarter ends, and rubrics that reach it exactly stay"


def _in_counts(gate: Gate) -> str:
    """The threshold as a number of systems, out of a rubric's median number of instances; "" if not possible."""
    instances = int(np.median(gate.n_total[gate.n_total > 0]))
    needed = agreements_needed(gate, instances)
    return "" if needed is None else f" ({needed} of {count(instances, 'system')})"


def show(study: StudyPage) -> None:
    """Show the histogram of the gate's statistic, the price curve and what the threshold costs."""
    gate = study.gating()
    if gate.off:
        st.info(nothing_to_compare(study.given().n_judges))
        return
    if not np.isfinite(gate.values).any():
        st.info(
            "Where two judges labelled a rubric, all its labels are the same: agreement beyond chance is undefined."
        )
        return
    prices = _prices(study)
    left, right = st.columns([3, 1], gap="large")
    with left:
        _histogram(gate)
        if not isinstance(prices, str):
            _price_curve(gate, prices)
    with right:
        _price(study, prices)
    with st.expander("Compared with rules of perfect agreement"):
        compared_with_rules(study.reduction(), int(gate.feasible.sum()))


def nothing_to_compare(n_judges: int) -> str:
    """A sentence on why agreement is unknown if no cell has labels of two judges, and what to do."""
    if n_judges > 1:
        return "No two judges labelled the same cell, so there is nothing to compare: have them label the same answers."
    return "With one judge there is nothing to compare: add the labels of a second and a third one."


def _histogram(gate: Gate) -> None:
    """Histogram of the statistic. Dragging a range moves the threshold; a click on a bar lists its rubrics."""

    def dragged(low: float, high: float) -> None:
        one = _bar(gate, low) == _bar(gate, high)
        state.hold_words(state.BAR, f"{low:.6g}" if one else "")
        if not one:
            keep_from(low)

    widgets.show_brushable(
        drawn(
            measurability_histogram,
            *(gate.values, gate.feasible, gate.threshold, possible_values(gate)),
            STATISTIC_NAMES[gate.statistic],
        ),
        f"Rubrics by the gate's statistic ({gate.statistic}), kept and dropped",
        f"{HISTOGRAM} {st.session_state.get(HISTOGRAM, 0)}",
        dragged,
        lambda: state.hold_words(state.BAR, ""),
        title="Rubrics by the gate's statistic",
        look="Drag across the bars that should stay: the threshold moves to their left end. "
        "Click a bar to list its rubrics.",
    )


def of_the_bar(gate: Gate) -> BoolArray:
    """(J,) the rubrics of the clicked bar, with a note on the page; all True if no bar was clicked.

    The page's address holds the bar.
    """
    held, every = state.held_words(state.BAR), np.ones(len(gate.values), dtype=bool)
    if not held or gate.off or not np.isfinite(gate.values).any():
        return every
    at = pd.to_numeric(held, errors="coerce")
    if not np.isfinite(at):
        state.hold_words(state.BAR, "")
        state.ignore(f"{state.BAR}={held}")
        state.warn_of_ignored_parameters()
        return every
    bar = int(_bar(gate, float(at)))
    low, high = histogram_edges(gate.values, possible_values(gate))[bar : bar + 2]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"Only rubrics of the bar from {low:.2f} to {high:.2f}.", width="content")
        if st.button("List all rubrics", key="list all rubrics"):
            state.hold_words(state.BAR, "")
            st.session_state[HISTOGRAM] = st.session_state.get(HISTOGRAM, 0) + 1
            st.rerun()
    return np.asarray(np.isfinite(gate.values) & (_bar(gate, gate.values) == bar))


def _bar(gate: Gate, values: FloatArray | float) -> IntArray:
    """Indices of the histogram's bars that contain these values; beyond its ends, the first or the last bar."""
    edges = histogram_edges(gate.values, possible_values(gate))
    return np.asarray(np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2))


def _prices(study: StudyPage) -> tuple[GatePrices, GatePrices] | str:
    """(price of this threshold, prices of all thresholds), or the reason why no model can be fitted."""
    try:
        nu = study.calibration().nu
    except CrubricError as error:
        return str(error)
    gate, reduction = study.gating(), study.reduction()
    query = query_positions(study.queries(), reduction)
    lowest = np.floor(STEPS * min(0.0, float(histogram_edges(gate.values)[0])))
    taus = np.arange(lowest, STEPS + 1) / STEPS
    here, curve = (
        computed(gate_prices, gate.values, at, nu, query, reduction.labels_per_cell)
        for at in ([gate.threshold], taus)
    )
    return here, curve


def _price_curve(gate: Gate, prices: tuple[GatePrices, GatePrices]) -> None:
    def clicked(mark: widgets.Mark) -> None:
        keep_from(mark.x)
        st.rerun()  # of the page: the slider moves, too

    widgets.show(
        drawn(price_curve, prices[1], len(gate.values), gate.threshold, STATISTIC_NAMES[gate.statistic]),
        alt="Shares of rubrics, information and queries that each threshold keeps",
        title="What each threshold keeps",
        look="Where information falls faster than rubrics, a higher threshold drops the more informative ones. "
        "Click a point to move the threshold there.",
        on_click=clicked,
    )


def _price(study: StudyPage, prices: tuple[GatePrices, GatePrices] | str) -> None:
    """Show what the threshold costs, or why that is unknown."""
    st.markdown("**What this threshold costs**")
    if isinstance(prices, str):
        st.write(plain(f"Unknown, as no model can be fitted: {prices}"))
        return
    found = prices[0]
    share = found.information[0]
    st.metric("Informative rubrics kept", f"{found.informative[0]:,}")
    st.metric("Information kept", UNKNOWN if np.isnan(share) else rounded(share))
    worth = study.gate_worth()
    kept = np.nan if worth is None else worth.kept.estimate
    st.metric(
        "Separated pairs kept",
        UNKNOWN if np.isnan(kept) else rounded(kept),
        help=f"Of the {'' if worth is None else f'{worth.separated:,} '}pairs that all rubrics together separate, the "
        "share that the rubrics that pass separate in the same order. Each system is placed without its own "
        "labels.",
    )
    none = len(study.queries()) - found.queries
    st.metric(
        "Queries left without a rubric",
        f"{found.queries_lost[0]:,} of {found.queries:,}",
        help="Of the queries with an informative rubric"
        + (f"; {none:,} more {verb(none, 'have')} none whatever the threshold" if none else ""),
    )
    st.metric(
        "Labels a new system needs",
        f"{found.judge_calls[0]:,}",
        help=f"The informative rubrics that are kept, with {study.reduction().labels_of_each}",
    )
    if not (verdict := study.verdict()).holds:
        answer(study, verdict.sentence)
        offer_thresholds(study, verdict.remedy)
