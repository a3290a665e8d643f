"""One dataset in detail: data-quality issues, the files it was made from, undo and changes."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from ...analysis.export import write_dataset
from ...errors import CrubricError
from ...labels.readers.scratch import scratch_folder
from .. import loaders, state, table_widgets
from ..text import count, plain
from . import report as upload_report
from .wording import on_page

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from ...labels.store.dataset import Dataset

_text = st.column_config.TextColumn
HISTORY: dict[str, Any] = {
    "source": _text("file", width="medium"),
    "kind": _text("table", width="small"),
    "ingested_at": st.column_config.DatetimeColumn("when (UTC)", format="YYYY-MM-DD HH:mm"),
    "changes": _text("what it changed", width="large"),
    "accepted": st.column_config.NumberColumn("rows read", format="localized"),
    "rejected": st.column_config.NumberColumn("rejected", format="localized"),
    "policies": _text("choices", width="medium"),
    "undo": _text("cannot be undone because", width="medium"),
}
SELDOM = ("policies", "undo")  # columns that are shown only if they have text

REJECTS: dict[str, Any] = {
    "source": "file",
    "kind": "table",
    "row": "row",
    "column": "column",
    "value": "value",
    "reason": _text("reason", width="large"),
}


def show(name: str, fingerprint: str) -> None:
    """Show one dataset in tabs: checks, files and undo, rejected rows, export, changes."""
    dataset = loaders.workspace().dataset(name)
    history, rejects = loaders.workspace().ingests(name), loaders.workspace().rejects(name)
    checks, files, rejected, export, change = st.tabs(
        ["Checks", "Files and undo", f"Rejected ({len(rejects):,})", "Export", "Rename, copy, delete"]
    )
    with checks:
        _checks(dataset, fingerprint)
    with files:
        said = {name for name in SELDOM if (history[name] != "").any()}
        table_widgets.table(
            history, {n: column for n, column in HISTORY.items() if n in said or n not in SELDOM}
        )
        _undo(name, history)
    with rejected:
        _rejected(rejects)
    with export:
        _export(dataset)
    with change:
        _change(name)


def _checks(dataset: Dataset, fingerprint: str) -> None:
    found = loaders.findings(dataset.name, fingerprint)
    table = _covered(loaders.version(dataset.name, fingerprint), dataset)
    if table.empty:
        st.info("No judge's labels yet: upload a table of labels into this dataset to check and analyse it.")
    elif not found:
        st.success("No data-quality issue was found.")
    upload_report.findings(found)
    if any(finding.severity == "error" for finding in found):
        st.caption(
            "To change a choice, undo the ingest and upload the file again: this page then shows the choices."
        )
    upload_report.covered(table, f"stored {dataset.name}")


@st.cache_resource(max_entries=4, show_spinner=False)
def _covered(key: tuple[object, ...], _dataset: Dataset) -> pd.DataFrame:
    return _dataset.coverage()


def _undo(name: str, history: pd.DataFrame) -> None:
    """Controls to undo one ingest, after a confirmation; the latest comes first."""
    possible = history[history["undo"] == ""].iloc[::-1].drop_duplicates("ingested_at")
    if possible.empty:
        return
    came_with = {
        int(row["ingest_id"]): history[history["ingested_at"] == row["ingested_at"]]
        for _, row in possible.iterrows()
    }
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    chosen = left.selectbox(
        "Undo the ingest of",
        list(came_with),
        format_func=lambda i: (
            f"{_sources(came_with[i])}, {came_with[i]['ingested_at'].iloc[0]:%Y-%m-%d %H:%M:%S} (no. {i})"
        ),
        key=f"undo {name} {list(came_with)}",
    )
    with right.popover("Undo …", width="stretch"):
        for _, row in came_with[chosen].iterrows():
            st.write(plain(f"{row['source']}: {row['changes']}."))
        st.write("Its rows are removed; the values that it replaced apply again.")
        if st.button("Yes, undo it", key=f"undo now {name} {chosen}"):
            _do(lambda: loaders.workspace().undo(name, chosen).sentence, name)


def _sources(rows: pd.DataFrame) -> str:
    names = rows["source"].unique()
    return str(names[0]) + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def _rejected(rejects: pd.DataFrame) -> None:
    if rejects.empty:
        st.caption("No row was rejected.")
        return
    table_widgets.table(rejects.assign(reason=rejects["reason"].map(on_page)), REJECTS, rows=6)
    table_widgets.download(f"Download the {count(len(rejects), 'row')}", rejects, "rejects.csv")


def _export(dataset: Dataset) -> None:
    st.caption(
        "All tables of the dataset, with answers, reasons and facts of systems if there are any. Parquet files can be "
        "read again into the same dataset. So can CSV files once the added apostrophes are removed; these keep texts "
        "from starting a spreadsheet formula."
    )
    with st.container(horizontal=True):
        for file_format, words in (("csv", "CSV"), ("parquet", "Parquet")):
            st.download_button(
                f"Download as {words} (ZIP)",
                _zipped(dataset, file_format),  # type: ignore[arg-type]
                f"{dataset.name}_{file_format}.zip",
                "application/zip",
                on_click="ignore",
                key=f"export {file_format}",
            )


def _zipped(dataset: Dataset, file_format: Literal["csv", "parquet"]) -> Callable[[], bytes]:
    """A function that makes the ZIP archive when it is called."""

    def make() -> bytes:
        out = io.BytesIO()
        with scratch_folder() as folder, zipfile.ZipFile(out, "w") as archive:
            for path in write_dataset(dataset, Path(folder), file_format):
                archive.write(path, path.name, zipfile.ZIP_DEFLATED)
        return out.getvalue()

    return make


def _change(name: str) -> None:
    workspace = loaders.workspace()
    left, right = st.columns(2, gap="large")
    new = left.text_input("New name", name, max_chars=80, key=f"rename {name}").strip()
    if left.button("Rename", disabled=new in ("", name)):
        _do(lambda: _rename(name, new), new, f"{name} is now called {new}.")
    copy = right.text_input("Name of a copy", f"{name} copy", max_chars=80, key=f"copy {name}").strip()
    if right.button("Duplicate", disabled=not copy):
        _do(lambda: workspace.duplicate(name, copy), copy, f"{copy} is a copy of {name} with its history.")
    typed = st.text_input("Type its name to delete it permanently", key=f"delete {name}")
    if st.button("Delete", disabled=typed != name):
        _do(lambda: _delete(name), None, f"{name} was deleted.")


def _rename(name: str, new: str) -> None:
    loaders.workspace().rename(name, new)
    state.dataset_renamed(name, new)


def _delete(name: str) -> None:
    loaders.workspace().delete(name)
    state.dataset_renamed(name, None)


def _do(act: Callable[[], str | None], then: str | None, words: str = "") -> None:
    """Carry out a change and rerun the page on the dataset ``then``; an error is shown as a sentence.

    act: returns a message, or None for ``words``. then: None if the dataset was deleted.
    """
    try:
        message = act() or words
    except CrubricError as error:
        st.error(plain(str(error)))
        return
    loaders.datasets_changed()
    names = loaders.datasets()["name"].tolist()
    for key in ("dataset", "detail"):
        st.session_state.pop(key, None)
        if then in names:
            st.session_state[key] = then
    st.session_state.pop("report", None)
    st.session_state["message"] = message
    st.rerun()
