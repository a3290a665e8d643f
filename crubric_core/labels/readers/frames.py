"""Write data frames from a notebook as Parquet files, so that they are read like any other file."""

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
        """The columns, as an Arrow stream in a PyCapsule."""


def write_frame(frame: Frame, path: Path) -> None:
    """Write a frame as Parquet. Raises IngestError where it has no columns or a column of an unsupported type.

    A pandas index that has names or holds texts becomes columns. An unnamed index of numbers is left out.
    """
    # Hide all but the Arrow interface: DuckDB does not accept a relation of another connection.
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
    """The frame with its index as columns. Each column has one type, and the names are unique texts."""
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
    """The column with all values as texts, as in a CSV file, if it mixes numbers and texts; else unchanged."""
    if not pd.api.types.infer_dtype(column, skipna=True).startswith("mixed"):
        return column
    if column.map(lambda value: isinstance(value, (list, dict, tuple))).any():
        return column
    return column.map(str, na_action="ignore").astype("str")
