"""In-memory databases of DuckDB, with which files are inspected."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from .base import LOCAL

_idle: list[duckdb.DuckDBPyConnection] = []


@contextmanager
def opened() -> Iterator[duckdb.DuckDBPyConnection]:
    """A cursor of an in-memory database that no other caller uses meanwhile; idle ones are reused, as opening is slow.

    A database that raised duckdb.Error may be invalid from then on: it is closed.
    """
    try:
        database = _idle.pop()
    except IndexError:
        database = duckdb.connect(config={**LOCAL, "enable_external_file_cache": "false"})
    usable = True
    try:
        with database.cursor() as cursor:
            yield cursor
    except duckdb.Error:
        usable = False
        database.close()
        raise
    finally:
        if usable:
            _idle.append(database)
