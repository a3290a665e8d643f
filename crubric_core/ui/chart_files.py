"""Save charts: as PNG or SVG by the chart's own button, or their values as CSV."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st
from pandas.api.types import is_numeric_dtype

from ..figures.leaderboard import OPEN_END
from ..files import csv_bytes, significant
from .charts import unpacked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .charts import Sent

FORMATS = ("PNG", "SVG", "CSV")
_CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
}
OPEN = {name: f"x_{end}" for end, name in OPEN_END.items()}
_HELD, _CHOICE = "chart format held", "chart format"
_MARKUP = re.compile(r"<[^>]*>")


def choose_format() -> None:
    """Ask for the file format of charts, once for all pages of the session."""
    st.session_state[_CHOICE] = held_format()
    st.segmented_control(
        "Save charts as",
        FORMATS,
        key=_CHOICE,
        required=True,
        on_change=_hold,
        help="PNG or SVG: use the camera of a chart. CSV: use the button below each chart.",
    )


def held_format() -> str:
    """The file format chosen in this session, one of FORMATS."""
    found: str = st.session_state.get(_HELD, FORMATS[0])
    return found


def _hold() -> None:
    st.session_state[_HELD] = st.session_state[_CHOICE]


def plot_config(name: str) -> dict[str, Any]:
    """Plotly's configuration for the browser: the buttons of the chart, and the format and file name of its picture."""
    saved = {"format": "svg" if held_format() == "SVG" else "png", "filename": _file_name(name)}
    return {**_CONFIG, "toImageButtonOptions": saved}


def _file_name(name: str) -> str:
    """A file name for a chart of this name, without an extension."""
    return re.sub(r"\W+", "_", name.lower()).strip("_")[:60].strip("_") or "chart"


def offer_values(fig: Sent, name: str) -> None:
    """A button that downloads the values of a chart, if CSV is the chosen format."""
    if held_format() == "CSV":
        st.download_button(
            "Download the chart's values",
            lambda: csv_bytes(significant(chart_values(fig.to_dict()))),
            f"{_file_name(name)}.csv",
            "text/csv",
            on_click="ignore",
            key=f"values {name}",
        )


def chart_values(spec: Mapping[str, Any]) -> pd.DataFrame:
    """The values of a chart, one row per mark: trace, x, y, ends of error bars; for heat maps z and the cell's text.

    x and y have the names of an axis with names. Otherwise a column ``name`` has the names of the marks, if any.
    """
    tables: list[pd.DataFrame] = []
    for n, trace in enumerate(spec["data"]):
        if end := OPEN.get(str(trace.get("meta"))):  # open ends of the intervals before it
            tables[-1].loc[np.isfinite(unpacked(trace["x"])), end] = np.inf if end == "x_high" else -np.inf
        else:
            tables.append(_trace(trace, spec["layout"], n))
    found = (
        pd.concat([table for table in tables if len(table)], ignore_index=True) if tables else pd.DataFrame()
    )
    return found.dropna(axis=1, how="all")


def _trace(trace: Mapping[str, Any], layout: Mapping[str, Any], number: int) -> pd.DataFrame:
    name = _text(trace.get("name") or f"trace {number + 1}")
    if trace.get("type") == "heatmap":
        z = np.atleast_2d(unpacked(trace.get("z")))
        x = unpacked(trace["x"]) if "x" in trace else np.arange(z.shape[1])
        y = unpacked(trace["y"]) if "y" in trace else np.arange(z.shape[0])
        across, down = np.meshgrid(_named(x, layout, "xaxis"), _named(y, layout, "yaxis"))
        table = pd.DataFrame({"trace": name, "x": across.ravel(), "y": down.ravel(), "z": z.ravel()})
        written = np.asarray(trace.get("text", ()), dtype=object)
        return table.assign(text=[*map(_text, written.ravel())]) if written.shape == z.shape else table
    x, y = unpacked(trace.get("x")), unpacked(trace.get("y"))
    size = min(len(axis) for axis in (x, y) if len(axis)) if len(x) or len(y) else 0
    x = x[:size] if len(x) else np.arange(size)
    y = y[:size] if len(y) else np.arange(size)
    table = pd.DataFrame(
        {
            "trace": name,
            "x": _named(x, layout, "xaxis" + str(trace.get("xaxis", "x"))[1:]),
            "y": _named(y, layout, "yaxis" + str(trace.get("yaxis", "y"))[1:]),
        }
    )
    names = _mark_names(trace.get("customdata"))[:size]
    if len(names) == size and all(is_numeric_dtype(table[axis]) for axis in ("x", "y")):
        table.insert(1, "name", names)
    for axis, values in (("x", x), ("y", y)):
        bar = trace.get(f"error_{axis}") or {}
        if bar.get("array") is not None:
            up = unpacked(bar["array"])[:size]
            down = unpacked(bar["arrayminus"])[:size] if bar.get("arrayminus") is not None else up
            table[f"{axis}_low"], table[f"{axis}_high"] = values - down, values + up
    return table


def _mark_names(told: Any) -> list[str]:
    """The name of each mark in its tooltip: the custom data or their first entry; numbers are skipped."""
    firsts = [each[0] if isinstance(each, list) else each for each in told] if isinstance(told, list) else []
    return [_text(first) for first in firsts if isinstance(first, str)]


def _named(values: np.ndarray[Any, Any], layout: Mapping[str, Any], axis: str) -> np.ndarray[Any, Any]:
    """The names of an axis with names at these positions; the values unchanged for another axis."""
    found = layout.get(axis) or {}
    if found.get("type") == "log" or found.get("ticktext") is None or values.dtype.kind not in "iuf":
        return values
    places = [float(place) for place in unpacked(found.get("tickvals"))]
    if places != list(range(len(places))):
        return values
    names = [_text(text) for text in found["ticktext"]]
    nearest = np.nan_to_num(np.rint(values.astype(np.float64)), nan=-1).astype(int)
    return np.array([names[n] if 0 <= n < len(names) else "" for n in nearest], dtype=object)


def _text(value: object) -> str:
    """The text without HTML markup."""
    return html.unescape(_MARKUP.sub("", str(value)))
