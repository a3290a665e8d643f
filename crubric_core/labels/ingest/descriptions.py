"""Reduce descriptions of queries, rubrics and answers in rows of labels to one staged row for each described thing."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..readers import values
from ..readers.columns.specs import SPECS, Kind
from ..readers.formats.base import STAGING
from ..readers.tables.described import WITHIN
from .storing import Origin, Upload

if TYPE_CHECKING:
    import duckdb


def distinct(cursor: duckdb.DuckDBPyConnection, kind: Kind, upload: Upload) -> Upload:
    """Reduce ``incoming`` of one file to its distinct rows, without rows that lack a needed name.

    ``rejected`` is emptied: the table of labels of the same file rejects such rows.
    """
    cursor.execute("DELETE FROM rejected")
    columns = ", ".join(f'i."{c}"' for c in (*SPECS[kind].keys, *_named(kind, upload)))
    needed = [f"{values.name(_cell(c))} IS NOT NULL" for c in SPECS[kind].needed if c in SPECS[kind].keys]
    _replace_staged(
        cursor,
        f'SELECT min({upload.row_sql}) AS "row", {columns} FROM {STAGING} i WHERE {" AND ".join(needed)} GROUP BY ALL',
    )
    return replace(upload, row_sql='CAST(i."row" AS BIGINT)', place_sql=None)


def one_row_each(cursor: duckdb.DuckDBPyConnection, kind: Kind, upload: Upload) -> Upload:
    """Reduce ``incoming`` of all files to one row for each query, rubric or answer.

    A column is left out if it has two values for one thing, if it cannot be read, or if its text is the same for all.
    The first row that shows this is added to ``rejected``.
    """
    named = _named(kind, upload)
    keys = ", ".join(f'"{c}"' for c in SPECS[kind].keys)
    names = ", ".join(f'{values.name(_cell(c))} AS "{c}"' for c in SPECS[kind].keys)
    said = "".join(f', {_stored(kind, c)} AS "{c}", i."{c}" AS "{c} as given"' for c in named)
    rows = f'(SELECT {upload.row_sql} AS "row", {names}{said} FROM {STAGING} i)'
    told = "".join(f', min("{c}") AS "{c}", min("{c}") <> max("{c}") AS "{c} differs"' for c in named)
    cursor.execute(
        f'CREATE TEMP TABLE told AS SELECT min("row") AS "row", {keys}{told} FROM {rows} GROUP BY {keys}'
    )
    kept = []
    for column in named:
        fault = (
            _unreadable(cursor, column, kind, rows)
            or _contradiction(cursor, column, kind, rows, upload.origins)
            or _sameness(cursor, column, kind)
        )
        if not fault:
            kept.append(column)
            continue
        row, text, reason = fault
        reason = f"{reason}: nothing is taken from the column {upload.columns[column]!r}"
        cursor.execute("INSERT INTO rejected VALUES (?, ?, ?, ?)", [row, column, text, reason])
    columns = "".join(f', CAST({c if c in kept else "NULL"} AS VARCHAR) AS "{c}"' for c in named)
    says = " OR ".join(f'"{c}" IS NOT NULL' for c in kept) or "false"
    _replace_staged(cursor, f'SELECT "row", {keys}{columns} FROM told WHERE {says} ORDER BY "row"')
    cursor.execute("DROP TABLE told")
    return replace(
        upload,
        row_sql='CAST(i."row" AS BIGINT)',
        place_sql=None,
        columns={c: v for c, v in upload.columns.items() if c in SPECS[kind].keys or c in kept},
    )


Fault = tuple[int, str, str] | None  # row, value, why the column is left out; None: it is not


def _stored(kind: Kind, column: str) -> str:
    """SQL for a column as it is stored: answers unchanged, other texts trimmed, numbers typed; NULL if unknown."""
    cell = _cell(column)
    if SPECS[kind].values[column] != "text":
        return values.typed(cell, SPECS[kind].values[column])
    if kind == "answers":
        return f"CASE WHEN {values.name(cell)} IS NOT NULL THEN {cell} END"
    return f"CASE WHEN NOT {values.is_unknown(cell)} THEN {values.name(cell)} END"


def _unreadable(cursor: duckdb.DuckDBPyConnection, column: str, kind: Kind, rows: str) -> Fault:
    """The first value that cannot be read as the column's type; None for columns of text. rows: SQL of a relation."""
    if (wanted := SPECS[kind].values[column]) == "text":
        return None
    raw = f'"{column} as given"'
    fault = values.problem(f'"{column}"', values.is_unknown(raw), wanted)
    return cursor.execute(
        f'SELECT "row", {raw}, {raw} || \' \' || {fault} FROM {rows} WHERE {fault} IS NOT NULL ORDER BY "row" LIMIT 1'
    ).fetchone()


def _contradiction(
    cursor: duckdb.DuckDBPyConnection, column: str, kind: Kind, rows: str, origins: Sequence[Origin]
) -> Fault:
    """The first row that contradicts an earlier row about the same thing; reads ``told``. rows: SQL of a relation."""
    if not cursor.execute(f'SELECT bool_or("{column} differs") FROM told').fetchall()[0][0]:
        return None
    keys = SPECS[kind].keys
    same = " AND ".join(f'r."{key}" IS NOT DISTINCT FROM t."{key}"' for key in keys)
    ((row, text, first),) = cursor.execute(f"""
        SELECT "row", given, first_row FROM (
            SELECT r."row", r."{column} as given" AS given, r."{column}" AS said,
                   first_value(r."{column}") OVER k AS first, min(r."row") OVER k AS first_row
            FROM {rows} r JOIN told t ON t."{column} differs" AND {same} WHERE r."{column}" IS NOT NULL
            WINDOW k AS (PARTITION BY {", ".join(f'r."{key}"' for key in keys)} ORDER BY r."row")
        ) WHERE said <> first ORDER BY "row" LIMIT 1
    """).fetchall()
    home = next((o for o in origins if o.before < first <= o.last), None)
    where = f"row {first - home.before:,} of {home.name}" if home else f"row {first:,}"
    return row, text, f"contradicts {where} about the same {' and '.join(keys)}"


def _sameness(cursor: duckdb.DuckDBPyConnection, column: str, kind: Kind) -> Fault:
    """A fault if the texts in ``told`` are the same for all systems or rubrics of each query, or for all queries."""
    if column != "text":
        return None
    groups = ", ".join(f'"{c}"' for c in WITHIN[kind]) or "()"
    alike, row, text = cursor.execute(f"""
        SELECT max(n) > 1 AND max(different) = 1, min("row"), arg_min(text, "row") FROM (
            SELECT count(*) AS n, count(DISTINCT text) AS different, min("row") AS "row", min(text) AS text
            FROM told WHERE text IS NOT NULL GROUP BY {groups}
        )
    """).fetchall()[0]
    if not alike:
        return None
    things = {"queries": "queries", "rubrics": "rubrics of a query", "answers": "systems"}[kind]
    return row, text, f"is the same for all {things}"


def _cell(column: str) -> str:
    return f'i."{column}"'


def _named(kind: Kind, upload: Upload) -> list[str]:
    return [c for c in SPECS[kind].values if c in upload.columns]


def _replace_staged(cursor: duckdb.DuckDBPyConnection, select: str) -> None:
    cursor.execute(f"CREATE TEMP TABLE staged_once AS {select}")
    cursor.execute(f"DROP TABLE {STAGING}")
    cursor.execute(f"ALTER TABLE staged_once RENAME TO {STAGING}")
