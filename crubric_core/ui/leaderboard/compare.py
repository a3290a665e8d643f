"""Compare two systems: their difference by query, and the rubrics behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from ...analysis.claims import pair_sentence
from ...analysis.profile import head_to_head
from ...figures.profile import query_differences
from ...task_types.scoring import by_emphasis
from .. import table_widgets, widgets
from ..text import count, plain, short_names, verb
from . import rubric

if TYPE_CHECKING:
    from ...analysis.profile import HeadToHead
    from .view import View

EACH = 25
_number = st.column_config.NumberColumn


def show(view: View, system: str, versus: str) -> None:
    """Show the interval of the difference, the differences by query, and the rubrics on which the two differ."""
    study, ranked = view.study, view.ranked
    reduction, (one, other) = study.reduction(), (view.position(system), view.position(versus))
    share = reduction.y / (reduction.levels - 1)
    slope = study.calibration().fit.a
    scores = by_emphasis(ranked.scores).by_query  # the model's weights follow from these same labels
    found = head_to_head(scores, share, slope, ranked.use[ranked.fold], one, other)
    said = (
        pair_sentence(view.board, one, other)
        if view.claims
        else f"No claim about these two. {view.board.refused}"
    )
    first, second = (view.board.names[at] for at in (one, other))
    st.markdown(f"**{plain(said)}**")
    st.markdown(plain(queries_sentence(found, first, second)))
    left, right = st.columns([4, 3], gap="large")
    with left:
        widgets.show(
            query_differences(found.difference, study.queries()["query"].tolist(), system, versus),
            alt="Difference of the two systems' scores by query",
            title="Head to head, query by query",
        )
        st.markdown("**The rubrics on which they differ**")
        st.caption(plain(rubrics_sentence(found, first, second)))
        chosen = _rubrics(view, found, one, other)
    with right:
        if chosen is not None:
            rubric.show(view, chosen, (system, versus))


def queries_sentence(found: HeadToHead, first: str, second: str) -> str:
    """A sentence on how many queries each of the two systems has the higher score."""
    total = found.ahead + found.behind + found.equal
    if not total:
        return f"{first} and {second} share no query with a score."
    return (
        f"By score without the model's weights, {first} is better on {found.ahead:,} of "
        f"{count(total, 'query')}, {second} on {found.behind:,}; {_equal(found.equal)}."
    )


def rubrics_sentence(found: HeadToHead, first: str, second: str) -> str:
    """A sentence on how many rubrics each of the two systems has the better label."""
    same = found.compared - found.favours - found.against
    return (
        f"Of {count(found.compared, 'rubric')} in use that both were judged on, {first} does better on "
        f"{found.favours:,}, {second} on {found.against:,}; {_equal(same)}. Pull: difference of the labels times the "
        "rubric's discrimination, which is what a rubric adds to the difference of two abilities."
    )


def _equal(number: int) -> str:
    return f"{number:,} {verb(number, 'are')} equal"


def _rubrics(view: View, found: HeadToHead, one: int, other: int) -> int | None:
    reduction = view.study.reduction()
    ends = np.unique(np.r_[np.arange(min(EACH, len(found.rubrics))), np.arange(len(found.rubrics))[-EACH:]])
    if not len(ends):
        st.write("None: every label is the same." if found.compared else "None: no rubric is judged on both.")
        return None
    rows = found.rubrics[ends]
    share = reduction.y[:, rows] / (reduction.levels[rows] - 1)
    frame = reduction.rubrics.iloc[rows][["rubric", "query", "text"]].assign(
        one=share[one], other=share[other], pull=found.pull[ends]
    )
    frame.index = pd.Index(rows)
    first, second = short_names([view.every[one], view.every[other]], 16)
    columns = {
        "one": _number(first, format="%.2f"),  # a heading is shown as it is, no Markdown
        "other": _number(second, format="%.2f"),
        "pull": _number("pull", format="%+.2f"),
        "rubric": "rubric",
        "text": st.column_config.TextColumn("text", width="large"),
        "query": "query",
    }
    return table_widgets.pick_one(frame, columns, key=f"apart {one} {other}", rows=11)
