"""JSON Lines, or one JSON array of objects, by DuckDB's own reader."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import duckdb

from ....errors import IngestError
from .base import STAGING, Staged, first_line
from .database import opened
from .records import repeated, repeated_key_sentence

_RECORDS = "read_json_objects(?, format = 'auto', maximum_object_size = 67108864)"
_REPEATS = "len(keys) > len(list_distinct(keys))"  # whether a record has a key twice


class JsonReader:
    """Reads JSON objects as rows; a field that an object lacks is None, a nested value is its JSON text."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = str(path), name
        lists = f"SELECT DISTINCT json_keys(json) AS keys FROM {_RECORDS} WHERE json_type(json) = 'OBJECT'"
        keys = f"SELECT unnest(keys) AS key, {_REPEATS} AS repeats FROM ({lists})"
        try:
            with opened() as cursor:
                found = cursor.execute(
                    f"SELECT key, bool_or(repeats) FROM ({keys}) GROUP BY key ORDER BY key", [self._path]
                ).fetchall()
                self.columns = tuple(key for key, _ in found)
                self._repeats = any(repeats for _, repeats in found)
        except duckdb.Error as error:
            raise IngestError(self._broken(error)) from error
        if not self.columns:
            raise IngestError(
                f"{name} holds no JSON objects: expected one object a line, or an array of them."
            )

    def head(self, rows: int) -> list[tuple[str | None, ...]]:
        """The first records."""
        wanted = ", ".join("json_extract_string(json, ?)" for _ in self.columns)
        pointers = [_pointer(column) for column in self.columns]
        try:
            with opened() as cursor:
                found = cursor.execute(
                    f"SELECT {wanted} FROM {_RECORDS} LIMIT ?", [*pointers, self._path, rows]
                )
                return found.fetchall()
        except duckdb.Error as error:
            raise IngestError(self._broken(error)) from error

    def stage(self, cursor: duckdb.DuckDBPyConnection, picks: Mapping[str, int]) -> Staged:
        """Create ``incoming``; bound JSON pointers find the fields, so that no name of the file enters the SQL."""
        wanted = ", ".join(f'json_extract_string(json, ?) AS "{name}"' for name in picks)
        pointers = [_pointer(self.columns[i]) for i in picks.values()]
        sql = f"CREATE TEMP TABLE {STAGING} AS SELECT {wanted} FROM {_RECORDS}"
        try:
            cursor.execute(sql, [*pointers, self._path])
            if self._repeats:
                self._reject_repeated(cursor)
        except duckdb.Error as error:
            raise IngestError(self._broken(error)) from error
        return Staged(row_sql="i.rowid + 1")

    def _reject_repeated(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Reject the records that have a key twice, of which the database would read the first value."""
        records = f"SELECT row_number() OVER () AS record, json, json_keys(json) AS keys FROM {_RECORDS}"
        cursor.execute(
            f"SELECT record, left(CAST(json AS VARCHAR), 200), keys FROM ({records}) WHERE {_REPEATS}",
            [self._path],
        )
        found = [(record, text, repeated(keys)) for record, text, keys in cursor.fetchall()]
        told = [(row, key, text, repeated_key_sentence(key)) for row, text, key in found]
        cursor.execute(
            "INSERT INTO rejected SELECT unnest(?::BIGINT[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), "
            "unnest(?::VARCHAR[])",
            [list(cells) for cells in zip(*told, strict=True)],
        )
        cursor.execute(f'DELETE FROM {STAGING} WHERE rowid + 1 IN (SELECT "row" FROM rejected)')

    def _broken(self, error: duckdb.Error) -> str:
        found = re.search(r"(?:record/value|line) (\d+)", str(error))
        where = f"record {found[1]} is not valid JSON" if found else first_line(error)
        return f"{self._name} cannot be read as JSON ({where}): correct the file or write it again."


def _pointer(field: str) -> str:
    return "/" + field.replace("~", "~0").replace("/", "~1")
