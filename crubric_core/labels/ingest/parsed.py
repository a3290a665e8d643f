"""SQL that is parsed once: that takes DuckDB a millisecond a kB, on few rows as long as what the SQL then does."""

from __future__ import annotations

from typing import Any

import duckdb

_MOST = 500  # texts that are kept; some name the ids and ranges of one dataset, and are never met again
_parsed: dict[str, list[duckdb.Statement]] = {}


def execute(cursor: duckdb.DuckDBPyConnection, sql: str, params: Any = None) -> duckdb.DuckDBPyConnection:
    """As ``cursor.execute``; what was parsed on one connection holds for all, as DuckDB executes a copy of it."""
    statements = _parsed.get(sql)
    if statements is None:
        if len(_parsed) >= _MOST:
            _parsed.clear()
        statements = _parsed[sql] = cursor.extract_statements(sql)
    *first, last = statements
    for statement in first:
        cursor.execute(statement)
    return cursor.execute(last, params)
