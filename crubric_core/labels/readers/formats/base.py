"""The interface of the readers of file formats."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import duckdb

# Options of every DuckDB connection: it never downloads or loads an extension that is not in the library itself.
LOCAL = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
STAGING = "incoming"


@dataclass(frozen=True)
class Staged:
    """Where the rows of the temporary table ``incoming`` are in the file.

    row_sql: SQL expression over ``incoming i`` for the row's number, as a person counts in the file; unique.
    place_sql: expression for its place in words, if the number alone is not enough; else None.
    """

    row_sql: str
    place_sql: str | None = None


class Reader(Protocol):
    """Reads one file: its column names first, then the columns wanted, as text, into ``incoming``."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The file's column names, in its order, as written."""
        ...

    def head(self, rows: int) -> list[tuple[str | None, ...]]:
        """The first rows, as text."""
        ...

    def stage(self, cursor: duckdb.DuckDBPyConnection, picks: Mapping[str, int]) -> Staged:
        """Create the temporary table ``incoming`` with one text column for each key of ``picks``.

        A record that cannot be split into columns goes to the temporary table ``rejected`` instead.
        """
        ...


def first_line(error: duckdb.Error) -> str:
    """The part of DuckDB's message about the content, without the path of the copy that it read."""
    text = str(error).split("\n", 1)[0].split(": ", 1)[-1]
    return (
        re.sub(r"""(,?\s*\b(in|of|at end of))?\s*\bfile ["'][^"']*["']:?""", "", text).strip(". ")[:200]
        or "damaged"
    )
