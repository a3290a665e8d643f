"""What the rows of a table of labels say of their queries, rubrics and answers: one staged row for each of these."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..readers import values
from ..readers.columns import SPECS, Kind
from ..readers.formats.base import STAGING
from .storing import Upload

if TYPE_CHECKING:
    import duckdb


def told_once(cursor: duckdb.DuckDBPyConnection, kind: Kind, upload: Upload) -> Upload:
    """``incoming`` with each thing once, as its first row names it.

    A column that says two things of one is left out, and the table ``rejected`` has its first contradiction; what
    cannot be read, or names nothing, is rejected with the labels themselves.
    """
    cursor.execute("DELETE FROM rejected")
    named = [c for c in SPECS[kind].values if c in upload.columns]
    keys = ", ".join(map(_quoted, SPECS[kind].keys))
    needed = [f"{values.name(_quoted(c))} IS NOT NULL" for c in SPECS[kind].needed if c in SPECS[kind].keys]
    said = "".join(f", {values.name('i.' + _quoted(c))} AS {_quoted(c)}" for c in named)
    raw = "".join(f", i.{_quoted(c)}" for c in (*SPECS[kind].keys, *named))
    distinct = f'SELECT min({upload.row_sql}) AS "row"{raw} FROM {STAGING} i GROUP BY ALL'
    rows = f'SELECT "row", {keys}{said} FROM ({distinct}) i WHERE {" AND ".join(needed)}'
    told = "".join(
        f', arg_min("{c}", "row") AS "{c}", min("{c}") <> max("{c}") AS "{c} differs"' for c in named
    )
    cursor.execute(
        f'CREATE TEMP TABLE told AS SELECT min("row") AS "row", {keys}{told} FROM ({rows}) GROUP BY {keys}'
    )
    once = [c for c in named if not _contradicted(cursor, c, kind, rows, upload.columns[c])]
    cursor.execute(f"DROP TABLE {STAGING}")
    kept = "".join(f", {_quoted(c)}" for c in once)
    cursor.execute(f'CREATE TEMP TABLE {STAGING} AS SELECT "row", {keys}{kept} FROM told ORDER BY "row"')
    cursor.execute("DROP TABLE told")
    columns = {c: v for c, v in upload.columns.items() if c in SPECS[kind].keys or c in once}
    return replace(upload, row_sql='CAST(i."row" AS BIGINT)', place_sql=None, columns=columns)


def _contradicted(cursor: duckdb.DuckDBPyConnection, column: str, kind: Kind, rows: str, called: str) -> bool:
    """Whether rows say different things of one; the first row that does is rejected, with the reason."""
    if not cursor.execute(f'SELECT bool_or("{column} differs") FROM told').fetchall()[0][0]:
        return False
    keys, value = SPECS[kind].keys, _quoted(column)
    same = " AND ".join(f"r.{_quoted(key)} IS NOT DISTINCT FROM f.{_quoted(key)}" for key in keys)
    ((row, text, first),) = cursor.execute(f"""
        WITH firsts AS (
            SELECT {", ".join(map(_quoted, keys))}, arg_min({value}, "row") AS first,
                   min("row") FILTER ({value} IS NOT NULL) AS first_row
            FROM ({rows}) GROUP BY {", ".join(map(_quoted, keys))} HAVING min({value}) <> max({value})
        )
        SELECT r."row", r.{value}, first_row FROM ({rows}) r JOIN firsts f ON {same}
        WHERE r.{value} <> first ORDER BY r."row" LIMIT 1
    """).fetchall()
    told = f"contradicts row {first:,} about the same {' and '.join(keys)}"
    reason = f"{told}: nothing is taken from the column {called!r}"
    cursor.execute("INSERT INTO rejected VALUES (?, ?, ?, ?)", [row, column, text, reason])
    return True


def _quoted(column: str) -> str:
    return f'"{column}"'
