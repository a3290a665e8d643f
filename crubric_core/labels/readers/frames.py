"""Data frames as files: what a notebook hands over is read as a Parquet file of the same columns is."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol, runtime_checkable

import duckdb
import pandas as pd

from ...errors import IngestError
from .formats.base import LOCAL


@runtime_checkable
class Frame(Protocol):
    """A data frame of pandas, Polars, Arrow or any other library with the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Its columns."""


def write_frame(frame: Frame, path: Path) -> None:
    """Write a frame as Parquet; raises IngestError where it has no columns, or a column that no table can have.

    An index of pandas with names, or of texts, becomes columns; one that only counts the rows is left out.
    """
    # By Arrow's interface alone: DuckDB would not take a relation of another connection as what it is.
    stream = SimpleNamespace(__arrow_c_stream__=frame.__arrow_c_stream__)
    table = _plain(frame) if isinstance(frame, pd.DataFrame) else stream
    with duckdb.connect(config={**LOCAL}) as connection:
        try:
            connection.register("frame", table)
            connection.sql("FROM frame").write_parquet(str(path))
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise IngestError(
                f"The data frame has a column that cannot be a table's ({reason}): make it text or numbers, or leave "
                "it out."
            ) from error


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its index as columns, each column of one kind and with a name of its own."""
    index = frame.index
    counted = index.names == [None] and pd.api.types.is_numeric_dtype(index)
    table = frame.copy(deep=False) if counted else _with_index(frame)
    names = [".".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in list(table)]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise IngestError(f"The data frame has two columns called {twice[0]!r}: rename one of them.")
    if not names:
        raise IngestError("The data frame has no columns: it holds no table.")
    table.columns = pd.Index(names)
    mixed = {name: _of_one_kind(table[name]) for name in names if table[name].dtype == object}
    return table.assign(**mixed)


def _with_index(frame: pd.DataFrame) -> pd.DataFrame:
    try:
        return frame.reset_index()
    except ValueError as error:
        raise IngestError(
            f"The data frame's index has the name of a column ({error}): rename one of them."
        ) from error


def _of_one_kind(column: pd.Series[Any]) -> pd.Series[Any]:
    """Numbers among texts as texts, as in a CSV file."""
    if not pd.api.types.infer_dtype(column, skipna=True).startswith("mixed"):
        return column
    if column.map(lambda value: isinstance(value, (list, dict, tuple))).any():
        return column
    return column.map(str, na_action="ignore").astype("str")
