"""Labels that speak twice of one key: within the file, and against what the dataset holds."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from .job import Job
from .statements import KEYS, key_of, same_key


def has_no_repeats(job: Job, rows_sql: str = "coded") -> bool:
    """Whether every key is there once, by one bit a possible key; False also where there are too many of those."""
    rows, *ends = job.one(f"""
        SELECT count(*), min(system_id), max(system_id), min(rubric_id), max(rubric_id), min(judge_id), max(judge_id)
        FROM {rows_sql}
    """)
    if not rows:
        return True
    systems, rubrics, judges = (high - low + 1 for low, high in zip(ends[::2], ends[1::2], strict=True))
    keys = systems * rubrics * judges
    if keys > min(64 * rows, 10**9):
        return False
    (found,) = job.one(
        f"""
        SELECT bit_count(bitstring_agg(key, 0::BIGINT, {keys}::BIGINT)) FROM (
            SELECT ((rubric_id - $rubric)::BIGINT * {judges} + judge_id - $judge) * {systems}
                   + system_id - $system AS key
            FROM {rows_sql}
        )
        """,
        system=ends[0],
        rubric=ends[2],
        judge=ends[4],
    )
    return bool(found == rows)


def _thing(job: Job) -> str:
    return "system, rubric and judge" if "system_id" in KEYS[job.kind] else "rubric and annotator"


def settle_repeats(job: Job) -> None:
    """One row a key: an unknown label never contradicts a known one; known ones that differ are a conflict."""
    if has_no_repeats(job):
        return
    key = key_of(job.kind)
    job.run(f"""
        CREATE TEMP TABLE repeats AS
        SELECT {key} FROM coded GROUP BY {key} HAVING count(*) > 1
    """)
    if not job.one("SELECT count(*) FROM repeats")[0]:
        return
    best = "max" if job.policies.on_conflict == "last" else "min"
    job.run(f"""
        CREATE TEMP TABLE repeated AS
        WITH keys AS (
            SELECT {key}, min(label) <> max(label) AS differ,
                   min("row") FILTER (label IS NOT NULL) AS first_row, arg_min(label, "row") AS first_label,
                   {best}("row") FILTER (label IS NOT NULL) AS known_row,
                   {best}("row") FILTER (label IS NULL) AS blank_row
            FROM coded JOIN repeats USING ({key}) GROUP BY {key}
        ), others AS (
            SELECT {key}, min(c."row") AS other_row, arg_min(c.label, c."row") AS other_label
            FROM coded c JOIN keys k USING ({key}) WHERE c.label <> k.first_label GROUP BY {key}
        )
        SELECT c."row", c.label, coalesce(k.differ, false) AS differ, k.blank_row,
               coalesce(k.known_row, k.blank_row) AS kept_row,
               CASE WHEN c.label = k.first_label THEN o.other_row ELSE k.first_row END AS other_row,
               CASE WHEN c.label = k.first_label THEN o.other_label ELSE k.first_label END AS other_label
        FROM coded c JOIN keys k USING ({key}) LEFT JOIN others o USING ({key})
    """)
    if job.policies.on_conflict == "reject":
        _reject_repeats(job)
    _collapse_repeats(job)


def _reject_repeats(job: Job) -> None:
    job.run(f"""
        INSERT INTO rejected
        SELECT "row", 'label', CAST(label AS VARCHAR),
               'conflicts with row ' || other_row || ', which gives ' || other_label
               || ' for the same {_thing(job)}'
        FROM repeated WHERE differ AND label IS NOT NULL
    """)
    job.run(
        'DELETE FROM coded WHERE "row" IN (SELECT "row" FROM repeated WHERE differ AND label IS NOT NULL)'
    )
    job.run("DELETE FROM repeated WHERE differ AND label IS NOT NULL")
    job.run("UPDATE repeated SET kept_row = blank_row WHERE differ")


def _collapse_repeats(job: Job) -> None:
    collapsed, replaced = job.one("""
        SELECT count(*) FILTER (r.label IS NULL OR r.label = k.label),
               count(*) FILTER (r.label IS NOT NULL AND r.label <> k.label)
        FROM repeated r JOIN coded k ON k."row" = r.kept_row WHERE r."row" <> r.kept_row
    """)
    job.tally.collapsed += collapsed
    job.tally.replaced += replaced
    job.tally.apply("on_conflict", replaced)
    job.run('DELETE FROM coded WHERE "row" IN (SELECT "row" FROM repeated WHERE "row" <> kept_row)')


def settle_stored(job: Job) -> None:
    """Rows whose key the dataset already holds: equal ones collapse, an unknown is filled, others conflict."""
    table, key = job.kind, key_of(job.kind)
    if not job.one(f"SELECT count(*) FROM {table} WHERE dataset_id = $dataset")[0]:
        return
    job.run(f"""
        CREATE TEMP TABLE met AS
        SELECT {key}, c."row", c.label, l.label AS old, l."row" AS old_row, l.ingest_id AS old_ingest
        FROM coded c JOIN {table} l USING ({key}) WHERE l.dataset_id = $dataset
    """)
    same, filled, differing = job.one("""
        SELECT count(*) FILTER (label IS NULL OR label = old), count(*) FILTER (label IS NOT NULL AND old IS NULL),
               count(*) FILTER (label <> old)
        FROM met
    """)
    job.tally.collapsed += same
    job.tally.filled = filled
    if differing:
        _decide_differing(job, differing)
    _replace_stored(job)
    job.run('DELETE FROM coded WHERE "row" IN (SELECT "row" FROM met)')


def _decide_differing(job: Job, rows: int) -> None:
    """Labels that contradict stored ones, as ``on_conflict`` says; what does not count leaves ``met``."""
    if job.policies.on_conflict == "last":
        job.tally.changed = rows
    if job.policies.on_conflict != "reject":
        job.tally.replaced += rows
        job.tally.apply("on_conflict", rows)
    else:
        job.run(f"""
            INSERT INTO rejected
            SELECT m."row", 'label', CAST(m.label AS VARCHAR),
                   'conflicts with row ' || m.old_row || ' of ' || i.source || ', which gave ' || m.old
                   || ' for the same {_thing(job)}'
            FROM met m JOIN ingests i ON i.ingest_id = m.old_ingest WHERE m.label <> m.old
        """)


def _replace_stored(job: Job) -> None:
    """The stored label where it stands, the other one aside; and what gave way, so that it can come back."""
    table = job.kind
    key = key_of(table) if "system_id" in KEYS[table] else f"NULL, {key_of(table)}"
    counts = "met.label IS NOT NULL AND met.old IS NULL"
    if job.policies.on_conflict == "last":
        counts = "met.label IS NOT NULL AND met.label IS DISTINCT FROM met.old"
    for condition, row in (
        ("label IS NULL OR label = old", 'label, $ingest, "row"'),
        (counts, "old, old_ingest, old_row"),
    ):
        job.run(
            f"INSERT INTO aside SELECT $kind, $dataset, {key}, {row} FROM met WHERE {condition}", kind=table
        )
    job.run(f"""
        UPDATE {table} SET label = met.label, ingest_id = $ingest, "row" = met."row"
        FROM met WHERE {same_key(table, table, "met")} AND {table}.dataset_id = $dataset AND {counts}
    """)
