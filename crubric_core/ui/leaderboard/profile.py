"""The profile of one system: its place, its scores by group of queries, and its surprises by rubric."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import streamlit as st

from ...analysis.board import level_of, other_judges
from ...analysis.claims import place_sentence
from ...analysis.profile import GroupScores, extremes, group_scores, surprises
from ...declarations import choice_words
from ...figures.profile import group_differences
from ...intervals import FEWEST_CLUSTERS
from ...task_types.scoring import by_emphasis
from .. import state, table_widgets, widgets
from ..text import end, plain, short_name, short_names
from . import compare, rubric
from .view import DIMENSION, choose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .view import View

PLACE = "profile"
ALL = "all queries"
EACH = 25  # rubrics listed on either side
_number = st.column_config.NumberColumn
RUBRICS = {
    "label": _number("label", format="%.2f", help="Consensus label as a share of the full mark"),
    "expected": _number("expected", format="%.2f"),  # _columns adds the help
    "residual": _number("surprise", format="%+.2f", help="Label less expectation"),
    "rubric": "rubric",
    "text": st.column_config.TextColumn("text", width="large"),
    "query": "query",
}


def card(view: View, system: str, versus: str | None) -> None:
    """Show the system's place in a few lines, and a choice of the system with which to compare it."""
    row = view.table[view.table["system"] == system].iloc[0]
    with st.container(border=True):
        st.html(f'<span id="{PLACE}"></span>')
        left, right = st.columns([5, 1])
        left.markdown(f"**{plain(short_name(system, 60))}**")
        right.button("✕", on_click=choose, args=(None,), help="Close the profile", key="close profile")
        st.markdown(" · ".join(plain(part) for part in _figures(view, row)))
        st.markdown(plain(place_sentence(view.board, view.position(system))))
        known = [f"{name.strip()}: {row[name]}" for name in view.facts if pd.notna(row[name])]
        if known:
            st.caption(plain(" · ".join(known)))
        st.session_state["versus choice"] = versus
        others = [name for name in view.systems if name != system]
        st.selectbox(
            "Compare with",
            others,
            index=None,
            format_func=dict(zip(others, short_names(others, 28), strict=True)).__getitem__,
            placeholder="another system",
            key="versus choice",
            on_change=_compare,
        )


def lead_to(system: str, where: Literal["above", "below"]) -> None:
    """Show a link to the profile's card, which is above or below; "below" is visible on narrow screens only."""
    with st.container(key=f"profile {where}"):
        st.markdown(f"[The profile of {plain(short_name(system, 40))} is open {where}: go to it](#{PLACE})")


def _compare() -> None:
    state.hold_system(state.VERSUS, st.session_state["versus choice"])


def _figures(view: View, row: pd.Series[Any]) -> list[str]:
    at = view.position(str(row["system"]))
    standing, said = view.board.standing, []
    if view.claims:
        low, high = row["rank_low"], row["rank_high"]
        said += [
            f"Tier {row['tier']}",
            f"rank {row['rank']}" + (f" ({low} to {high})" if low != high else ""),
        ]
    if not view.board.by_score:
        said.append(f"θ {end(row['theta'])} [{end(standing.low[at])}, {end(standing.high[at])}]")
    return [*said, f"score {row['score']:.3f}"]


def details(view: View, system: str, versus: str | None) -> None:
    """Show the whole profile: groups of queries, rubrics, and the comparison with ``versus``, if given."""
    parts = {
        "By group": partial(_groups, view, system),
        "Strongest and weakest rubrics": partial(_rubrics, view, system),
    }
    if versus:
        parts = {
            f"Compared with {plain(short_name(versus, 30))}": partial(compare.show, view, system, versus),
            **parts,
        }
    st.markdown(f"**Why {plain(short_name(system, 60))} stands there**")
    # Two containers: tabs that replace other tabs may take over their names, and open another tab than the server.
    alone, beside = st.container(), st.container()
    with alone if versus is None else beside:
        widgets.lazy_tabs(parts, key="why" if versus is None else "why two")


