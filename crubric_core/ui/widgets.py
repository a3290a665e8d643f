"""Widgets of the pages other than tables: answers, figures, choices, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from .chart_files import offer_values, plot_config
from .charts import Sent, in_ink, plot
from .state import check_choices
from .text import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import plotly.graph_objects as go
    from streamlit.delta_generator import DeltaGenerator


def answer(place: DeltaGenerator, *sentences: str) -> None:
    """Show the answer to the page's question as its header. sentences: plain text; "" is skipped."""
    place.header(" ".join(plain(s) for s in sentences if s), anchor=False)


class Mark(NamedTuple):
    """A mark of a figure that was clicked: the index of its trace, its index in the trace, and its coordinates."""

    trace: int
    number: int
    x: Any
    y: Any


def show(
    fig: go.Figure | Sent,
    alt: str,
    title: str = "",
    look: str = "",
    on_click: Callable[[Mark], None] | None = None,
) -> None:
    """Show a figure with its title, or a note if it has no values.

    alt: alternative text. look: caption on what to look for. on_click: called with the clicked point, bar or cell; for
    a heat map, y and x are its row and column.
    """
    _titled(title)
    sent = _finished(fig)
    if not sent.shows:
        st.write("Nothing to draw: no value is known, or all are 0.")
        return
    config, key = plot_config(title or alt), f"figure: {alt}"
    if on_click is None:
        plot(sent, alt=alt, config=config, key=key)
    else:
        _plot_clickable(sent, alt, config, key, on_click)
    if look:
        st.caption(look)
    offer_values(sent, title or alt)


def _plot_clickable(
    sent: Sent, alt: str, config: dict[str, Any], key: str, on_click: Callable[[Mark], None]
) -> None:
    """Show a clickable figure; each click gives it a new key without selection, so that marks can be clicked again."""
    clicks = f"clicks on {key}"
    number = st.session_state.get(clicks, 0)
    key = f"{key} {number}"

    def clicked() -> None:
        if (mark := clicked_mark(key)) is not None:
            st.session_state[clicks] = number + 1
            on_click(mark)

    plot(sent.clickable(), alt=alt, config=config, key=key, on_select=clicked, selection_mode="points")


def clicked_mark(key: str) -> Mark | None:
    """The clicked mark of the figure with this key; None if there is none."""
    chosen: Any = st.session_state.get(key)
    points = [] if chosen is None else chosen["selection"]["points"]
    if not points:
        return None
    found = points[0]
    return Mark(int(found["curve_number"]), int(found["point_index"]), found["x"], found["y"])


def show_brushable(
    fig: go.Figure | Sent,
    alt: str,
    key: str,
    on_range: Callable[[float, float], None],
    on_none: Callable[[], None],
    title: str = "",
    look: str = "",
) -> None:
    """Show a bar chart on which a range of x can be dragged (``dragged_range``); the page is then rerun.

    on_range: called with the ends of the range. A click on a bar is a range that begins and ends in its middle.
    on_none: called after a double click, which clears the range.
    """

    def brushed() -> None:
        if (dragged := dragged_range(key)) is None:
            on_none()
        else:
            on_range(*dragged)
        st.rerun()

    _titled(title)
    sent = _finished(fig).laid_out(dragmode="select", selectdirection="h")
    plot(
        sent,
        alt=alt,
        config=plot_config(title or alt),
        key=key,
        on_select=brushed,
        selection_mode="box",
    )
    if look:
        st.caption(look)
    offer_values(sent, title or alt)


def dragged_range(key: str) -> tuple[float, float] | None:
    """The ends of the range dragged on the figure, or twice the middle of a clicked bar; None without a selection."""
    chosen: Any = st.session_state.get(key)
    boxes = [] if chosen is None else chosen["selection"]["box"]
    if not boxes:
        mark = clicked_mark(key)
        return None if mark is None else (mark.x, mark.x)
    low, high = sorted(float(x) for x in boxes[0]["x"])
    return low, high


def lazy_tabs(parts: Mapping[str, Callable[[], None]], key: str) -> None:
    """Show tabs of which only the open one is computed; the page's address holds its name."""
    check_choices(key, parts)
    for tab, part in zip(
        st.tabs(list(parts), key=key, on_change="rerun", bind="query-params"), parts.values(), strict=True
    ):
        if tab.open:
            with tab:
                part()


def choose_one(title: str, options: Sequence[str], key: str, **more: Any) -> str:
    """Show buttons for a choice of one option, at first the first one, and return it; the address holds it.

    With a single option no buttons are shown.
    """
    check_choices(key, options)
    if len(options) == 1:
        return options[0]
    chosen: str | None = st.segmented_control(
        title, options, default=options[0], required=True, key=key, bind="query-params", **more
    )
    return chosen or options[0]


def toggle(title: str, key: str, **more: Any) -> bool:
    """Show a switch and return its state, which the address holds."""
    check_choices(key, ("true", "false"))
    return st.toggle(title, key=key, bind="query-params", **more)


def _titled(title: str) -> None:
    if title:
        st.markdown(f"**{plain(title)}**")


def _finished(fig: go.Figure | Sent) -> Sent:
    return fig if isinstance(fig, Sent) else in_ink(fig)


def notes(sentences: Sequence[str]) -> None:
    """Show warnings in one box, one line each."""
    if sentences:
        st.warning(
            "\n".join(f"- {plain(s)}" for s in sentences) if len(sentences) > 1 else plain(sentences[0])
        )


def figures_row(values: Mapping[str, object], helps: Mapping[str, str] | None = None) -> None:
    """Show named figures in a row that wraps. helps: name → explanation, for some of them."""
    with st.container(horizontal=True, gap="small"):
        for name, value in values.items():
            tip = (helps or {}).get(name)
            st.metric(name, str(value), border=True, width="stretch", help=tip)
