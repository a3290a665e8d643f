"""Statements of the ingests, and the values that result from them.

A label that counts is a row of labels, gold or anchors, with the ingest that stated it. Statements of other ingests on
the same key are in ``superseded``. The last known label counts, with a reason that came with the same label.
Descriptions are statements, too, one for each ingest and thing; each attribute is the last known one. A query's type
that a person gave has precedence over all others, and types of one source are never mixed with those of another.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from ..readers.columns.specs import SPECS, TASK_TYPES
from .parsed import execute

KEYS: Mapping[str, tuple[str, ...]] = {
    "labels": ("system_id", "rubric_id", "judge_id", "run_id"),
    "gold": ("system_id", "rubric_id", "judge_id"),
    "anchors": ("rubric_id", "judge_id"),
}
EDITED = "edited"
_TYPES = ("task_type", *(f"p_{name}" for name in TASK_TYPES), "type_source")


@dataclass(frozen=True)
class Described:
    """Where a kind of description is stored: the table of current values, the table of statements, their common id."""

    table: str
    statements: str
    id: str


DESCRIBED: Mapping[str, Described] = {
    "rubrics": Described("rubrics", "rubric_statements", "rubric_id"),
    "queries": Described("queries", "query_statements", "query_id"),
    "reference": Described("reference_ranking", "reference_statements", "system_id"),
}


def key_of(kind: str, alias: str = "") -> str:
    """The key columns of a kind of label, separated by commas, for SELECT or USING. alias: prefix such as "a."."""
    return ", ".join(f"{alias}{column}" for column in KEYS[kind])


def same_key(kind: str, one: str, other: str) -> str:
    """The SQL condition that two rows (by their aliases) have the same key."""
    return " AND ".join(f"{one}.{column} = {other}.{column}" for column in KEYS[kind])


def count_keys(key: Sequence[str], ends: Sequence[int], at_most: int) -> str | None:
    """SQL that counts the different keys of rows by one bit per possible key; None if there are more than ``at_most``.

    ends: the least and the greatest id of each key column, one pair after another.
    """
    possible, position = 1, "0::BIGINT"
    for column, low, high in zip(key, ends[::2], ends[1::2], strict=True):
        possible *= high - low + 1
        position = f"({position} * {high - low + 1} + {column} - {low})"
    if possible > at_most:
        return None
    return f"bit_count(bitstring_agg({position}, 0::BIGINT, {possible - 1}::BIGINT))"


def fold(cursor: duckdb.DuckDBPyConnection, kind: str, dataset_id: int, ids: str) -> None:
    """Update the current descriptions from all statements, for the ids in ``ids`` (a SELECT of a column ``id``)."""
    place, attributes = DESCRIBED[kind], tuple(SPECS[kind].values)
    named = ", ".join(f'"{c}" = f."{c}"' for c in attributes)
    folded = ", ".join(f'{_last(c, kind)} AS "{c}"' for c in attributes)
    typed = " OR ".join(f"{c} IS NOT NULL" for c in _TYPES)
    rank = f"(coalesce(type_source, '') = '{EDITED}', ingest_id)"
    source = f"max_by(coalesce(type_source, ''), {rank}) FILTER ({typed}) OVER (PARTITION BY {place.id})"
    said = (
        f"(SELECT *, {source} AS source FROM {place.statements})" if kind == "queries" else place.statements
    )
    execute(
        cursor,
        f"""
        UPDATE {place.table} SET {named}, ingest_id = f.ingest_id, "row" = f."row"
        FROM (
            SELECT i.id, {folded}, max(ingest_id) AS ingest_id, max_by("row", ingest_id) AS "row"
            FROM (SELECT DISTINCT id FROM ({ids})) i LEFT JOIN {said} s ON s.{place.id} = i.id
            GROUP BY i.id
        ) f
        WHERE {place.table}.{place.id} = f.id AND {place.table}.dataset_id = $dataset
        """,
        {"dataset": dataset_id},
    )


def _last(column: str, kind: str) -> str:
    of_source = " AND coalesce(type_source, '') = source" if kind == "queries" and column in _TYPES else ""
    return f'max_by("{column}", ingest_id) FILTER ("{column}" IS NOT NULL{of_source})'


def revive(cursor: duckdb.DuckDBPyConnection, kind: str, dataset_id: int) -> None:
    """For every key without a current label, restore the last known superseded one."""
    key, own = key_of(kind, "a."), {"dataset": dataset_id, "kind": kind}
    execute(
        cursor,
        f"""
        CREATE OR REPLACE TEMP TABLE revived AS
        SELECT {key_of(kind)}, max(ingest_id) FILTER (ingest_id = best) AS ingest_id FROM (
            SELECT {key}, a.ingest_id,
                   max_by(a.ingest_id, (a.label IS NOT NULL, a.ingest_id)) OVER (PARTITION BY {key}) AS best
            FROM superseded a ANTI JOIN {kind} t ON t.dataset_id = a.dataset_id AND {same_key(kind, "t", "a")}
            WHERE a.dataset_id = $dataset AND a.kind = $kind
        ) GROUP BY {key_of(kind)}
        """,
        own,
    )
    columns = f'dataset_id, {key_of(kind)}, label, reason, ingest_id, "row"'
    match = f"{same_key(kind, 'a', 'r')} AND a.ingest_id = r.ingest_id"
    execute(
        cursor,
        f"""
        INSERT INTO {kind} ({columns}) SELECT {columns} FROM superseded a SEMI JOIN revived r ON {match}
        WHERE a.dataset_id = $dataset AND a.kind = $kind
        """,
        own,
    )
    execute(
        cursor,
        f"DELETE FROM superseded a USING revived r WHERE {match} AND a.dataset_id = $dataset AND a.kind = $kind",
        own,
    )
