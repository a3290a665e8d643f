"""Show a published view; readers and the publisher's preview see the same page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import plotly.graph_objects as go
import streamlit as st

from ...analysis.columns import shown_columns
from ...figures.shared_view import shared_figures
from ...reports.standalone_parts import PRINTED, printed_table
from ...sharing.files import file_names, view_file
from ...sharing.words import answer, bank_sentences, compared, origin, reading, settings_list, support
from .. import chart_files, table_widgets, tables, widgets
from ..charts import Sent, in_ink, plot
from ..text import count, plain, short_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import pandas as pd

    from ...figures.shared_view import SharedFigure
    from ...sharing import Separation, SharedView

CSS = Path(__file__).with_name("viewer.css")
ROWS = 25  # rows of the leaderboard that are visible without scrolling
TYPES = {"csv": "text/csv", "json": "application/json"}
RUBRICS: dict[str, Any] = {
    "order": st.column_config.NumberColumn("#", width="small"),
    "rubric": "rubric",
    "query": "query",
    "text": st.column_config.TextColumn("text", width="large"),
}


@dataclass(frozen=True)
class ViewFigure:
    """A figure of a view, ready for the browser. sent: for wide screens. narrow: for phones.

    part, title, alt: as in ``SharedFigure``.
    """

    part: str
    title: str
    alt: str
    sent: Sent
    narrow: Sent


def figures_of(view: SharedView) -> list[ViewFigure]:
    """The figures of a view, drawn for both themes."""
    return [
        ViewFigure(f.part, f.title, f.alt, in_ink(f.figure), in_ink(_narrowed(f)))
        for f in shared_figures(view)
    ]


def _narrowed(shared: SharedFigure) -> go.Figure:
    figure = go.Figure(shared.figure)
    for path, value in shared.narrow.items():
        figure[path] = value
    return figure


def on_a_phone() -> bool:
    """Whether the user agent is that of a phone (MDN, Browser detection using the user agent); the width is unknown."""
    return "Mobi" in st.context.headers.get("User-Agent", "")


def render(view: SharedView, figures: Sequence[ViewFigure], until: datetime | None = None) -> None:
    """Show the whole page of a view. until: the expiry of its link, which is shown to the reader; None: not shown."""
    st.html(CSS)
    st.title(plain(view.title) or "Leaderboard", anchor=False)
    widgets.answer(st.empty(), *answer(view))
    closes = f" Its link closes on {until:%d %B %Y at %H:%M} UTC." if until else ""
    st.caption(_made(view) + closes)
    for line in view.note.splitlines():
        st.markdown(plain(line))
    if view.leaderboard is None:
        widgets.notes(view.cautions)
    else:
        _leaderboard(view, view.leaderboard, figures)
    if view.separation is not None:
        _comparison(view, view.separation, figures)
    if view.bank is not None:
        _bank(view, figures)
    if view.rubrics is not None:
        _rubrics(view.rubrics)
    _about(view)


def _made(view: SharedView) -> str:
    dataset = f" from {plain(view.dataset)}" if view.dataset is not None else ""
    counts = view.counts
    return (
        f"Made on {view.made_at:%d %B %Y}{dataset}: {count(counts['labels'], 'label')} by "
        f"{count(counts['judges'], 'judge')}. Read only."
    )


def _leaderboard(view: SharedView, board: pd.DataFrame, figures: Sequence[ViewFigure]) -> None:
    st.header("Ranking", anchor=False)
    st.markdown(plain(" ".join(support(view))))
    _draw(view, figures, "leaderboard")
    for sentence in reading(view):
        st.caption(plain(sentence))
    widgets.notes(view.cautions)
    columns = {name: tables.LEADERBOARD[name] for name in shown_columns(board)}
    with st.container(horizontal=True, vertical_alignment="bottom", key="shared filters"):
        words = st.text_input("Find a system", key="shared system", max_chars=80, width=260)
        tiers = sorted(board["tier"].dropna().unique()) if "tier" in board else []
        if len(tiers) > 1:
            chosen = st.pills("Tiers", tiers, selection_mode="multi", key="shared tiers")
            board = board[board["tier"].isin(chosen)] if chosen else board
    if words.strip():
        board = board[board["system"].str.contains(words.strip(), case=False, regex=False)]
    if board.empty:
        st.write("No system is called that.")
        return
    _table("leaderboard", board, columns, rows=ROWS)


def _comparison(view: SharedView, separation: Separation, figures: Sequence[ViewFigure]) -> None:
    st.header("Comparison", anchor=False)
    names = list(range(len(separation.systems)))
    if len(names) > 1:
        left, right = st.columns(2)
        label = short_names(separation.systems, 40).__getitem__
        one = left.selectbox("Is this system", names, format_func=label, key="shared one")
        other = right.selectbox("ahead of this one?", names, index=1, format_func=label, key="shared other")
        st.markdown(plain(compared(separation, one, other)))
    _draw(view, figures, "separation")
    st.caption("Columns are in the order of the rows.")


def _bank(view: SharedView, figures: Sequence[ViewFigure]) -> None:
    bank = view.bank
    if bank is None:
        return
    st.header("Bank", anchor=False)
    st.markdown(plain(" ".join(bank_sentences(bank, view.settings))))
    widgets.figures_row(
        {
            "Rubrics in the bank": f"{bank.size:,}",
            "That pass and vary": f"{bank.candidates:,}",
            "Rubrics in all": f"{bank.rubrics:,}",
            "Share of the pool's utility": f"{bank.coverage:.1%}",
            "Queries covered": f"{bank.queries_heard:,} of {bank.queries:,}",
        },
        {
            "Share of the pool's utility": "Information over the abilities, with diminishing returns, as a share of "
            "that of all rubrics that pass and vary"
        },
    )
    left, right = st.columns(2, gap="large")
    parts = [figure for figure in figures if figure.part == "bank"]
    for place, figure in zip((left, right), parts, strict=False):
        with place:
            _draw(view, [figure], "bank")


def _rubrics(rubrics: pd.DataFrame) -> None:
    st.header("Rubrics of the bank", anchor=False)
    words = st.text_input("Find in rubrics, queries and texts", key="shared words", max_chars=80, width=260)
    found = rubrics[_containing(rubrics, words.strip())] if words.strip() else rubrics
    _table("rubrics", found, RUBRICS, rows=11)


def _table(
    name: Literal["leaderboard", "rubrics"], table: pd.DataFrame, columns: Mapping[str, Any], rows: int
) -> None:
    """A table that scrolls on the screen; printed on paper it has at most PRINTED rows."""
    table_widgets.table(table, columns, rows=rows, others=table_widgets.SEARCHED)
    with st.container(key=f"shared printed {name}"):
        st.html(printed_table(name, table))
        if len(table) > PRINTED:
            st.caption(f"The first {PRINTED} of {len(table):,} rows.")


def _containing(rubrics: pd.DataFrame, words: str) -> pd.Series[bool]:
    texts = rubrics[["rubric", "query", "text"]].fillna("").astype(str)
    return texts.apply(lambda column: column.str.contains(words, case=False, regex=False)).any(axis=1)


def _about(view: SharedView) -> None:
    st.header("About these figures", anchor=False)
    st.markdown("\n".join(f"- **{plain(name)}:** {plain(words)}" for name, words in origin(view).items()))
    with st.expander("Settings"):
        st.markdown(
            "\n".join(f"- {plain(name)}: {plain(words)}" for name, words in settings_list(view).items())
        )
    if view.downloads:
        with st.container(horizontal=True, key="shared downloads"):
            for name in file_names(view):
                st.download_button(
                    f"Download {name}",
                    partial(view_file, view, name),
                    name,
                    TYPES[name.rsplit(".", 1)[1]],
                    on_click="ignore",
                    key=f"shared {name}",
                )


def _draw(view: SharedView, figures: Sequence[ViewFigure], part: str) -> None:
    """Show the figures of one part; they have the button that saves a picture only if downloads are allowed."""
    phone = on_a_phone()
    for shared in figures:
        if shared.part == part:
            st.markdown(f"**{plain(shared.title)}**")
            plot(
                shared.narrow if phone else shared.sent,
                alt=shared.alt,
                config=chart_files.plot_config(shared.title) if view.downloads else {"displayModeBar": False},
                key=f"shared figure: {shared.alt}",
            )
