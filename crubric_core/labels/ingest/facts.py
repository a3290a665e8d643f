"""Store answers of the systems, and facts about them (organisation, date, cost, licence, any column).

The rows of every ingest are kept. For each key, the row of the last ingest counts, so that undoing an ingest restores
what it had replaced.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from ..readers import values
from . import names
from .job import Job


@dataclass(frozen=True)
class FactKind:
    """Where a kind of fact is stored: its table, its key, the column of its text, and what messages call the key."""

    table: str
    key: tuple[str, str]
    value: str
    thing: str


FACTS: Mapping[str, FactKind] = {
    "answers": FactKind("answers", ("system_id", "query_id"), "text", "system and query"),
    "systems": FactKind("system_facts", ("system_id", "name"), "value", "system"),
}


def current_facts(place: FactKind) -> str:
    """SELECT of all columns of the rows that count: each key's row of its last ingest. ``$dataset`` must be bound."""
    return f"""
        SELECT * FROM {place.table} WHERE dataset_id = $dataset
        QUALIFY row_number() OVER (PARTITION BY {", ".join(place.key)} ORDER BY ingest_id DESC) = 1
    """


def take_back(cursor: duckdb.DuckDBPyConnection, own: dict[str, int], kind: str) -> tuple[int, int]:
    """Delete an ingest's rows of a kind: (number of keys without rows now, number of keys that other ingests have).

    own: the ids ``dataset`` and ``ingest``.
    """
    place = FACTS[kind]
    keys = f"SELECT count(DISTINCT ({', '.join(place.key)})) FROM {place.table} WHERE dataset_id = ?"
    ((before,),) = cursor.execute(keys, [own["dataset"]]).fetchall()
    ((gone,),) = cursor.execute(
        f"DELETE FROM {place.table} WHERE dataset_id = $dataset AND ingest_id = $ingest", own
    ).fetchall()
    ((after,),) = cursor.execute(keys, [own["dataset"]]).fetchall()
    return before - after, gone - (before - after)


def store_facts(job: Job) -> None:
    """Validate ``incoming`` and add it to ``answers`` or to ``system_facts``."""
    place = FACTS[job.kind]
    names.look_up_names(job, "system")
    if job.kind == "answers":
        _stage_answers(job)
    else:
        _stage_facts(job)
    _resolve_repeats(job, place)
    _resolve_stored(job, place)
    names.keep_names(job, "system", "SELECT system_id AS id FROM said")
    if job.kind == "answers":
        names.keep_queries(job, "SELECT query_id AS id FROM said")
    (known,) = job.one("SELECT count(*) FILTER (value = old) FROM met")
    job.tally.added = job.one("SELECT count(*) FROM said")[0] - known - job.tally.changed
    job.run(f"""
        INSERT INTO {place.table} (dataset_id, {", ".join(place.key)}, {place.value}, ingest_id, "row")
        SELECT $dataset, {", ".join(place.key)}, value, $ingest, "row" FROM said
    """)


def _stage_answers(job: Job) -> None:
    """Create ``said(row, system_id, query_id, value)``: rows with the names of system and query, and with a text."""
    job.run(f"CREATE TEMP TABLE mentioned AS SELECT {values.name('query')} AS query FROM incoming")
    names.look_up_queries(job, "mentioned")
    job.run(f"""
        CREATE TEMP TABLE said AS
        SELECT {job.row_sql} AS "row", s.id AS system_id, q.id AS query_id, nullif(i.text, '') AS value
        FROM incoming i LEFT JOIN system_names s ON s.raw IS NOT DISTINCT FROM i.system
        LEFT JOIN query_names q ON q.name = {values.name("i.query")}
    """)
    _drop_nameless(job, "system")
    _drop_nameless(job, "query")
    (job.tally.blank,) = job.one("SELECT count(*) FROM said WHERE value IS NULL")
    job.run("DELETE FROM said WHERE value IS NULL")


