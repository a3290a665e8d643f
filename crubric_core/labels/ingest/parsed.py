"""Parse each SQL text only once: parsing takes DuckDB a millisecond per kB, as long as execution on few rows."""

from __future__ import annotations

from typing import Any

import duckdb

_MOST = 500  # cached texts; some contain ids and ranges of one dataset and never occur again
_parsed: dict[str, list[duckdb.Statement]] = {}


def execute(cursor: duckdb.DuckDBPyConnection, sql: str, params: Any = None) -> duckdb.DuckDBPyConnection:
    """Execute SQL like ``cursor.execute``, but parse each text only once. params: for its last statement.

    The cache is shared by all connections, as DuckDB executes a copy of a parsed statement.
    """
    statements = _parsed.get(sql)
    if statements is None:
        if len(_parsed) >= _MOST:
            _parsed.clear()
        statements = _parsed[sql] = cursor.extract_statements(sql)
    *first, last = statements
    for statement in first:
        cursor.execute(statement)
    return cursor.execute(last, params)
