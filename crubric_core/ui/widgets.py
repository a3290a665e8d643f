"""What the pages are made of: headings, figures, tables, downloads, empty states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from .text import csv_bytes, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    import plotly.graph_objects as go
    from streamlit.delta_generator import DeltaGenerator

# Streamlit's stand-in for its darkest text colour, set in the browser by theme: its default for axes fails WCAG AA.
INK = "#000037"
UNKNOWN = "—"
PLOT_CONFIG = {
    "displaylogo": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
}

DATASETS = {
    "name": "dataset",
    "systems": "systems",
    "queries": "queries",
    "rubrics": "rubrics",
    "judges": "judges",
    "labels": st.column_config.NumberColumn("labels", format="localized"),
    "created_at": st.column_config.DatetimeColumn("since", format="YYYY-MM-DD HH:mm"),
    "fingerprint": "fingerprint",
}
INGESTS = {
    "source": "file",
    "kind": "kind",
    "accepted": "read",
    "rejected": "left out",
    "blank": "without a label",
    "collapsed": "repeated",
    "replaced": "replaced",
    "ingested_at": st.column_config.DatetimeColumn("when", format="YYYY-MM-DD HH:mm"),
}


def answer(place: DeltaGenerator, *sentences: str) -> None:
    """The page's question answered in figures of this dataset; plain text, names and all."""
    place.subheader(" ".join(plain(s) for s in sentences), anchor=False)


def show(fig: go.Figure, alt: str, title: str = "") -> None:
    """A figure under its title; ``alt`` says in words what it shows."""
    if title:
        st.markdown(f"**{plain(title)}**")
    fig.update_xaxes(tickfont_color=INK, title_font_color=INK)
    fig.update_yaxes(tickfont_color=INK, title_font_color=INK)
    fig.update_layout(font_color=INK)
    st.plotly_chart(fig, alt=alt, config=PLOT_CONFIG, key=f"figure: {alt}")


def table(frame: pd.DataFrame, columns: Mapping[str, Any], *, height: int | None = None) -> None:
    """The named columns of a frame; a heading or a column_config each, unknown as a dash."""
    st.dataframe(
        frame,
        column_order=list(columns),
        column_config=dict(columns),
        hide_index=True,
        placeholder=UNKNOWN,
        height=height or "auto",
    )


def pick_one(frame: pd.DataFrame, columns: Mapping[str, Any], *, key: str) -> int | None:
    """A table of which one row can be chosen, the first by default; the index of that row."""
    rows = _pick(frame, columns, key, "single-row", 1)
    return rows[0] if rows else None


def pick_some(frame: pd.DataFrame, columns: Mapping[str, Any], *, key: str, most: int) -> list[int]:
    """A table of which rows can be chosen, the first three by default; the index of at most ``most`` rows."""
    return _pick(frame, columns, key, "multi-row", 3)[:most]


def _pick(frame: pd.DataFrame, columns: Mapping[str, Any], key: str, mode: Any, default: int) -> list[int]:
    event: Any = st.dataframe(
        frame,
        column_order=list(columns),
        column_config=dict(columns),
        hide_index=True,
        placeholder=UNKNOWN,
        height=300,
        key=key,
        on_select="rerun",
        selection_mode=mode,
    )
    positions = event.selection.rows or range(min(default, len(frame)))
    return [int(frame.index[p]) for p in positions if p < len(frame)]


def download(label: str, frame: pd.DataFrame, file_name: str) -> None:
    """A button for the frame as CSV, written when it is clicked."""
    st.download_button(
        label, lambda: csv_bytes(frame), file_name, "text/csv", on_click="ignore", key=f"download {file_name}"
    )


def notes(sentences: Sequence[str]) -> None:
    """Warnings, one line each."""
    for sentence in sentences:
        st.warning(plain(sentence))


def figures_row(values: Mapping[str, object]) -> None:
    """A row of named figures, two a line on a narrow screen."""
    with st.container(horizontal=True, gap="small"):
        for name, value in values.items():
            st.metric(name, str(value), border=True, width=150)
