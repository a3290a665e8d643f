"""Files on their way in: looked at, mapped, ingested, reported."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, get_args

import pandas as pd
import streamlit as st

from ..errors import CrubricError, IngestError
from ..labels import bundle
from ..labels.columns import SPECS, Kind, choose_columns
from ..labels.ingest import IngestReport
from . import loaders, widgets
from .text import count, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streamlit.runtime.uploaded_file_manager import UploadedFile

TYPES = ("csv", "tsv", "parquet", "jsonl", "ndjson", "json")
PREVIEW = 5
ABSENT = "—"
# What labels are checked against comes first.
ORDER: tuple[Kind, ...] = ("rubrics", "queries", "labels", "gold", "reference")
WORDS = {
    "labels": "labels of the judges",
    "rubrics": "what the rubrics are",
    "queries": "what the queries are",
    "gold": "human gold labels",
    "reference": "a reference ranking",
}


@dataclass(frozen=True)
class Peek:
    """The column names of a file and its first rows."""

    columns: tuple[str, ...]
    rows: pd.DataFrame


@dataclass(frozen=True)
class Upload:
    """One file with what the user says it is."""

    file: UploadedFile
    kind: Kind
    mapping: Mapping[str, str]


@st.cache_data(max_entries=20, show_spinner="Looking into the file …")
def peek(file_id: str, _file: UploadedFile) -> Peek:
    """A first look, once an upload; raises IngestError where nothing can be read."""
    _file.seek(0)
    found = bundle.peek((_file.name, _file), rows=PREVIEW)
    return Peek(found.columns, found.rows)


def guess_kind(name: str, columns: Sequence[str]) -> Kind:
    """What a file holds, by its columns; labels and gold labels differ by name alone."""
    plainly = [column.lower() for column in columns]
    if any("system" in column or "model" in column for column in plainly) and not _fits("labels", columns):
        return "reference" if _fits("reference", columns) else "labels"
    kinds: tuple[Kind, ...] = ("labels", "rubrics", "queries")
    kind: Kind = next((kind for kind in kinds if _fits(kind, columns)), "labels")
    human = "gold" in name.lower() or any("annotator" in column for column in plainly)
    return "gold" if kind == "labels" and human else kind


def _fits(kind: Kind, columns: Sequence[str]) -> bool:
    try:
        choose_columns(kind, columns, None, "")
    except IngestError:
        return False
    return True


def guess_columns(kind: Kind, columns: Sequence[str]) -> dict[str, str]:
    """Canonical column → the file's, as far as names tell; the fewest missing ones are imagined at the end."""
    wanted = (*SPECS[kind].needed, *SPECS[kind].any_of)
    for size in range(len(wanted) + 1):
        for imagined in combinations(wanted, size):
            if _fits(kind, (*columns, *imagined)):
                found = choose_columns(kind, (*columns, *imagined), None, "")
                return {canonical: columns[i] for canonical, i in found.items() if i < len(columns)}
    return {}


def describe(file: UploadedFile) -> Upload | None:
    """One file's name, kind, first rows and columns, to be confirmed; None where it cannot be read."""
    with st.container(border=True):
        st.markdown(f"**{plain(file.name)}**")
        try:
            found = peek(file.file_id, file)
        except CrubricError as error:
            st.error(plain(str(error)))
            return None
        left, right = st.columns([1, 3])
        kinds = list(get_args(Kind))
        kind: Kind = left.selectbox(
            "It holds",
            kinds,
            index=kinds.index(guess_kind(file.name, found.columns)),
            format_func=WORDS.__getitem__,
            key=f"kind {file.file_id}",
        )
        with right:
            st.dataframe(found.rows, hide_index=True, placeholder=ABSENT)
        mapping = _ask_columns(kind, found.columns, file)
        return None if mapping is None else Upload(file, kind, mapping)


def _ask_columns(kind: Kind, columns: tuple[str, ...], file: UploadedFile) -> dict[str, str] | None:
    """Which column of the file is which; guessed, open where the guess fails."""
    guess = guess_columns(kind, columns)
    with st.expander("Columns", expanded=not _fits(kind, columns)):
        chosen = {}
        for place, canonical in zip(_grid(len(SPECS[kind].columns)), SPECS[kind].columns, strict=True):
            options = [ABSENT, *dict.fromkeys(columns)]
            answer = place.selectbox(
                canonical + (" (needed)" if canonical in SPECS[kind].needed else ""),
                options,
                index=options.index(guess.get(canonical, ABSENT)),
                key=f"column {file.file_id} {kind} {canonical}",
            )
            if answer != ABSENT:
                chosen[canonical] = answer
    try:
        choose_columns(kind, columns, chosen, file.name)
    except IngestError as error:
        st.error(plain(str(error)))
        return None
    return chosen


def _grid(cells: int, width: int = 4) -> list[Any]:
    return [place for _ in range(0, cells, width) for place in st.columns(width)][:cells]


def read_all(uploads: Sequence[Upload], dataset: str, on_conflict: Any) -> None:
    """Ingest file after file; each is reported, and a refused one leaves no trace."""
    bar = st.progress(0.0)
    for done, upload in enumerate(sorted(uploads, key=lambda u: ORDER.index(u.kind))):

        def tell(share: float, words: str, done: int = done) -> None:
            bar.progress((done + share) / len(uploads), plain(words))

        upload.file.seek(0)
        try:
            report = loaders.workspace().ingest(
                upload.file, dataset, upload.kind, upload.mapping, "auto", on_conflict, tell, upload.file.name
            )
        except CrubricError as error:
            st.error(plain(str(error)))
        else:
            _tell_report(report)
    bar.empty()
    loaders.datasets_changed()


def _tell_report(report: IngestReport) -> None:
    parts = [f"{report.source}: {count(report.accepted, 'row')} read in {report.seconds:.1f} s"]
    for number, words in (
        (report.rejected, "left out"),
        (report.blank, "without a label"),
        (report.collapsed, "repeated"),
        (report.replaced, "replaced by a later row"),
    ):
        if number:
            parts.append(f"{number:,} {words}")
    if report.kind == "labels" and report.scale is not None:
        scale = report.scale
        source = "as given" if scale.source == "given" else "as the labels show"
        parts.append(f"scale {scale.minimum:g} to {scale.maximum:g} ({source})")
    (st.warning if report.rejected else st.success)(plain(", ".join(parts) + "."))
    if report.rejected:
        height = 220 if report.rejected > PREVIEW else None
        widgets.table(report.rejects, {name: name for name in report.rejects.columns}, height=height)
        widgets.download(
            f"Download the {count(report.rejected, 'rejected row')}",
            report.rejects,
            f"rejected_{report.kind}.csv",
        )
