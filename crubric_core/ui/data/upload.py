"""Upload files: recognise them, let the user decide, read them on trial, and only then ingest them into a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from ...errors import CrubricError, IngestError, UnknownCriterionError
from ...jobs.threads import ThreadJob
from ...labels.readers.bundle import plan_ingest
from ...labels.readers.plan import skipped_of
from .. import loaders, state
from ..text import count, plain, shorten
from . import files as upload_files
from . import names as upload_names
from . import policies as upload_policies
from . import report as upload_report
from . import scales as upload_scales
from .batch import Batch
from .wording import on_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from ...endpoints.watch import Watch
    from ...labels.ingest.report import IngestReport
    from ...labels.readers.plan import Plan
    from ...labels.readers.policies import Policies

NEW = "a new dataset"
PICKED = "files picked"
READ = "files read"  # ids of the files that were read and are still in the upload widget
AT_ONCE = 30 << 20  # bytes up to which files are read on trial without a click


def drop_zone() -> list[UploadedFile] | Batch:
    """The upload widget; returns its files that were not read yet, or else the batch that waits to be read.

    The widget is not cleared, because a file that the browser is still sending would be lost. Streamlit forgets the
    chosen files when the user leaves the page; the session keeps a copy of them in the batch.
    """
    session = st.session_state
    files = st.file_uploader(
        "Label tables, rubrics, queries, gold labels, or what an evaluation tool wrote",
        accept_multiple_files=True,
        key="files",
        on_change=session.update,
        kwargs={PICKED: True},
        help="CSV, TSV, Parquet, JSON Lines, JSON, Excel, Inspect logs, or a ZIP of them. Long tables have one row a "
        "label with system, query, rubric, judge, label; wide ones a column for each judge, system or rubric.",
    )
    read = session.get(READ, ())
    unread = [file for file in files if file.file_id not in read]
    if session.pop(PICKED, False):
        if unread:
            session.pop("report", None)
        else:  # the user removed all files again
            session.pop("batch", None)
    if len(unread) < len(files):
        st.caption(f"Read already: {_listed_names([file.name for file in files if file.file_id in read])}.")
    waiting: Batch | None = session.get("batch", (None, None))[1]
    if unread or waiting is None:
        return unread
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"Chosen before and not read yet: {_listed_names(waiting.names)}. New files replace them.",
            width="content",
        )
        st.button("Discard these files", on_click=waiting.discard)
    return waiting


def _listed_names(names: Sequence[str]) -> str:
    return plain(shorten(", ".join(names), 200))


def section(files: list[UploadedFile] | Batch) -> None:
    """Show the steps from the files to the button that reads them; rerun the page when they are read."""
    try:
        batch = files if isinstance(files, Batch) else _batch(files)
        plan = _decided(batch)
    except CrubricError as error:
        st.error(plain(str(error)))
        return
    for problem in upload_files.problems(plan):
        st.error(plain(on_page(problem)))
    for skipped in skipped_of(plan):
        st.caption(plain(skipped))
    if all(file.format == "unknown" for file in plan.files):
        return
    dataset = _choose_dataset(batch, plan)
    try:
        plan, policies = upload_policies.ask(batch, plan)
    except CrubricError as error:
        st.error(plain(str(error)))
        return
    if plan.problems or not dataset or all(file.skip for file in plan.files):
        st.button(_title(plan), type="primary", disabled=True)
        alone = (
            "fix the error in red" if len(plan.files) == 1 else "fix the errors in red or skip those files"
        )
        st.caption(f"To continue, {alone}.")
        return
    tried = _try(batch, plan, dataset, policies)
    if tried is not None:
        upload_policies.ask_about(batch, tried)
        upload_scales.ask(batch, tried)
        upload_report.show(tried, "before")
        if st.button(_title(plan), type="primary"):
            _read(batch, plan, dataset, policies)
    upload_report.command(plan, dataset, policies, batch.names)


def _title(plan: Plan) -> str:
    return f"Read {count(sum(not f.skip for f in plan.files), 'file')}"


def _batch(files: Sequence[UploadedFile]) -> Batch:
    """The batch of these files, kept in the session while the files stay the same."""
    ids = [file.file_id for file in files]
    kept: tuple[list[str], Batch] | None = st.session_state.get("batch")
    if kept is None or kept[0] != ids:
        with st.spinner("Storing the uploaded files …"):
            kept = st.session_state["batch"] = (ids, Batch(files))
    return kept[1]


def _decided(batch: Batch) -> Plan:
    """The plan as recognised, with all changes by the user."""
    pattern = upload_names.pattern_of(batch)
    with st.spinner("Reading the files …"):
        guessed = batch.once("plan", None, lambda: plan_ingest(batch.kept))
        base = guessed
        if pattern is not None and pattern != guessed.pattern:
            try:
                base = batch.once("patterned", pattern, lambda: plan_ingest(batch.kept, pattern=pattern))
            except CrubricError as error:
                st.error(plain(str(error)))
    edited = upload_names.ask(batch, base, upload_files.ask(batch, base))
    if edited == base:
        return base
    return batch.once("edited", edited.to_json(), lambda: upload_files.looked_at(batch, edited))


def _choose_dataset(batch: Batch, plan: Plan) -> str | None:
    """Ask for the dataset: the name of a new or an existing one; None if the new name cannot be used."""
    there = loaders.datasets()["name"].tolist()
    name = Path(batch.names[0]).stem[:80]
    brings_labels = any("labels" in file.tables for file in plan.files if not file.skip)
    likely = name if name in there else state.held_dataset() if not brings_labels else None
    left, right = st.columns(2)
    into = left.selectbox(
        "Into",
        [NEW, *there],
        index=there.index(likely) + 1 if likely in there else 0,
        key=f"into {batch.key}",
        help="Stored data stay; you see what would change before anything is stored.",
    )
    if into != NEW:
        return str(into)
    chosen = right.text_input("Its name", name, max_chars=80, key=f"name {batch.key}").strip()
    if chosen in there:
        st.error(plain(f"There is a dataset {chosen!r} already: choose it on the left, or another name."))
        return None
    return chosen or None


def _try(batch: Batch, plan: Plan, dataset: str, policies: Policies) -> IngestReport | None:
    """The report of a trial reading, which stores nothing; None if it failed or a large upload waits for a click."""
    found = loaders.datasets().set_index("name")["fingerprint"]
    key = (plan.to_json(), dataset, repr(policies), found.get(dataset))
    if batch.size > AT_ONCE and st.session_state.get("checked") != key:
        if not st.button(f"Check {count(len(plan.files), 'file')}", type="primary"):
            st.caption("Every row is checked first, and you see what would change; nothing is stored yet.")
            return None
        st.session_state["checked"] = key
    try:
        return batch.once("tried", key, lambda: _checked(batch, plan, dataset, policies))
    except UnknownCriterionError as error:  # the columns have changed since the scales were edited
        batch.scales, batch.marks = {}, {}
        st.error(plain(on_page(str(error))))
        st.button("Leave out the scales that were edited", type="primary")
        return None
    except CrubricError as error:
        if isinstance(error, IngestError):
            upload_policies.ask_words(batch, error.words)
            upload_policies.offer(batch, str(error))
        st.error(plain(on_page(str(error))))
        st.button(_title(plan), type="primary", disabled=True)
        return None


def _checked(batch: Batch, plan: Plan, dataset: str, policies: Policies) -> IngestReport:
    bar = st.progress(0.0, "Checking …")

    def report_progress(share: float, words: str) -> None:
        bar.progress(share, plain(f"Checking: {words}"))

    try:
        return loaders.workspace().ingest_plan(
            plan, dataset, batch.kept, policies, report_progress, preview=True
        )
    finally:
        bar.empty()


def _read(batch: Batch, plan: Plan, dataset: str, policies: Policies) -> None:
    """Ingest the files in a background job, which only Cancel or Discard stops; ``take_report`` gets its report."""
    workspace = loaders.workspace()

    def read(watch: Watch) -> IngestReport:
        def report(share: float, words: str) -> None:
            if watch.stopped and share < 1:  # at 1 all is stored
                raise IngestError("The reading was cancelled; nothing is stored.")
            watch.report(share, words)

        found = workspace.ingest_plan(plan, dataset, batch.kept, policies, report)
        loaders.datasets_changed()  # for the page that is open at that time
        return found

    batch.reading = ThreadJob()
    batch.reading.start(
        read, f"reading into {dataset}", "Reading failed; nothing is stored. The details are in the log."
    )
    if _follow(batch) is not None:
        st.rerun()


def _follow(batch: Batch) -> IngestReport | None:
    """Wait for the job that reads the files and return its report; None without a job, or if it failed.

    A failure is shown; the files can then be read again.
    """
    if (job := batch.reading) is None:
        return None
    if not job.wait(0):
        bar, cancel = st.progress(0.0, "Reading …"), st.empty()
        cancel.button("Cancel reading", on_click=job.cancel.set)
        while not job.wait(0.1):
            bar.progress(min(job.share, 1.0), plain(f"Reading: {job.message}"))
        bar.empty()
        cancel.empty()
    if job.run is None:
        batch.reading = None
        (st.info if job.cancel.is_set() else st.error)(plain(job.failure))
    return job.run


def take_report() -> None:
    """Take over the report of files that were read, and show their dataset; call it before ``drop_zone``."""
    session = st.session_state
    read: Sequence[str]
    batch: Batch | None
    read, batch = session.get("batch", ((), None))
    if batch is None:
        return
    report = _follow(batch)
    if report is not None or batch.discarded:
        del session["batch"]
    if report is None:
        return
    session[READ] = {*session.get(READ, ()), *read}
    session.pop(PICKED, None)
    session["report"] = report
    state.show_dataset(report.dataset)
    st.session_state["detail"] = report.dataset
