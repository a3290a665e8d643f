"""Judge the answers of a new system from the page: show the cost, run, resume. Off unless it is configured."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from ..access import require_editor
from ..endpoints.watch import Watch
from ..environment import workspace_path
from ..errors import CrubricError, PlacementError
from ..jobs.threads import ThreadJob, ThreadJobs
from ..judging.answers_file import SystemAnswers, read_system_answers
from ..judging.calls import Call, CostEstimate, estimate, plan_calls
from ..judging.judges_file import read_judges
from ..judging.labels_file import LabelsFile
from ..judging.run import JudgeRun, run_calls
from ..placement.bank_scale import BankScale
from ..placement.new_labels import NewLabels, read_new_labels
from . import loaders, table_widgets, widgets
from .text import count, plain

if TYPE_CHECKING:
    from ..analysis.stage import Key

JUDGES = "CRUBRIC_JUDGES"  # the environment variable with the path of a judges.toml
_number = st.column_config.NumberColumn
COST = {
    "what": "",
    "calls": _number("calls", format="localized"),
    "tokens_in": _number("tokens in", format="localized", help="Estimated: four characters a token"),
    "tokens_out": _number("tokens out", format="localized", help="Estimated: 80 tokens a verdict"),
    "cost": _number("cost", format="%.4f", help="Estimated, in the currency of the judges' prices"),
}


@st.cache_resource(show_spinner=False)
def jobs() -> ThreadJobs[JudgeRun]:
    """The latest run for each file of labels, by its path, shared by all sessions of this process."""
    return ThreadJobs()


def configured() -> Path | None:
    """Path of the judges.toml from the environment; None if judging from the page is off."""
    name = os.environ.get(JUDGES)
    return Path(name) if name else None


def labels_of(bank_scale: BankScale, judges_file: Path, n_rubrics: int) -> NewLabels | None:
    """Show the steps: upload answers, see the cost, run the judges. Return the labels so far, None if there are none.

    n_rubrics: number of rubrics of the study.
    """
    answers_file = st.file_uploader("Answers of new systems: system, query, text", key="answers")
    st.caption(
        "The texts of answers and rubrics are sent to the judges. Labels are kept, so a stopped run can be resumed."
    )
    if answers_file is None:
        return None
    content = answers_file.getvalue()
    files = list(itertools.takewhile(Path.exists, _files(bank_scale, content)))
    path = files[-1] if files else next(_files(bank_scale, content))
    try:
        file = LabelsFile(path, bank_scale.bank_id, write=False)
    except CrubricError as error:
        _afresh(str(error), bank_scale, content)
        return None
    try:
        answers = _answers((bank_scale.bank_id, hashlib.sha256(content).hexdigest()), bank_scale, content)
        widgets.notes(answers.notes)
        calls = plan_calls(bank_scale, answers, read_judges(judges_file))
        try:
            open_ = [call for call in calls if file.missing(call)]
        except PlacementError as error:
            _afresh(str(error), bank_scale, content)
        else:
            _steps(bank_scale, calls, open_, file.path, n_rubrics)
    except (CrubricError, OSError) as error:
        st.error(plain(str(error)))
    return _so_far(bank_scale, file)


def _so_far(bank_scale: BankScale, file: LabelsFile) -> NewLabels | None:
    """The labels in the file, even if the judges are no longer available; None if there are none."""
    try:
        return read_new_labels(bank_scale, file.path, allow_unused=True) if file.n_verdicts else None
    except (CrubricError, OSError) as error:
        st.error(plain(str(error)))
        return None


def _afresh(why: str, bank_scale: BankScale, content: bytes) -> None:
    """Warn that the run cannot be resumed, and offer to begin another file; the labels so far are kept."""
    st.warning(plain(why))
    if st.button("Start again in another file", help="The labels so far are kept in the folder judged."):
        require_editor("judge answers")
        next(file for file in _files(bank_scale, content) if not file.exists()).touch()
        st.rerun()


@st.cache_resource(max_entries=loaders.FEW, show_spinner="Reading the answers …")
def _answers(key: Key, _bank_scale: BankScale, _content: bytes) -> SystemAnswers:
    return read_system_answers(_bank_scale, _content)


def _files(bank_scale: BankScale, content: bytes) -> Iterator[Path]:
    """Paths for the labels of these answers, in a folder beside the workspace: the first one, then numbered ones."""
    stem = f"{bank_scale.bank_id}-{hashlib.sha256(content).hexdigest()[:12]}"
    folder = workspace_path().parent / "judged"
    return (folder / f"{stem}{f'-{n}' if n > 1 else ''}.jsonl" for n in itertools.count(1))


def _steps(bank_scale: BankScale, calls: list[Call], open_: list[Call], path: Path, n_rubrics: int) -> None:
    """Show the cost and the button that starts the run, or the progress of the run."""
    job = jobs().get(path)
    if job is not None and job.running:
        _watch(job)
        return
    whole = estimate(calls)
    every = whole.scaled(n_rubrics / len(bank_scale.rubrics))
    rows = {"still to ask": estimate(open_), "the bank": whole, f"all {n_rubrics:,} rubrics": every}
    table_widgets.table(pd.DataFrame([_priced(what, found) for what, found in rows.items()]), COST)
    if job is not None and (said := outcome(job)):
        st.write(plain(said))
    what = count(len(open_), "call")
    if st.button(f"Judge: {what}" if len(open_) == len(calls) else f"Go on: {what}", disabled=not open_):
        start(calls, path, bank_scale.bank_id)
        st.rerun()


def _priced(what: str, found: CostEstimate) -> dict[str, object]:
    return {"what": what, **found.record()}


def start(calls: list[Call], path: Path, bank_id: str) -> None:
    """Run the judges in the background, unless a run for this file is active."""
    require_editor("judge answers")
    path.parent.mkdir(parents=True, exist_ok=True)

    def ask(watch: Watch) -> JudgeRun:
        with LabelsFile(path, bank_id) as file:
            return run_calls(calls, file, None, watch)

    jobs().start(
        path,
        ask,
        name=f"judging {path.name}",
        unexpected="Judging failed; labels so far are kept. The details are in the log.",
    )


def outcome(job: ThreadJob[JudgeRun]) -> str:
    """Sentences on what a finished run did, or why it failed."""
    run = job.run
    if run is None or job.failure:
        return job.failure
    spent = sum(usage.cost for usage in run.usage.values())
    cost = f", cost {spent:,.4f}" if run.usage and np.isfinite(spent) else ""
    parts = [f"{count(run.labels, 'label')} written ({run.known:,} calls were answered before){cost}."]
    if run.unknown:
        parts.append(
            f"Labels without a verdict, because the judge could not assess the rubric: {run.unknown:,}."
        )
    if run.failures:
        parts.append(f"{count(len(run.failures), 'call')} failed: {run.failures[0][1]}.")
    parts += [f"{judge} stopped: {why}." for judge, why in run.stopped.items()]
    parts += ["Cancelled; it can be resumed."] if run.cancelled else []
    return " ".join(parts)


@st.fragment(run_every=1.0)
def _watch(job: ThreadJob[JudgeRun]) -> None:
    if not job.running:
        st.rerun()
    st.progress(min(job.share, 1.0), plain(job.message))
    if st.button("Stop", key="stop judging", disabled=job.cancel.is_set()):
        require_editor("stop judging")
        job.cancel.set()
