"""Combine the statements of all ingests: labels and descriptions.

A label that counts is a row of ``labels``, ``gold`` or ``anchors``, with the ingest that it came from; other labels of
the same key are in ``superseded``. The last known label counts. Its reason is one that came with the same label.
Descriptions are statements too, one for each ingest and thing; the last known value of each attribute counts. A query
type that a person gave goes before all others, and types of one source are never mixed with those of another.
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
    """Where a kind of description is stored: the table of values that count, that of statements, their common id."""

    table: str
    statements: str
    id: str


DESCRIBED: Mapping[str, Described] = {
    "rubrics": Described("rubrics", "rubric_statements", "rubric_id"),
    "queries": Described("queries", "query_statements", "query_id"),
    "reference": Described("reference_ranking", "reference_statements", "system_id"),
}


def key_of(kind: str, alias: str = "") -> str:
    """The columns of the key, joined by commas for SELECT or USING. alias: put before each, with its point."""
    return ", ".join(f"{alias}{column}" for column in KEYS[kind])


def same_key(kind: str, one: str, other: str) -> str:
    """SQL condition that rows of two aliases have the same key."""
    return " AND ".join(f"{one}.{column} = {other}.{column}" for column in KEYS[kind])


def count_keys(key: Sequence[str], ends: Sequence[int], at_most: int) -> str | None:
    """SQL for the number of different keys of rows, by one bit for each possible key.

    None if more than ``at_most`` keys are possible. ends: the lowest and the highest id of each column, in turn.
    """
    possible, position = 1, "0::BIGINT"
    for column, low, high in zip(key, ends[::2], ends[1::2], strict=True):
        possible *= high - low + 1
        position = f"({position} * {high - low + 1} + {column} - {low})"
    if possible > at_most:
        return None
    return f"bit_count(bitstring_agg({position}, 0::BIGINT, {possible - 1}::BIGINT))"


def fold(cursor: duckdb.DuckDBPyConnection, kind: str, dataset_id: int, ids: str) -> None:
    """Update rubrics, queries or ranked systems from all statements. ids: SQL with their ids as the column ``id``."""
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
    """Move the last known label of every key without a label that counts back from ``superseded``. kind: its table."""
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
