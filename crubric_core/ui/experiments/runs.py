"""Experiments on the page: start, follow and cancel runs, and show their results."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from ...analysis import pipeline
from ...analysis import warnings as cautions
from ...analysis.result import Result
from ...experiments import EXPERIMENTS, store_experiment, stored_experiment
from ...figures.experiments import experiment_figures
from ...files import json_bytes
from ...jobs.background import Background, Key, job_key
from ...labels.store.snapshot import Snapshot
from ...reports.sections import report_markdown
from ...reports.study import full_report
from .. import loaders, state, table_widgets, widgets
from ..charts import has_values
from ..text import plain
from .commands import command, report_command
from .tables import show_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...experiments import ExperimentResult
    from ...settings import Settings
    from ..loaders import Study
    from ..page import StudyPage

FIRST, CHOICE = "crossfit", "experiment choice"
IN_ANY = "All that run or wait, in any dataset."
EVERY, SELDOM = 0.7, 4.0  # seconds between two refreshes while experiments run, and otherwise


@st.cache_resource(show_spinner=False, on_release=Background.close)
def background() -> Background:
    """The queue of experiments of this process, shared by all sessions; runs go on when their session ends."""
    workspace = loaders.workspace()
    return Background(lambda result: store_experiment(workspace, result))


def stored(study: Study, name: str) -> ExperimentResult | None:
    """The result on these labels with these settings, stored or still in the queue; None if there is none."""
    kept = stored_experiment(loaders.workspace(), name, study.dataset, study.settings)
    if kept is not None:
        return kept
    job = background().job(job_key(name, study.fingerprint, study.settings))
    return None if job is None else job.result


def choose() -> str:
    """Choose an experiment; return its name on the command line, which is also in the page's address."""
    asked = state.held_words(state.EXPERIMENT)
    titles = {
        declared.title: name for name, declared in EXPERIMENTS.items()
    }  # addresses of earlier versions contain titles
    name = titles.get(asked, asked)
    if name not in EXPERIMENTS:
        if asked:
            state.ignore(f"{state.EXPERIMENT}={asked}")
            state.warn_of_ignored_parameters()
        name = FIRST
    if asked not in ("", name):
        state.hold_words(state.EXPERIMENT, name)
        state.held_words(state.EXPERIMENT)
    st.session_state[CHOICE] = name
    st.segmented_control(
        "Experiment",
        list(EXPERIMENTS),
        format_func=lambda name: EXPERIMENTS[name].title,
        required=True,
        key=CHOICE,
        on_change=lambda: state.hold_words(state.EXPERIMENT, st.session_state[CHOICE]),
    )
    return name


def run_or_watch(study: StudyPage, name: str) -> None:
    """Show that the experiment runs, or that it has not run, with buttons to start it and the others."""
    key = job_key(name, study.fingerprint, study.settings)
    job, warnings = background().job(key), judges_first(study)
    if job is not None and job.active:
        study.answer("Running on these labels with these settings.")
        widgets.notes(warnings)
        return
    study.answer("Not run yet on these labels with these settings.")
    widgets.notes(warnings)
    if job is not None:
        st.error(plain(job.error))
    rest = [n for n in EXPERIMENTS if n != name and stored(study, n) is None]  # besides the one shown
    with st.container(horizontal=True):
        st.button("Run", type="primary", on_click=start, args=(study, [name]), key=f"run {name}")
        st.button("Run all that are missing", on_click=start, args=(study, [name, *rest]), key="run all")


def start(study: Study, names: list[str]) -> None:
    """Queue experiments on the present labels; those that already have a result are skipped."""
    snapshot = Snapshot(study.dataset, study.settings)
    for name in names:
        if stored(study, name) is None:
            background().start(name, snapshot, study.settings)


def follow(study: Study, name: str, seen: int) -> None:
    """Show the progress of all running experiments, refreshed regularly.

    seen: the queue's count of changes when the page was drawn; the page is rerun when the count differs.
    """
    every = EVERY if background().active() else SELDOM
    st.fragment(_follow, run_every=every)(job_key(name, study.fingerprint, study.settings), seen)


