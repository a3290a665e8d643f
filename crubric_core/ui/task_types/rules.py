"""The rules by which queries are scored: edit them, save them with the dataset, and show them on one query."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pandas as pd
import streamlit as st

from ...analysis.selection import query_positions
from ...errors import SettingsError
from ...figures import task_types as figures
from ...files import json_bytes
from ...labels.store.dataset_rules import save_rules
from ...scoring_rules import ANY, ScoringRules, Source, Target, TaskType
from ...task_types.assignment import assign, preview
from ...task_types.losses import fitting_loss, kind_words, ratio_sentence
from ...task_types.types import types_of_queries
from .. import loaders, table_widgets, widgets
from ..nothing_passes import nothing_passes
from ..text import count, numeral, plain
from . import types as task_type_views

if TYPE_CHECKING:
    from ...task_types.scoring import QueryScores
    from ..loaders import Study
    from ..page import StudyPage

_number = st.column_config.NumberColumn
_choice = st.column_config.SelectboxColumn
RULES = {
    "task_type": "type",
    "rule": st.column_config.TextColumn("rule", width="large"),
    "queries": _number("queries", format="localized"),
    "rubrics": _number("rubrics changed", format="localized"),
}
NUMBERS = {
    "actionability": ("Actionability counts ×", "Emphasis of a rubric on actionability in a decision-support query."),
    "creativity": ("Creativity counts ×", "Emphasis of a rubric on creativity in a creative query."),
    "moderate": ("A moderate failure gives", "Points of a failed rubric of moderate severity in a high-risk query."),
    "critical": ("A critical failure gives", "Points of a failed rubric of critical severity in a high-risk query."),
}  # fmt: skip
ASSIGN: dict[str, Any] = {
    "sets": _choice("sets the", options=get_args(Target), required=True),
    "source": _choice(
        "by",
        options=get_args(Source),
        required=True,
        help="points: the weight in the file; tags: any one of them",
    ),
    "fits": st.column_config.TextColumn(
        "where it is",
        required=True,
        help="For points: <= -5. Otherwise a text, in which * stands for anything: axis:*",
    ),
    "value": st.column_config.TextColumn(
        "to", required=True, help="critical or moderate; actionability or creativity; * for what * stood for"
    ),
}
SEVERITIES = ("critical", "moderate")
LOSSES: dict[str, Any] = {
    "task_type": _choice(
        "task type",
        options=get_args(TaskType),
        required=True,
        default=ANY,
        format_func=lambda name: "any" if name == ANY else task_type_views.words(name),
    ),
    "severity": "severity",
    "loss": _number("one violation costs", required=True, min_value=0.0, help="In any unit"),
}
FITTED = {
    "sets": "sets the",
    "source": "by",
    "fits": "where it is",
    "value": "to",
    "rubrics": _number("fits", format="localized", help="Rubrics that fit"),
    "decides": _number("decides", format="localized", help="Rubrics that no rule above this one fits"),
    "example": "first of these",
}
EXAMPLE: dict[str, Any] = {
    "rubric": "rubric",
    "contribution": _number("contribution", format="%.4f", help="Points × share; they add up to the score"),
    "points": _number("points g", format="%.2f"),
    "share": _number("share", format="percent", help="Share of the weight: emphasis × information"),
    "emphasis": _number("emphasis e", format="%.3g×"),
    "information": _number("information ν", format="%.3f"),
    "dimension": "dimension",
    "severity": "severity",
    "text": st.column_config.TextColumn("text", width="large"),
}


def rules(study: StudyPage) -> None:
    """Show the scoring rules, widgets to edit them, and one query scored by the edited rules."""
    if nothing_passes(study):
        return
    kept = study.dataset.scoring_rules()
    draft = _edited(study, kept)
    tried = replace(study, settings=replace(study.settings, rules=draft))
    found = task_type_views.scores(tried)
    table_widgets.table(task_type_views.rules_table(found, draft), RULES)
    _keep(study, kept, draft)
    _worked_example(tried, found)


def _key(study: Study, kept: ScoringRules, name: str) -> str:
    """Key of a widget, for one dataset and its saved rules, so that its value is reset when these change."""
    return f"rule {name} {st.session_state.get('rules begun', 0)} {study.dataset.name} {hash(kept)}"


def _edited(study: Study, kept: ScoringRules) -> ScoringRules:
    """Show the widgets; the rules with their values, or the saved rules if these values are invalid."""
    places = st.columns(4)
    values: dict[str, object] = {
        name: place.number_input(
            title,
            value=float(getattr(kept, name)),
            step=0.1 if getattr(kept, name) <= 0 else 0.5,
            min_value=None if getattr(kept, name) <= 0 else 0.1,
            max_value=0.0 if getattr(kept, name) <= 0 else None,
            key=_key(study, kept, name),
            help=meaning,
        )
        for place, (name, (title, meaning)) in zip(places, NUMBERS.items(), strict=True)
    }
    title = f"Which rubrics are severe, actionable or creative ({count(len(kept.assign), 'rule')})"
    severe = st.expander(title)
    costly = st.expander(f"What a violated rubric costs ({count(len(kept.losses), 'loss', 'losses')})")
    with severe:
        values["assign"] = _assignments(study, kept)
    with costly:
        values["losses"] = _losses(study, kept)
    try:
        draft = ScoringRules.from_dict(values)
    except SettingsError as error:
        st.error(plain(str(error)))
        return kept
    with severe:
        _fitted(study, draft)
    with costly:
        _costs(study, draft)
    return draft


def _assignments(study: Study, kept: ScoringRules) -> list[dict[str, Any]]:
    """Show the table of assignment rules; return its complete rows."""
    st.caption(
        "Severity and dimension come from the file of rubrics. A rule here replaces them where it fits; if several "
        "rules fit, the first decides."
    )
    start = pd.DataFrame(kept.as_dict()["assign"], columns=list(ASSIGN), dtype=object)
    rows = st.data_editor(
        start,
        column_config=ASSIGN,
        num_rows="dynamic",
        hide_index=True,
        key=_key(study, kept, "assign"),
    )
    return [{str(name): value for name, value in row.items()} for row in rows.dropna().to_dict("records")]


def _losses(study: Study, kept: ScoringRules) -> list[dict[str, Any]]:
    """Show the table of losses; return its complete rows."""
    st.caption(
        "How many moderate violations are as bad as a critical one? Losses change no score: with them the leaderboard "
        "has the view Losses: how much a system's answer to a query is expected to cost. If several rows fit a "
        "rubric, the first decides; a rubric that no row fits costs nothing."
    )
    names = {str(name) for name in assign(study.given().rubrics, kept)["severity"].dropna()}
    severities = [ANY, *sorted(names | {*SEVERITIES, *(loss.severity for loss in kept.losses)})]
    severity = _choice(
        "severity",
        options=severities,
        required=True,
        default=ANY,
        format_func=lambda name: "any" if name == ANY else str(name),
    )
    columns = LOSSES | {"severity": severity}
    start = pd.DataFrame(kept.as_dict().get("losses", ()), columns=["task_type", "severity", "loss"])
    rows = st.data_editor(
        start.astype({"task_type": object, "severity": object, "loss": np.float64}),
        column_config=columns,
        num_rows="dynamic",
        hide_index=True,
        key=_key(study, kept, "losses"),
    )
    return [{str(name): value for name, value in row.items()} for row in rows.dropna().to_dict("records")]


def _fitted(study: Study, draft: ScoringRules) -> None:
    """Show the effect of the assignment rules: the rubrics that fit, and the numbers of rubrics by value."""
    given = study.given().rubrics
    if draft.assign:
        table_widgets.table(preview(given, draft), FITTED)
    after = assign(given, draft)
    for target in get_args(Target):
        found = after[target].value_counts()
        named = ", ".join(f"{plain(str(name))} {n:,}" for name, n in found.head(8).items())
        st.caption(
            f"Rubrics by {target}: {named or 'none is known'}; {int(after[target].isna().sum()):,} without one."
        )


def _costs(study: Study, draft: ScoringRules) -> None:
    """Show the effect of the losses: their ratios, and the number of rubrics for each."""
    if not draft.losses:
        return
    rubrics, queries = assign(study.given().rubrics, draft), loaders.facts(study).queries
    types = types_of_queries(queries, study.settings.tau_t).task_type[query_positions(queries, study.given())]
    found = np.bincount(
        fitting_loss(draft.losses, rubrics["severity"].tolist(), types) + 1, minlength=len(draft.losses) + 1
    )
    each = [f"{kind_words(loss, 'rubrics')} {n:,}" for loss, n in zip(draft.losses, found[1:], strict=True)]
    st.markdown(plain(ratio_sentence(draft.losses)))
    st.caption(plain(f"Rubrics by their loss: {', '.join(each)}; {found[0]:,} without one."))


def _keep(study: Study, kept: ScoringRules, draft: ScoringRules) -> None:
    """Show buttons to save the edited rules, to reset to the paper's rules, and to download them."""
    paper = ScoringRules()
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Save for this dataset", type="primary", disabled=draft == kept):
            _store(study, draft)
        if st.button("Reset to the paper's", disabled=paper in (kept, draft) and kept == draft):
            _store(study, paper)
        st.download_button(
            "Download rules.json",
            json_bytes(draft.as_dict()),
            "rules.json",
            on_click="ignore",
            key="rules.json",
        )
        if draft != kept:
            st.markdown("Previewed below; not saved yet.")
        else:
            st.markdown("The paper's rules." if kept == paper else "This dataset's own rules.")


