"""The views of the Task types page: the queries and their types, the rules, and the classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from ...access import require_editor
from ...errors import SettingsError
from ...figures import task_types as figures
from ...labels.store.classifier_cache import ClassifierCache
from ...labels.store.query_types import open_queries, save_edited
from ...task_types.classify import classify, outside
from ...task_types.domain import is_request
from ...task_types.offline import offline_classifier
from ...task_types.prompted import PromptedClassifier
from ...task_types.types import SHARES, TASK_TYPES
from .. import loaders, table_widgets, widgets
from ..text import count, plain, shorten, verb
from . import rules as task_typing_rules
from . import types as task_type_views

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...jobs.threads import ThreadJob
    from ...task_types.classify import Classified
    from ...task_types.endpoint import ClassifierEndpoint
    from ..loaders import Study
    from ..page import StudyPage

_number = st.column_config.NumberColumn
FILTERS = ("all", "by type", "below τ_t", "no type", "edited")
QUERIES: dict[str, Any] = {
    "query": "query",
    "scored_as": "scored as",
    "status": st.column_config.TextColumn("flag", width=90),
    "certainty": _number("certainty", format="percent", help="Probability of the likeliest type"),
    "source": st.column_config.TextColumn(
        "classified by", help="The file, a classifier, or a person (edited)"
    ),
    **{
        share: _number(task_type_views.words(name), format="percent")
        for share, name in zip(SHARES, TASK_TYPES, strict=True)
    },
    "text": st.column_config.TextColumn("text", width="large"),
}
UNSET = (
    "No endpoint is configured. Set CRUBRIC_TYPER_BASE_URL, CRUBRIC_TYPER_MODEL and CRUBRIC_TYPER_KEY in the "
    "environment of this program, or in its .streamlit/secrets.toml, to classify the queries with a language model."
)


def _queries(study: Study, table: pd.DataFrame) -> None:
    """Show all queries; a type can be set by hand for the chosen ones."""
    if table["certainty"].notna().any():  # else all are scored alike, as the page's first line says
        left, right = st.columns(2, gap="large")
        with left:
            counts = {str(name): int(n) for name, n in table["scored_as"].value_counts().items()}
            widgets.show(
                figures.scored_as(counts, task_type_views.PLAIN),
                "Queries by the rules that score them",
                "Scored by",
            )
        with right:
            widgets.show(
                figures.certainty(table["certainty"].to_numpy(), study.settings.tau_t),
                "Queries by the probability of their likeliest type",
                "Probability of the types",
            )
    typed = (table["status"] != "no type").any()
    which = widgets.choose_one("Queries", FILTERS if typed else FILTERS[:1], "typed")
    keep = {
        "by type": table["status"] == "",
        "below τ_t": table["status"] == "below τ_t",
        "no type": table["status"] == "no type",
        "edited": table["source"] == "edited",
    }
    shown = table[keep[which]] if which in keep else table
    left, right = st.columns([3, 2], gap="large")
    with left:
        chosen = table_widgets.pick_some(
            shown,
            QUERIES,
            key="typed queries",
            rows=11,
            start=[0],
            others=table_widgets.SEARCHED,
            every=table,
        )
        table_widgets.download("Download task_types.csv", table, "task_types.csv")
    with right:
        if chosen:
            _one(study, table.loc[chosen])
        else:
            st.write("Choose queries to see them and to set their type.")


def _one(study: Study, chosen: pd.DataFrame) -> None:
    """Show the first chosen query, and a form to set the type of all chosen queries by hand."""
    first = chosen.iloc[0]
    st.markdown(f"**{plain(shorten(first['query']))}**")
    shares = first[SHARES].to_numpy(dtype=np.float64)
    if isinstance(first["text"], str):
        st.text(shorten(first["text"], 400))
        cues = offline_classifier().explain(first["text"])
        if not is_request(first["text"]):
            st.caption(
                "This text contains no request: it looks like a document or a conversation. It is outside the domain "
                "of the offline classifier, which gives it no type."
            )
        elif cues:
            said = "; ".join(f"“{cue.words}” ({task_type_views.words(cue.task_type)})" for cue in cues[:5])
            st.caption(f"Cues of the offline classifier: {plain(said)}.")
    if np.isfinite(shares).any():
        names = [task_type_views.words(name) for name in TASK_TYPES]
        widgets.show(
            figures.probabilities(names, shares, study.settings.tau_t),
            "Probabilities of the chosen query's types",
        )
    wanted = st.selectbox(
        "Its type",
        TASK_TYPES,
        index=_type_now(chosen),
        format_func=task_type_views.words,
        placeholder="choose a type",
        key=f"own type {hash(tuple(chosen['query']))}",  # another choice of queries, another box
    )
    if st.button(
        f"Set the type of {count(len(chosen), 'query')}",
        disabled=wanted is None,
        help="No classifier changes it again.",
        key=f"set type {hash(tuple(chosen['query']))}",
    ) and isinstance(wanted, str):
        save_edited(loaders.workspace(), study.dataset.name, dict.fromkeys(chosen["query"], wanted))
        _changed(f"Classified {count(len(chosen), 'query')} by hand.")


def _type_now(chosen: pd.DataFrame) -> int | None:
    """Index in TASK_TYPES of the type by which all chosen queries are scored; None if they have none or several."""
    names = [task_type_views.words(name) for name in TASK_TYPES]
    now = set(chosen["scored_as"])
    return names.index(now.pop()) if len(now) == 1 and now <= set(names) else None


def _changed(message: str, *, whole: bool = True) -> None:
    """Rerun the page after a change of the dataset, with a message. whole: whether everything was done as asked."""
    loaders.datasets_changed()
    st.session_state["typing message"] = (message, whole)
    st.rerun()


def show_message() -> None:
    """Show the message about the last action, once."""
    message, whole = st.session_state.pop("typing message", ("", True))
    if message:
        (st.success if whole else st.warning)(plain(message))


def _rules(study: StudyPage, _table: pd.DataFrame) -> None:
    """Show the scoring rules, and one query scored by them."""
    task_typing_rules.rules(study)


def _classifiers(study: Study, table: pd.DataFrame) -> None:
    """Show the controls that run the offline classifier or a language model."""
    own, given = (int((table["source"] == source).sum()) for source in ("edited", task_type_views.GIVEN))
    if own:
        st.write(f"Types set by hand ({own:,}) stay as they are.")
    given_too = given > 0 and st.checkbox(
        f"Replace the types of {count(given, 'query')} that the file gives, too", key="given too"
    )
    wanted = open_queries(loaders.facts(study).queries, given_too)
    asked = count(len(wanted), "query")
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Offline, from a lexicon**")
        found = task_type_views.offline_accuracy()
        st.write(
            f"Needs no network. It is correct on {found.accuracy:.0%} of {int(found.confusion.sum())} queries that "
            f"were not used to build it, and on {found.accuracy_decided:.0%} of those that it classifies. It "
            "understands only English requests."
        )
        if n_outside := outside(wanted):
            st.caption(
                f"{count(n_outside, 'query')} of these {verb(n_outside, 'ask')} for nothing (a document "
                "or a conversation). Such texts are outside its domain and get no type."
            )
        if st.button(f"Classify {asked} offline", disabled=wanted.empty):
            with st.spinner("Classifying …"):
                typer = offline_classifier()
                saved = classify(loaders.workspace(), study.dataset.id, wanted, typer).saved
            _changed(f"Classified {count(saved, 'query')} offline.")
    with right:
        st.markdown("**By a language model**")
        try:
            endpoint = task_type_views.endpoint()
        except SettingsError as error:
            st.error(plain(str(error)))
            return
        if endpoint is None:
            st.write(UNSET)
        else:
            _prompted(study, wanted, endpoint)


def _prompted(study: Study, wanted: pd.DataFrame, endpoint: ClassifierEndpoint) -> None:
    """Start, follow and stop a run of the language model; show the outcome of the last run."""
    job = task_type_views.jobs().get(study.dataset.id)
    if job is not None and job.running:
        _watch(job)
        return
    if (job := task_type_views.ended(study)) is not None:
        said, whole = task_type_views.outcome(job)
        _changed(said, whole=whole)
    st.write(
        "The texts of the queries are sent to the endpoint. Answers are kept, so a stopped run can be resumed."
    )
    left, right = st.columns(2)
    at_once = left.number_input("Requests at a time", 1, 32, 4, key="at once")
    a_minute = right.number_input(
        "Requests per minute, at most", 0, 100_000, 0, key="a minute", help="0: no limit."
    )
    if st.button(
        f"Ask {plain(shorten(endpoint.model, 40))} about {count(len(wanted), 'query')}",
        disabled=wanted.empty,
    ):
        cache = ClassifierCache(loaders.workspace())
        typer = PromptedClassifier(endpoint, cache, concurrency=at_once, requests_per_minute=a_minute or None)
        task_type_views.start(study, wanted, typer)
        st.rerun()


@st.fragment(run_every=1.0)
def _watch(job: ThreadJob[Classified]) -> None:
    if not job.running:
        st.rerun()
    st.progress(min(job.share, 1.0), plain(job.message))
    if st.button("Stop", disabled=job.cancel.is_set()):
        require_editor("stop the classifier")
        job.cancel.set()


SECTIONS: dict[str, Callable[[StudyPage, pd.DataFrame], None]] = {
    "Queries": _queries,
    "Rules": _rules,
    "Classify": _classifiers,
}