def _groups(view: View, system: str) -> None:
    at, whole = view.position(system), by_emphasis(view.ranked.scores).by_query
    found = {}
    for name, (names, parts) in view.groups.items():
        scores = [whole, *(np.where(np.isfinite(part), whole, np.nan) for part in parts)]
        groups = group_scores([ALL, *names], scores, view.weights, at, _level(view))
        found[f"Score by {name}, without the model's weights"] = groups
    dimensions = _dimensions(view, system)
    kinds = [*view.groups, *([DIMENSION] if dimensions is not None else [])]
    if dimensions is not None:
        found["Share of the mark by dimension of the rubrics"] = dimensions
    if not found:
        st.write(plain(no_groups(_values(view))))
        return
    for place, (title, groups) in zip(
        [*st.columns(2, gap="large"), st.container()], found.items(), strict=False
    ):
        with place:
            widgets.show(group_differences(groups), alt=f"{title}, compared with the others", title=title)
    st.caption(
        "Each mark is the mean difference from the other systems on the same queries (their number in brackets), with "
        f"its own {level_of(view.board)} interval over queries if there are at least {FEWEST_CLUSTERS}: among many "
        "groups, some exclude 0 by chance. The model's weights are left out because they come from these same labels."
        + other_judges(view.board, any(view.judges_differ(by) for by in kinds))
    )


def no_groups(values: Mapping[str, Sequence[str]]) -> str:
    """A sentence on why there are no groups to compare. values: kind of group → its values, none or a single one."""
    known = [f"one {name} ({short_name(found[0])})" for name, found in values.items() if found]
    lacking = [name for name, found in values.items() if not found]
    said = f"There is only {' and '.join(known)}, so no groups can be compared." if known else ""
    either = " or ".join(filter(None, [", ".join(lacking[:-1]), *lacking[-1:]]))
    more = f"The dataset names no {either}: add {'it' if len(lacking) == 1 else 'them'}"
    return " ".join(filter(None, [said, f"{more} to its queries or rubrics." if lacking else ""]))


def _values(view: View) -> dict[str, list[str]]:
    """Kind of group → its values in the dataset, sorted."""
    columns = {
        "domain": view.study.queries()["domain"],
        "task type": pd.Series(view.ranked.scores.task_type, dtype=object).dropna().map(choice_words),
        "dimension": view.study.reduction().rubrics["dimension"],
    }
    return {name: sorted(map(str, column.dropna().unique())) for name, column in columns.items()}


def _level(view: View) -> float:
    return view.board.standing.confidence


def _dimensions(view: View, system: str) -> GroupScores | None:
    """Unweighted shares of the mark on the rubrics of each dimension; None with fewer than two dimensions."""
    names, scores = view.dimensions
    if not names:
        return None
    weights = np.ones(len(view.study.queries()))
    return group_scores(names, scores, weights, view.position(system), _level(view))


def _columns(view: View) -> dict[str, Any]:
    """The columns of the table of rubrics; the help states whether the model was fitted without this system."""
    without = view.study.folds().n_folds > 1
    model = "a model fitted without this system" if without else "a model fitted to this system's labels, too"
    expected = _number("expected", format="%.2f", help=f"Share expected at this ability, by {model}")
    return {**RUBRICS, "expected": expected}


def _rubrics(view: View, system: str) -> None:
    """Show the rubrics on which the system does better, or worse, than expected at its ability; a click opens one."""
    at, ranked, reduction = view.position(system), view.ranked, view.study.reduction()
    varying = ranked.use[ranked.fold[at]] & ~view.study.calibration().fit.constant
    expected, residual = surprises(view.study.folds(), at, float(ranked.ability.estimate[at]), varying)
    strong, weak = extremes(residual, EACH)
    which = widgets.choose_one("Rubrics", ["strongest", "weakest"], "side")
    rows = strong if which == "strongest" else weak
    frame = reduction.rubrics.iloc[rows][["rubric", "query", "text"]].assign(
        label=expected[rows] + residual[rows], expected=expected[rows], residual=residual[rows]
    )
    frame.index = pd.Index(rows)
    if frame.empty:
        st.write("None: no label differs from its expectation in this direction.")
        return
    left, right = st.columns([4, 3], gap="large")
    with left:
        chosen = table_widgets.pick_one(frame, _columns(view), key=f"rubrics {system} {which}", rows=11)
        verb = "better" if which == "strongest" else "worse"
        st.caption(
            f"On these rubrics {plain(short_name(system))} does {verb} than expected of a system of its ability. Among "
            "many rubrics, the largest surprises are partly chance, or a judge's error. Choose a row to see the labels."
        )
    with right:
        if chosen is not None:
            rubric.show(view, chosen, (system,))
