"""After every ingest, move labels without a query to the rubric with its query, and check the given scales."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import duckdb

from ...errors import IngestError
from . import tallies
from .job import Job
from .statements import KEYS, revive


def reconcile_rubrics(job: Job) -> None:
    """Move labels of a rubric without query to the only rubric of that name with one; check given scales.

    Raises IngestError where several queries share the name, where moved labels conflict, or where a stored
    label lies outside the scale that a table of rubrics, or the user, gives.
    """
    job.run("""
        CREATE TEMP TABLE moves AS
        SELECT g.rubric_id AS old_id, min(r.rubric_id) AS new_id, count(*) AS n, any_value(g.name) AS name
        FROM rubrics g JOIN rubrics r ON r.name = g.name AND r.dataset_id = g.dataset_id AND r.query_id IS NOT NULL
        WHERE g.dataset_id = $dataset AND g.query_id IS NULL
          AND g.rubric_id IN (SELECT rubric_id FROM label_tallies WHERE dataset_id = $dataset
                              UNION ALL SELECT rubric_id FROM gold WHERE dataset_id = $dataset
                              UNION ALL SELECT rubric_id FROM anchors WHERE dataset_id = $dataset)
        GROUP BY g.rubric_id
    """)
    moving, name, n = job.one(
        "SELECT count(*), min(name) FILTER (n > 1), arg_min(n, name) FILTER (n > 1) FROM moves"
    )
    if name is not None:
        raise IngestError(
            f"The stored labels of rubric {name!r} name no query, and {n} queries have a rubric of that name: "
            "ingest the labels again with their query."
        )
    if moving:
        for table in KEYS:
            _move(job, table)
        changed = "SELECT old_id FROM moves UNION SELECT new_id FROM moves"
        tallies.recount(job.cursor, job.dataset_id, changed)
    if job.kind == "rubrics" or moving or job.policies.scales:
        check_scales(job.cursor, job.dataset_id, job.source)


def _move(job: Job, table: str) -> None:
    """Move the rows to the rubric with a query. Raises IngestError if a label of the same key there is different."""
    others = " AND ".join(f"n.{column} = o.{column}" for column in KEYS[table] if column != "rubric_id")
    clash = f"""
        FROM {table} o JOIN moves m ON m.old_id = o.rubric_id
        JOIN {table} n ON n.rubric_id = m.new_id AND {others}
    """
    for (name,) in job.all(f"SELECT m.name {clash} WHERE o.label <> n.label ORDER BY m.name LIMIT 1"):
        raise IngestError(
            f"The labels of rubric {name!r} with and without a query contradict each other: "
            "name the query in both files."
        )
    _remember_moved(job, table)
    job.run(f"""
        CREATE OR REPLACE TEMP TABLE clashing AS
        SELECT o.rowid AS id, m.new_id {clash} UNION ALL SELECT n.rowid, m.new_id {clash}
    """)
    job.run(
        f"""
        INSERT INTO superseded (kind, dataset_id, {_OTHERS}, rubric_id, label, reason, ingest_id, "row")
        SELECT $kind, $dataset, {_others(table)}, c.new_id, label, reason, ingest_id, "row"
        FROM {table} t JOIN clashing c ON c.id = t.rowid
        """,
        kind=table,
    )
    job.run(f"DELETE FROM {table} WHERE rowid IN (SELECT id FROM clashing)")
    for rows in (table, "superseded"):
        only = f" AND kind = '{table}'" if rows == "superseded" else ""
        job.run(f"UPDATE {rows} SET rubric_id = m.new_id FROM moves m WHERE rubric_id = m.old_id{only}")
    revive(job.cursor, table, job.dataset_id)


_OTHERS = "system_id, judge_id, run_id"


def _others(table: str) -> str:
    """SQL for the other key columns of ``superseded`` and ``moved``: NULL for no system, 0 for no run."""
    system = "system_id" if "system_id" in KEYS[table] else "NULL"
    return f"{system}, judge_id, {'run_id' if 'run_id' in KEYS[table] else '0'}"


def _remember_moved(job: Job, table: str) -> None:
    """Record which rows had no query, so that undoing the ingest that gave it removes it again."""
    for relation in (
        f"SELECT * FROM {table}",
        f"SELECT * EXCLUDE (kind) FROM superseded WHERE kind = '{table}'",
    ):
        job.run(
            f"""
            INSERT INTO moved (kind, dataset_id, {_OTHERS}, old_rubric_id, new_rubric_id, said_by, ingest_id)
            SELECT $kind, $dataset, {_others(table)}, m.old_id, m.new_id, ingest_id, $ingest
            FROM ({relation}) o JOIN moves m ON m.old_id = o.rubric_id
            """,
            kind=table,
        )


def check_scales(cursor: duckdb.DuckDBPyConnection, dataset: int, source: str) -> None:
    """Raise IngestError if a stored label lies outside the given scale of its rubric."""
    found = cursor.execute(
        """
        WITH given AS (
            SELECT r.rubric_id, r.name, coalesce(r.scale_min, g.scale_min) AS lo,
                   coalesce(r.scale_max, g.scale_max) AS hi
            FROM rubrics r LEFT JOIN rubrics g
            ON g.dataset_id = r.dataset_id AND g.name = r.name AND g.query_id IS NULL
            WHERE r.dataset_id = $dataset
        ), seen AS (
            SELECT rubric_id, lo AS lowest, hi AS highest FROM label_extremes WHERE dataset_id = $dataset
        )
        SELECT name, lo, hi, lowest, highest, count(*) OVER () FROM seen JOIN given USING (rubric_id)
        WHERE lowest < lo OR highest > hi ORDER BY name LIMIT 1
        """,
        {"dataset": dataset},
    ).fetchall()
    for name, lo, hi, lowest, highest, n in found:
        label = lowest if lo is not None and lowest < lo else highest
        scale = f"{'…' if lo is None else lo} to {'…' if hi is None else hi}"
        others = f" (and {n - 1:,} more such)" if n > 1 else ""
        raise IngestError(
            f"{source} gives rubric {name!r} the scale {scale}, but its stored labels hold {label}{others}: "
            "correct the scale or the labels."
        )