def _stage_facts(job: Job) -> None:
    """Create ``said(row, system_id, name, value)``: one row for each known cell of a fact."""
    job.run(
        'CREATE TEMP TABLE said ("row" BIGINT, system_id INTEGER, name VARCHAR, value VARCHAR)',
    )
    for column, name in job.facts.items():
        job.run(
            f"""
            INSERT INTO said
            SELECT {job.row_sql}, s.id, $name, {values.name(f'i."{column}"')}
            FROM incoming i LEFT JOIN system_names s ON s.raw IS NOT DISTINCT FROM i.system
            """,
            name=name,
        )
    _drop_nameless(job, "system")
    job.run("DELETE FROM said WHERE value IS NULL")


def _drop_nameless(job: Job, what: str) -> None:
    job.run(
        f'INSERT INTO rejected SELECT DISTINCT "row", $what, NULL, $reason FROM said WHERE {what}_id IS NULL',
        what=what,
        reason=f"the {what} has no name",
    )
    job.run(f"DELETE FROM said WHERE {what}_id IS NULL")


def _resolve_repeats(job: Job, place: FactKind) -> None:
    """Reduce ``said`` to one row for each key: equal rows collapse, others conflict (policy ``on_conflict``)."""
    key = ", ".join(place.key)
    if job.policies.on_conflict in ("reject", "runs"):
        job.run(f"""
            INSERT INTO rejected
            SELECT "row", '{place.value}', value,
                   'conflicts with ' || {job.row_named("other")}
                   || ', which gives another text for the same {place.thing}'
            FROM (
                SELECT *, CASE WHEN value = first_value THEN other_row ELSE first_row END AS other FROM (
                    SELECT *, min("row") FILTER (value <> first_value) OVER k AS other_row FROM (
                        SELECT *, min("row") OVER k AS first_row, arg_min(value, "row") OVER k AS first_value
                        FROM said WINDOW k AS (PARTITION BY {key})
                    ) WINDOW k AS (PARTITION BY {key})
                )
            ) WHERE other_row IS NOT NULL
        """)
        job.run('DELETE FROM said WHERE "row" IN (SELECT "row" FROM rejected)')
    best = "ASC" if job.policies.on_conflict == "first" else "DESC"
    collapsed, replaced = job.one(f"""
        SELECT count(*) FILTER (value = kept) - count(DISTINCT ({key})), count(*) FILTER (value <> kept)
        FROM (SELECT *, first_value(value) OVER (PARTITION BY {key} ORDER BY "row" {best}) AS kept FROM said)
    """)
    job.tally.collapsed += collapsed
    job.tally.replaced += replaced
    job.tally.apply("on_conflict", replaced)
    job.run(f"""
        CREATE OR REPLACE TEMP TABLE said AS
        SELECT * FROM said QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY "row" {best}) = 1
    """)


def _resolve_stored(job: Job, place: FactKind) -> None:
    """Compare ``said`` with the rows of earlier ingests that count: equal texts collapse, others conflict.

    Creates ``met``.
    """
    same = " AND ".join(f"s.{c} = t.{c}" for c in place.key)
    job.run(f"""
        CREATE TEMP TABLE met AS
        SELECT s."row", s.value, t.{place.value} AS old, t."row" AS old_row, e.source
        FROM said s JOIN ({current_facts(place)}) t ON {same} JOIN ingests e ON e.ingest_id = t.ingest_id
    """)
    same_rows, differing = job.one(
        "SELECT count(*) FILTER (value = old), count(*) FILTER (value <> old) FROM met"
    )
    job.tally.collapsed += same_rows
    if job.policies.on_conflict in ("reject", "runs"):
        job.run(f"""
            INSERT INTO rejected
            SELECT "row", '{place.value}', value, 'conflicts with row ' || old_row || ' of ' || source
                   || ', which gave another text for the same {place.thing}'
            FROM met WHERE value <> old
        """)
        job.run('DELETE FROM said WHERE "row" IN (SELECT "row" FROM met WHERE value <> old)')
        return
    job.tally.replaced += differing
    job.tally.apply("on_conflict", differing)
    if job.policies.on_conflict == "last":
        job.tally.changed = differing
    else:
        job.run('DELETE FROM said WHERE "row" IN (SELECT "row" FROM met WHERE value <> old)')