def _store(study: Study, wanted: ScoringRules) -> None:
    save_rules(loaders.workspace(), study.dataset.name, wanted)
    st.session_state["rules begun"] = st.session_state.get("rules begun", 0) + 1
    st.rerun()


def _worked_example(study: Study, found: QueryScores) -> None:
    """Show what each rubric adds to one system's score on one query."""
    names, systems = loaders.facts(study).queries["query"].tolist(), study.reduction().systems
    options = task_type_views.instructive(found)
    if not options:
        st.write("No query has a score.")
        return
    st.markdown("**A worked example**")
    left, right = st.columns(2)
    query = left.selectbox("Query", options, format_func=names.__getitem__, key="example query")
    places = list(range(len(systems)))
    system = right.selectbox("System", places, format_func=systems.__getitem__, key="example system")
    explained, table = task_type_views.example(study, found, system, query)
    if table.empty:
        st.write("This system has no label on this query.")
        return
    clipped = "" if np.isclose(explained.raw, explained.score) else f"; clipped to {explained.score:.3f}"
    st.markdown(
        f"Scored by **{task_type_views.words(found.task_type[query])}**: the contributions of "
        f"{count(len(table), 'rubric')} that pass the gate add up to {numeral(explained.raw, 'z.3f')}{clipped}."
    )
    left, right = st.columns([2, 3], gap="large")
    with left:
        widgets.show(
            figures.contributions(
                table["rubric"].tolist(), table["contribution"].to_numpy(), table["emphasis"].to_numpy()
            ),
            "What each rubric of the query adds to its score",
        )
    with right:
        table_widgets.table(table, EXAMPLE, rows=12)
