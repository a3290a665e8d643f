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


def heading(title: str) -> DeltaGenerator:
    """The page's title; returns the place of its first line, the answer, which is known only later."""
    st.title(title, anchor=False)
    return st.empty()


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
