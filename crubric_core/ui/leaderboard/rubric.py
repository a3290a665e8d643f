"""An opened rubric: its text and scale, its labels, and the answers of systems with the judges' reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from ...figures.leaderboard import window
from ...figures.measurability import label_grid
from .. import loaders, rubric_head, widgets
from ..text import numeral, plain, short_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from .view import View

MOST_ROWS = 30  # systems in a grid
LONGEST = 6000  # characters of an answer that are shown


def show(view: View, at: int, systems: Sequence[str]) -> None:
    """Show the rubric at position ``at`` of the study, with answers and reasons for these systems."""
    study = view.study
    reduction = study.reduction()
    rubric = reduction.rubrics.iloc[at]
    rubric_head.show(rubric, _agreement(view, at), ordered=reduction.response == "ordered")
    key = f"system clicked in the labels of {at} beside {systems}"
    _grid(view, at, systems, key)
    clicked = st.session_state.get(key)
    for system in dict.fromkeys(systems if clicked is None else (clicked, *systems)):
        _evidence(view, rubric, system)


def _agreement(view: View, at: int) -> str:
    gate = view.study.gating()
    if gate.off or not np.isfinite(gate.values[at]):
        return ""
    return f" Judges' {gate.statistic} on it: {numeral(gate.values[at])}."


def _grid(view: View, at: int, systems: Sequence[str], key: str) -> None:
    """Grid of labels, systems × judges, the best system first; of many systems those around the first of ``systems``.

    A click stores the system of its row in the session under ``key``.
    """
    study, facts = view.study, loaders.facts(view.study)
    reduction, order = study.reduction(), view.at
    chosen = view.systems.index(systems[0]) if systems[0] in view.systems else None
    part = order[window(len(order), chosen, MOST_ROWS)]
    rubric = reduction.rubrics.iloc[at]
    documented = _has_answers_or_reasons(view, rubric)

    def clicked(cell: widgets.Mark) -> None:
        st.session_state[key] = facts.systems[part[int(cell.y)]]

    widgets.show(
        label_grid(
            loaders.rubric_panel(study, at)[part],
            loaders.rubric_panel(study, at, "ordered")[part] + rubric["scale_min"],
            [facts.systems[i] for i in part],
            facts.judges,
            int(reduction.levels[at]),
            graded=bool(rubric["scale_max"] - rubric["scale_min"] > 1),
        ),
        alt="Labels of the opened rubric, systems by judges",
        title="Labels, systems by judges",
        look="Click a cell to read the answer and reasons of its system." if documented else "",
        on_click=clicked if documented else None,
    )


def _has_answers_or_reasons(view: View, rubric: pd.Series[Any]) -> bool:
    """Whether the dataset has answers to the rubric's query, or reasons of judges for its labels."""
    said, answers = loaders.labels_and_answers(view.study, str(rubric["rubric"]), str(rubric["query"]))
    return "reason" in said or not answers.empty


def _evidence(view: View, rubric: pd.Series[Any], system: str) -> None:
    """Show the system's answer and each judge's reason, or a note that the dataset has neither."""
    data, query = view.study.dataset, str(rubric["query"])
    labels = data.labels(system=system, query=query, rubric=str(rubric["rubric"]))
    answers = data.answers(system, query)
    reasons = labels[labels["reason"].notna()] if "reason" in labels else labels.iloc[:0]
    if answers.empty and reasons.empty:
        st.caption(
            f"The dataset has no answer of {plain(short_name(system))} here, and no reason of a judge."
        )
        return
    with st.expander(f"{plain(short_name(system))}: answer and reasons", expanded=True):
        for text in answers["text"].head(1):
            st.caption("Answer")
            st.text(_cut(str(text)))
        for judge, label, reason in reasons[["judge", "label", "reason"]].itertuples(index=False):
            given = float(label)
            st.caption(plain(f"{judge}: {'no label' if np.isnan(given) else f'{given:g}'}"))
            st.text(_cut(str(reason)))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text) - LONGEST:,} more characters)"
