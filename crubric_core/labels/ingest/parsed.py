"""Cache parsed SQL: DuckDB parses a kB in a millisecond, which on few rows takes as long as the execution."""

from __future__ import annotations

from typing import Any

import duckdb

_MOST = 500  # most cached texts; some contain ids of one dataset and do not occur again
_parsed: dict[str, list[duckdb.Statement]] = {}


def execute(cursor: duckdb.DuckDBPyConnection, sql: str, params: Any = None) -> duckdb.DuckDBPyConnection:
    """Execute SQL as ``cursor.execute``, but parse each text once for all connections."""
    statements = _parsed.get(sql)
    if statements is None:
        if len(_parsed) >= _MOST:
            _parsed.clear()
        statements = _parsed[sql] = cursor.extract_statements(sql)
    *first, last = statements
    for statement in first:
        cursor.execute(statement)
    return cursor.execute(last, params)
