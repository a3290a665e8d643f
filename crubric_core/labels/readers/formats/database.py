"""In-memory DuckDB connections for reading files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from .base import LOCAL

_idle: list[duckdb.DuckDBPyConnection] = []


@contextmanager
def opened() -> Iterator[duckdb.DuckDBPyConnection]:
    """A cursor of a pooled in-memory database, for exclusive use; opening a new one takes longer than reading a file.

    After a DuckDB error the database may be invalid, so it is closed and not reused.
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
