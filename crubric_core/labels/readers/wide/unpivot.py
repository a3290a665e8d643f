"""Unpivot wide tables, whose columns each hold the labels of one judge, system or rubric, into long ones."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..formats import Reader, Staged
from ..formats.base import STAGING

if TYPE_CHECKING:
    import duckdb


def spread_out(
    cursor: duckdb.DuckDBPyConnection,
    reader: Reader,
    keys: Mapping[str, int],
    columns: Sequence[str],
    names: Mapping[str, Sequence[str]],
    reasons: Mapping[str, str],
) -> Staged:
    """Stage the rows with one row for each cell of ``columns``: keys, names from the column, and the cell as the label.

    names: canonical column → its name for each of the columns. reasons: column → the column with the reasons of its
    cells. A blank cell stays as a label that is not given. Rows are numbered by cell; the place has row and column.
    """
    at = {column: i for i, column in reversed(list(enumerate(reader.columns)))}
    cells = {f"cell{i}": at[column] for i, column in enumerate(columns)}
    why = {f"why{i}": at[reasons[column]] for i, column in enumerate(columns) if column in reasons}
    staged = reader.stage(cursor, {**keys, **cells, **why})
    kept = "".join(f', i."{key}"' for key in (*keys, *why))
    wide = ", ".join(cells)
    place = staged.place_sql or f"'row ' || {staged.row_sql}"
    told, left_out = _reason_of_cell(why), ", ".join(("source_row", "source_place", "cell", "label", *why))
    named = ", ".join(f'${c}[CAST(substr(cell, 5) AS BIGINT) + 1] AS "{c}"' for c in names)
    cursor.execute(f"ALTER TABLE {STAGING} RENAME TO wide_rows")
    cursor.execute(
        f"""
        CREATE TEMP TABLE {STAGING} AS
        SELECT (source_row - 1) * {len(cells)} + CAST(substr(cell, 5) AS BIGINT) + 1 AS "row", source_place,
               CAST(substr(cell, 5) AS BIGINT) + 1 AS at, * EXCLUDE ({left_out}),
               {told}{named}, label
        FROM (SELECT {staged.row_sql} AS source_row, {place} AS source_place{kept}, {wide} FROM wide_rows i)
        UNPIVOT INCLUDE NULLS (label FOR cell IN ({wide}))
        """,
        {canonical: list(own) for canonical, own in names.items()},
    )
    cursor.execute("DROP TABLE wide_rows")
    return Staged('i."row"', f"""i.source_place || ', column ' || i."{next(iter(names))}\"""")


def _reason_of_cell(why: Mapping[str, int]) -> str:
    """SQL of the column "reason" with the reason of each cell; "" if there are no columns of reasons."""
    cases = " ".join(f"WHEN 'cell{name.removeprefix('why')}' THEN {name}" for name in why)
    return f"CASE cell {cases} END AS reason, " if why else ""