def _follow(key: Key, seen: int) -> None:
    queue = background()
    if queue.changes != seen:
        st.rerun()
    job, active = queue.job(key), queue.active()
    if job is not None and not job.active:
        job = None
    if job is not None:
        st.progress(job.share, text=plain(f"{job.share:.0%} · {job.what}"))
    if job is not None or len(active) > 1:
        with st.container(horizontal=True):
            if job is not None:
                st.button("Cancel", on_click=queue.cancel, args=(key,), key=f"cancel {key[0]}")
            if len(active) > 1:
                words = f"Cancel all {len(active):,}"
                st.button(words, on_click=queue.cancel_all, help=IN_ANY, key="cancel all")
    if job is not None:
        st.caption("It continues without this page; the result will be here later.")
    others = [
        f"{EXPERIMENTS[other.name].title} – {f'{other.share:.0%}' if other.process else 'waiting'}"
        for other in active
        if other is not job
    ]
    if others:
        st.caption(plain(f"Also under way, in any dataset: {'; '.join(others)}."))


def show_result(study: StudyPage, result: ExperimentResult) -> None:
    """Show a result: its sentences, figures and tables, and its limits."""
    declared = EXPERIMENTS[result.name]
    job = background().job(job_key(result.name, study.fingerprint, study.settings))
    if job is not None and job.result is result:
        st.warning(
            plain(
                f"Download this result: it could not be stored and is lost when this server stops. {job.error}"
            )
        )
    first = judges_first(study)
    study.answer(declared.headline(result))
    widgets.notes([*first, *(notice for notice in result.notices if notice not in first)])
    st.markdown(plain(result.found))
    _figures(result)
    for name, table in declared.tables.items():
        if table.on_page and len(result.tables.get(name, ())):
            show_table(result.tables[name], table)
    if result.limits:
        st.markdown("**What this does not show**")
        st.markdown("\n".join(f"- {plain(limit)}" for limit in result.limits))


def _figures(result: ExperimentResult) -> None:
    """Show the experiment's figures that have values, in two columns, of which the first is wider."""
    drawn = [(title, figure) for title, figure in experiment_figures(result) if has_values(figure)]
    places = st.columns([3, 2] if len(drawn) > 1 else 1, gap="large") if drawn else []
    for number, (title, figure) in enumerate(drawn):
        with places[number % 2]:
            widgets.show(figure, alt=title, title=title)


def downloads(study: Study, result: ExperimentResult) -> None:
    """Offer the main table, the whole result, a report with every stored experiment, and the command."""
    name = result.name
    with st.container(horizontal=True):
        table_widgets.download(f"Download {name}.csv", result.frame(), f"{name}.csv")
        st.download_button(
            f"Download {name}.json",
            lambda: json_bytes(result.to_json_dict()),
            f"{name}.json",
            "application/json",
            on_click="ignore",
        )
        for kind, mime, make in (
            ("HTML", "text/html", full_report),
            ("Markdown", "text/markdown", report_markdown),
        ):
            st.download_button(
                f"Report of all that was run ({kind})",
                partial(_written, make, study),
                f"report.{kind.lower().replace('markdown', 'md')}",
                mime,
                on_click="ignore",
            )
        if (rules := _without_own_rules(study).rules) is not None:
            st.download_button(
                "Download rules.json", json_bytes(rules.as_dict()), "rules.json", on_click="ignore"
            )
    st.caption(
        "The same from a terminal, after you stop this dashboard: only one process at a time can open a workspace."
    )
    st.code(terminal(study, name), language=None, wrap_lines=True)


def terminal(study: Study, name: str) -> str:
    """The command for this experiment on this dataset."""
    return command(name, loaders.workspace().path, study.dataset.name, _without_own_rules(study))


def _without_own_rules(study: Study) -> Settings:
    """The settings, with rules only if they differ from the dataset's own, which a command uses anyway."""
    own = study.settings.rules == study.dataset.scoring_rules()
    return replace(study.settings, rules=None) if own else study.settings


def report(study: Study) -> tuple[Result, list[ExperimentResult], str]:
    """(result of the analysis, every stored experiment, command), as the parts of a report."""
    kept = [found for n in EXPERIMENTS if (found := stored(study, n)) is not None]
    names, file = [found.name for found in kept], Path(loaders.workspace().path).name
    spelled = report_command(names, file, study.dataset.name, _without_own_rules(study))
    return pipeline.result_of(study), kept, spelled


def _written(make: Callable[[Result, Sequence[ExperimentResult], str], str], study: Study) -> bytes:
    return make(*report(study)).encode()


def judges_first(study: Study) -> tuple[str, ...]:
    """The warning that comes before any result if every cell has labels of at most two judges; else ()."""
    found = study.reduction()
    return cautions.dataset_warnings(found)[:1] if int(found.max_panel.max()) <= 2 else ()
