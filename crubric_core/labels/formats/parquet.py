"""Parquet, by DuckDB's own reader."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import duckdb

from ...errors import IngestError
from .base import STAGING, Staged, first_line


class ParquetReader:
    """A Parquet file; columns of any type come out as text."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = str(path), name
        try:
            with duckdb.connect() as connection:
                described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [self._path])
                self.columns = tuple(row[0] for row in described.fetchall())
        except duckdb.Error as error:
            raise IngestError(self._broken(error)) from error

    def stage(self, cursor: duckdb.DuckDBPyConnection, picks: Mapping[str, int]) -> Staged:
        """Columns are taken by position, so that no name of the file enters the SQL."""
        renamed = ", ".join(f"c{i}" for i in range(len(self.columns)))
        wanted = ", ".join(f'CAST(c{i} AS VARCHAR) AS "{name}"' for name, i in picks.items())
        sql = f"CREATE TEMP TABLE {STAGING} AS SELECT {wanted} FROM read_parquet(?) AS file({renamed})"
        try:
            cursor.execute(sql, [self._path])
        except duckdb.Error as error:
            raise IngestError(self._broken(error)) from error
        return Staged(row_sql="i.rowid + 1")

    def _broken(self, error: duckdb.Error) -> str:
        return f"{self._name} cannot be read as Parquet ({first_line(error)}): write the file again."
