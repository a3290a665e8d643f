"""Parquet, by DuckDB's own reader."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

from ....errors import IngestError
from .base import STAGING, Staged, first_line
from .database import opened

_NESTED = re.compile(r"\]$|^(STRUCT|MAP)\(")  # types of lists, objects and maps


def _known(found: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if value is not None}


class ParquetReader:
    """Reads a Parquet file; columns of any type become text. nested: whether some hold lists or objects."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = str(path), name
        described = self._fetch("DESCRIBE SELECT * FROM read_parquet(?)", [self._path])
        self.columns = tuple(str(row[0]) for row in described)
        self.nested = any(_NESTED.search(str(row[1])) for row in described)

    def unpacked_size(self) -> int:
        """The size of its columns in bytes, uncompressed."""
        ((size,),) = self._fetch("SELECT sum(total_uncompressed_size) FROM parquet_metadata(?)", [self._path])
        return int(size or 0)

    def head(self, rows: int) -> list[tuple[str | None, ...]]:
        """The first rows."""
        texts = "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM read_parquet(?) LIMIT ?"
        return self._fetch(texts, [self._path, rows])

    def records(self, most: int | None = None) -> Iterator[tuple[int, Any]]:
        """(number, row as an object) of each row, or of the first ``most``; nested columns are objects and lists.

        Nested objects omit fields without a value, as in Parquet each has the fields of all objects of its column.
        """
        numbers = count(1)
        try:
            with opened() as cursor:
                found = cursor.execute(
                    "SELECT to_json(file) FROM read_parquet(?) AS file LIMIT ?", [self._path, most]
                )
                while rows := found.fetchmany(1000):
                    for (text,) in rows:
                        yield (
                            next(numbers),
                            dict.fromkeys(self.columns) | json.loads(text, object_hook=_known),
                        )
        except duckdb.Error as error:
            raise IngestError(self._broken(error)) from error

    def _fetch(self, sql: str, params: list[object]) -> list[tuple[str | None, ...]]:
        try:
            with opened() as cursor:
                return cursor.execute(sql, params).fetchall()
        except duckdb.Error as error:
            raise IngestError(self._broken(error)) from error

    def stage(self, cursor: duckdb.DuckDBPyConnection, picks: Mapping[str, int]) -> Staged:
        """Create ``incoming``; columns are taken by position, so that no name of the file enters the SQL."""
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
