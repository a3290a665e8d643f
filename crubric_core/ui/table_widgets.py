"""Show tables: visible rows, column widths, shares, long names; selection of rows; download as CSV."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import streamlit as st
from pandas.api.types import is_float_dtype

from ..files import csv_bytes, significant
from ..text import LEAST_SHARE
from .text import UNKNOWN, plain, short_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

LONG_NAME, NAME_WIDTH = 40, 240  # letters above which a column has a fixed width, and that width in pixels
IN_SIGHT = 32  # letters that fit into NAME_WIDTH
MEASURED = 9  # least number of rows from whose texts the browser chooses the width of a column
LETTER, EDGES = 7, 20  # pixels of a letter, and of a cell's padding
NAMES = ("system", "query", "rubric", "judge", "first", "second")
APART = "Long names are shortened to the part that differs; downloads have the full names."
MOST_ROWS = 1_000  # rows of a table sent to the browser, which reads all of them again at every change
BY_KEYBOARD = "Shift and Space choose a row"
SEARCHED, DOWNLOADED = "Search or filter for others.", "The download has all."


def table(
    frame: pd.DataFrame, columns: Mapping[str, Any], *, rows: int = 10, others: str = DOWNLOADED
) -> None:
    """Show columns of a frame; unknown values appear as a dash.

    columns: name → heading or column_config. Text columns without any text are left out, and a caption names them.
    rows: visible rows at most. others: a sentence on how to reach rows beyond MOST_ROWS.
    """
    asked = columns
    if len(frame):
        known = with_values(columns, frame)
        columns = {n: c for n, c in columns.items() if n in known or n not in frame or not _is_text(c)}
    frame, columns = even_percentages(frame, columns)
    frame, columns = narrow_names(frame, columns)
    st.dataframe(
        _sent(frame, columns),
        column_order=list(columns),
        column_config=dict(columns),
        hide_index=True,
        placeholder=UNKNOWN,
        height=height(frame, rows),
    )
    _caption_rows_left_out(frame, others)
    caption_columns_left_out(asked, columns)


def _sent(frame: pd.DataFrame, columns: Mapping[str, Any]) -> pd.DataFrame:
    """The frame for the browser: the shown columns of the first MOST_ROWS rows, infinite values as NaN, a new index."""
    shown = frame[[name for name in columns if name in frame]].head(MOST_ROWS)
    floats = [name for name in columns if name in shown and is_float_dtype(shown[name])]
    told = {name: _no_minus_zero(finite(shown[name]), columns[name]) for name in floats}
    return shown.assign(**told).reset_index(drop=True)


def _no_minus_zero(numbers: pd.Series[float], column: Any) -> pd.Series[float]:
    """The numbers, with 0 in place of values that the browser would show as "-0.00"."""
    shown = "" if isinstance(column, str) else column["type_config"].get("format") or ""
    decimals = re.fullmatch(r"%\.(\d+)f", shown)
    if decimals is None:
        return numbers
    return numbers.mask((numbers < 0) & (numbers > -0.5 * 10.0 ** -int(decimals[1])), 0.0)


def finite(numbers: pd.Series[float]) -> pd.Series[float]:
    """The numbers with NaN in place of infinite ones, which the browser would show as "Infinity"."""
    return numbers.replace([np.inf, -np.inf], np.nan)


def height(frame: pd.DataFrame, rows: int) -> int:
    """Height in pixels of a table with its heading and at most ``rows`` visible rows; the others need scrolling."""
    return 38 + 35 * min(max(len(frame), 1), rows)


def _caption_rows_left_out(frame: pd.DataFrame, others: str) -> None:
    if len(frame) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS:,} of {len(frame):,} rows; sorting applies only to these. {others}")


def even_percentages(frame: pd.DataFrame, columns: Mapping[str, Any]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The frame and columns with shares as percentages with one decimal; Streamlit would show 50% above 33.33%.

    A column in which one decimal would show a positive share as 0 has three significant digits instead.
    """
    shown = dict(columns)
    shares = [
        name
        for name, column in columns.items()
        if name in frame and not isinstance(column, str) and column["type_config"].get("format") == "percent"
    ]
    for name in shares:
        values = frame[name].astype("Float64")
        tiny = ((values > 0) & (values < LEAST_SHARE)).any()
        even = {**columns[name]["type_config"], "format": "%.3g%%" if tiny else "%.1f%%"}
        shown[name] = {**columns[name], "type_config": even}
    return frame.assign(**{name: 100 * frame[name].astype("Float64") for name in shares}), shown


