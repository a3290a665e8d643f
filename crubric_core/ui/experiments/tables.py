"""Show a declared table of an experiment on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from .. import table_widgets
from ..text import plain

if TYPE_CHECKING:
    import pandas as pd

    from ...experiments.declaration import ResultColumn, ResultTable


def show_table(frame: pd.DataFrame, table: ResultTable) -> None:
    """Show the table with its title and caption."""
    st.markdown(f"**{plain(table.title)}**")
    table_widgets.table(table.shown(frame), page_columns(table), rows=11)
    if table.caption:
        st.caption(plain(table.caption))


def page_columns(table: ResultTable) -> dict[str, Any]:
    """Column → Streamlit's declaration of it, for the columns that the page shows."""
    return {name: _heading(column) for name, column in table.columns.items() if column.on_page}


def _heading(column: ResultColumn) -> Any:
    """Streamlit's declaration of the column: a check box, a number that the browser formats, or text."""
    about = column.help or None
    if column.format == "check":
        return st.column_config.CheckboxColumn(column.title, help=about)
    if column.is_number:
        return st.column_config.NumberColumn(column.title, format=column.format, help=about)
    return st.column_config.TextColumn(column.title, help=about)
