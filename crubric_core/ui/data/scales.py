"""Show the scale and the pass mark of each criterion before the files are read, and let the user change them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from ..text import count

if TYPE_CHECKING:
    from ...labels.ingest.report import IngestReport
    from .batch import Batch

MOST = 500  # criteria that can be changed on the page; the command line changes any
_SHOWN = ["criterion", "rubrics", "queries", "labels", "lowest", "highest"]
_EDITED = ["scale_min", "scale_max", "pass_mark"]
_whole = st.column_config.NumberColumn


def ask(batch: Batch, tried: IngestReport) -> None:
    """Show an editable table with a row per criterion; a change is tested at once. tried: report of the trial."""
    if tried.scales is None or tried.scales.empty:
        return
    table = tried.scales.head(MOST)
    graded = int((table["levels"] > 2).sum())
    title = f"Scales: {count(len(tried.scales), 'criterion', 'criteria')}, {graded:,} graded"
    with st.expander(title, expanded=any(f.code in _LOOK for f in tried.checks)):
        st.caption(
            "A scale belongs to a criterion: the same text, or the same name after the query's prefix. If no scale is "
            "given, in a column or after the name as in Clarity (1-5), it is inferred from the labels of that "
            "criterion in all queries. The pass mark is the lowest label that counts as met."
        )
        start = batch.once("scales", tuple(table["criterion"]), lambda: _start(table))
        rows = st.data_editor(
            start,
            column_config={
                **{name: st.column_config.Column(name, disabled=True) for name in [*_SHOWN, "rests on"]},
                "scale_min": _whole("from", step=1, format="%d"),
                "scale_max": _whole("to", step=1, format="%d"),
                "pass_mark": _whole("met from", step=1, format="%d"),
            },
            hide_index=True,
            key=f"scales {batch.key} {len(start)}",
            alt="Criteria with their scales and pass marks",
        )
    _take(batch, start, pd.DataFrame(rows))


_LOOK = (
    "changed_words",
    "gold_scale",
    "scale_changed",
    "gap",
    "disjoint_ranges",
    "negative_level",
    "narrow_scale",
    "off_named_scale",
    "mark_off_scale",
    "stray",
    "code",
)


def _start(table: pd.DataFrame) -> pd.DataFrame:
    source = [
        "given" if s == "given" else f"{count(int(n), 'label')} of {count(int(q), 'query')}"
        for s, n, q in zip(table["source"], table["labels"], table["queries"], strict=True)
    ]
    return table[[*_SHOWN, *_EDITED]].assign(**{"rests on": source}).reset_index(drop=True)


def _take(batch: Batch, start: pd.DataFrame, rows: pd.DataFrame) -> None:
    """Store the valid changes in the batch; if there are new ones, rerun the page to test them."""
    scales: dict[str, tuple[int | None, int | None]] = {}
    marks: dict[str, int] = {}
    names = start["criterion"].astype(str).tolist()
    before, after = (frame[_EDITED].to_numpy(dtype=float) for frame in (start, rows))
    for name, old, (low, high, mark) in zip(names, before, after, strict=True):
        if (low, high) != tuple(old[:2]) and low < high:
            scales[name] = (int(low), int(high))
        if mark != old[2] and low < mark <= high:
            marks[name] = int(mark)
    if (scales, marks) != (batch.scales, batch.marks):
        batch.scales, batch.marks = scales, marks
        st.rerun()