def narrow_names(frame: pd.DataFrame, columns: Mapping[str, Any]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The frame and columns with long texts at most NAME_WIDTH wide, so that other columns stay visible.

    Columns with a given width keep it. Names are shortened so that they stay distinguishable.
    """
    shown, apart = dict(columns), {}
    for name, column in columns.items():
        given = {} if isinstance(column, str) else column
        if name not in frame or not _is_text(column) or given.get("width") is not None:
            continue
        texts = {text for text in frame[name] if isinstance(text, str)}
        longest = max(map(len, texts), default=0)
        title, told = column if isinstance(column, str) else given.get("label"), given.get("help")
        if longest <= LONG_NAME:
            if longest > max(
                (len(text) for text in frame[name].head(MEASURED) if isinstance(text, str)), default=0
            ):
                width = min(LETTER * longest + EDGES, NAME_WIDTH)
                shown[name] = st.column_config.TextColumn(title, help=told, width=width)
            continue
        if name in NAMES:
            short = dict(zip(texts, short_names(texts, IN_SIGHT), strict=True))
            apart[name] = [short.get(text, text) for text in frame[name]]
            told = f"{told}. {APART}" if told else APART
        shown[name] = st.column_config.TextColumn(title, help=told, width=NAME_WIDTH)
    return frame.assign(**apart), shown


def _is_text(column: Any) -> bool:
    """Whether ``column``, a heading or a column_config, is for texts."""
    return isinstance(column, str) or column.get("type_config", {}).get("type", "text") == "text"


def with_values(columns: Mapping[str, Any], every: pd.DataFrame) -> dict[str, Any]:
    """The columns that have a value in some row of ``every``."""
    every = every[[name for name in columns if name in every]]
    known = (every.notna() & (every != "")).any()
    return {name: column for name, column in columns.items() if known.get(name, False)}


def caption_columns_left_out(asked: Mapping[str, Any], shown: Mapping[str, Any]) -> None:
    """Show a caption that names the columns in ``asked`` but not in ``shown``, which have no values."""
    if without := [title for name, title in _titles(asked).items() if name not in shown]:
        st.caption(plain(f"Not shown, because no row has a value: {', '.join(without)}."))


def pick_one(
    frame: pd.DataFrame,
    columns: Mapping[str, Any],
    *,
    key: str,
    rows: int,
    others: str = DOWNLOADED,
    every: pd.DataFrame | None = None,
) -> int | None:
    """Show a table in which one row can be chosen, at first the first one; return the row's index, or None.

    rows: visible rows at most. every: see ``pick_some``.
    """
    chosen = _pick(frame, columns, key, rows, "single-row", [0], others, every=every)
    return chosen[0] if chosen else None


def pick_some(
    frame: pd.DataFrame,
    columns: Mapping[str, Any],
    *,
    key: str,
    rows: int,
    start: Sequence[int],
    others: str,
    on_pick: Callable[[], Any] | Literal["rerun"] = "rerun",
    every: pd.DataFrame | None = None,
) -> list[int]:
    """Show a table in which several rows can be chosen; return the indices of the chosen rows.

    start: positions of the rows that are chosen at first. rows: visible rows at most. every: the rows before a search
    or filter; columns without a value in these are left out, and a caption names them.
    """
    return _pick(frame, columns, key, rows, "multi-row", start, others, on_pick, every)


def _pick(
    frame: pd.DataFrame,
    columns: Mapping[str, Any],
    key: str,
    rows: int,
    mode: Any,
    start: Sequence[int],
    others: str,
    on_pick: Callable[[], Any] | Literal["rerun"] = "rerun",
    every: pd.DataFrame | None = None,
) -> list[int]:
    if frame.empty:
        st.write("Nothing matches the search and the filters.")
        return []
    asked = columns
    columns = columns if every is None else with_values(columns, every)
    frame, columns = even_percentages(frame, columns)
    frame, columns = narrow_names(frame, columns)
    chosen: Any = st.dataframe(
        _sent(frame, columns),
        column_order=list(columns),
        column_config=dict(columns),
        hide_index=True,
        placeholder=UNKNOWN,
        height=height(frame, rows),
        key=key,
        on_select=on_pick,
        selection_mode=mode,
        selection_default={"selection": {"rows": [p for p in start if p < min(len(frame), MOST_ROWS)]}},
        alt=f"Table. {BY_KEYBOARD}",
    )
    _caption_rows_left_out(frame, others)
    caption_columns_left_out(asked, columns)
    return [int(frame.index[p]) for p in chosen.selection.rows if p < len(frame)]


def download(
    label: str,
    frame: pd.DataFrame | Callable[[], pd.DataFrame],
    file_name: str,
    columns: Mapping[str, Any] | None = None,
) -> None:
    """Show a button that downloads the frame as CSV, which is written when it is clicked.

    frame: a frame, or a function that returns it. columns: of the table on the page; the button's help then explains
    the file's column names.
    """

    def written() -> bytes:
        return csv_bytes(significant(frame() if callable(frame) else frame))

    st.download_button(
        label,
        written,
        file_name,
        "text/csv",
        on_click="ignore",
        key=f"download {file_name}",
        help=None if columns is None else _names_in_files(columns),
    )


def _names_in_files(columns: Mapping[str, Any]) -> str:
    """A sentence on the columns that have other names in files: files use the names of the command line."""
    named = [f"“{plain(title)}” is `{name}`" for name, title in _titles(columns).items() if name != title]
    return f"Its columns have the command line's names: {', '.join(named)}."


def _titles(columns: Mapping[str, Any]) -> dict[str, str]:
    return {name: c if isinstance(c, str) else c.get("label") or name for name, c in columns.items()}
