"""DuckDB in memory, to look into a file with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from .base import LOCAL

_idle: list[duckdb.DuckDBPyConnection] = []


@contextmanager
def opened() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to a database that nobody else uses meanwhile, as opening one takes longer than a look at a file.

    One that DuckDB fails on a file with can be invalid from then on: it is not used again.
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
