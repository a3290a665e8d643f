"""Rubrics, queries and the reference ranking: descriptions that fill in, and never silently contradict."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from dataclasses import dataclass

from . import names, values
from .columns import SPECS
from .job import Job


@dataclass(frozen=True)
class _Target:
    """Where a kind of description is stored, and how its file names the thing described."""

    table: str
    id_column: str
    lookup: str
    on: str
    named: str


_TARGETS = {
    "rubrics": _Target(
        "rubrics",
        "rubric_id",
        "rubric_names",
        "n.rubric_raw IS NOT DISTINCT FROM i.rubric AND n.query_raw IS NOT DISTINCT FROM i.query",
        "rubric",
    ),
    "queries": _Target("queries", "query_id", "query_names", f"n.name = {values.name('i.query')}", "query"),
    "reference": _Target(
        "reference_ranking", "system_id", "system_names", "n.raw IS NOT DISTINCT FROM i.system", "system"
    ),
}


def store_attributes(job: Job) -> None:
    """Validate ``incoming`` and let it describe the rubrics, queries or systems that it names."""
    target = _TARGETS[job.kind]
    _look_up(job)
    _read_values(job, target)
    _settle_repeats(job, target)
    _settle_stored(job, target)
    _write(job, target)


def _attributes(job: Job) -> list[str]:
    return [c for c in SPECS[job.kind].values if c in job.columns]


def _look_up(job: Job) -> None:
    if job.kind == "rubrics":
        names.look_up_rubrics(job, borrow_query=False)
    elif job.kind == "queries":
        job.run(f"CREATE TEMP TABLE mentioned AS SELECT {values.name('query')} AS query FROM incoming")
        names.look_up_queries(job, "mentioned")
    else:
        names.look_up_names(job, "system")


def _read_values(job: Job, target: _Target) -> None:
    """``described(row, id, <attributes>)``; a row with a value that cannot stand is rejected whole."""
    types = SPECS[job.kind].values
    read = {
        c: values.name(f'i."{c}"') if types[c] == "text" else values.number(f'i."{c}"')
        for c in _attributes(job)
    }
    columns = "".join(f', {sql} AS "{c}"' for c, sql in read.items())
    row = job.row_sql
    job.run(f"""
        CREATE TEMP TABLE described AS
        SELECT {row} AS "row", n.id {columns} FROM incoming i LEFT JOIN {target.lookup} n ON {target.on}
    """)
    job.run(
        f'INSERT INTO rejected SELECT "row", $named, NULL, $reason FROM described WHERE id IS NULL',  # noqa: F541
        named=target.named,
        reason=f"the {target.named} has no name",
    )
    _drop_rejected(job)
    for column in (c for c in _attributes(job) if types[c] != "text"):
        raw = f'i."{column}"'
        fault = values.problem(f'd."{column}"', values.is_unknown(raw), types[column])
        job.run(
            f"""
            INSERT INTO rejected
            SELECT d."row", $column, {raw}, {raw} || ' ' || {fault}
            FROM described d JOIN incoming i ON {row} = d."row" WHERE {fault} IS NOT NULL
            """,
            column=column,
        )
        _drop_rejected(job)
    _check_rows(job)


def _check_rows(job: Job) -> None:
    if {"scale_min", "scale_max"} <= set(_attributes(job)):
        job.run("""
            INSERT INTO rejected
            SELECT "row", 'scale_max', CAST(scale_max AS VARCHAR),
                   'the scale ends at ' || CAST(scale_max AS INTEGER) || ' but begins at ' || CAST(scale_min AS INTEGER)
                   || ': expected a larger scale_max'
            FROM described WHERE scale_min >= scale_max
        """)
        _drop_rejected(job)


def _drop_rejected(job: Job) -> None:
    job.run('DELETE FROM described WHERE "row" IN (SELECT "row" FROM rejected)')


def _settle_repeats(job: Job, target: _Target) -> None:
    """Rows of the file that describe the same thing: unknown values fill in, differing ones conflict."""
    if job.on_conflict == "reject":
        for column in _attributes(job):
            _reject_differing(job, target, column)
        _drop_rejected(job)
    latest = "".join(f', arg_max("{c}", "row") FILTER ("{c}" IS NOT NULL) AS "{c}"' for c in _attributes(job))
    job.run(f'CREATE TEMP TABLE facts AS SELECT id, max("row") AS "row" {latest} FROM described GROUP BY id')
    differ = " OR ".join(f'd."{c}" <> f."{c}"' for c in _attributes(job)) or "false"
    total, things, replaced = job.one(f"""
        SELECT count(*), count(DISTINCT id), count(*) FILTER ({differ}) FROM described d JOIN facts f USING (id)
    """)
    job.tally.replaced += replaced
    job.tally.collapsed += total - things - replaced


def _reject_differing(job: Job, target: _Target, column: str) -> None:
    job.run(
        f"""
        INSERT INTO rejected
        WITH keys AS (
            SELECT id, min("row") FILTER ("{column}" IS NOT NULL) AS first_row,
                   arg_min("{column}", "row") AS first_value
            FROM described GROUP BY id HAVING min("{column}") <> max("{column}")
        ), others AS (
            SELECT d.id, min(d."row") AS other_row
            FROM described d JOIN keys k USING (id) WHERE d."{column}" <> k.first_value GROUP BY d.id
        )
        SELECT d."row", '{column}', CAST(d."{column}" AS VARCHAR),
               'conflicts with row ' || CASE WHEN d."{column}" = k.first_value THEN o.other_row ELSE k.first_row END
               || ', which gives another {column} for the same {target.named}'
        FROM described d JOIN keys k USING (id) JOIN others o USING (id)
        WHERE d."{column}" IS NOT NULL AND d."row" NOT IN (SELECT "row" FROM rejected)
        """,
    )


def _settle_stored(job: Job, target: _Target) -> None:
    """Against what an earlier file said of the same thing."""
    stored = f"""
        facts f JOIN {target.table} t ON t.{target.id_column} = f.id AND t.dataset_id = $dataset
        JOIN ingests e ON e.ingest_id = t.ingest_id
    """
    for column in _attributes(job):
        differing = f'FROM {stored} WHERE f."{column}" <> t."{column}"'
        if job.on_conflict == "reject":
            job.run(f"""
                INSERT INTO rejected
                SELECT f."row", '{column}', CAST(f."{column}" AS VARCHAR),
                       'conflicts with row ' || t."row" || ' of ' || e.source
                       || ', which gave another {column} for the same {target.named}'
                {differing}
            """)
            job.run('DELETE FROM facts WHERE "row" IN (SELECT "row" FROM rejected)')
        else:
            job.tally.replaced += job.one(f"SELECT count(*) {differing}")[0]
    known = " AND ".join(
        f'(f."{c}" IS NULL OR f."{c}" IS NOT DISTINCT FROM t."{c}")' for c in _attributes(job)
    )
    job.tally.collapsed += job.one(f"SELECT count(*) FROM {stored} WHERE {known or 'true'}")[0]


def _write(job: Job, target: _Target) -> None:
    used = "SELECT id FROM facts"
    if job.kind == "rubrics":
        names.keep_rubrics(job, used)
    elif job.kind == "queries":
        names.keep_queries(job, used)
    else:
        names.keep_names(job, "system", used)
        job.run("""
            INSERT INTO reference_ranking (reference_id, dataset_id, system_id)
            SELECT (SELECT coalesce(max(reference_id), 0) FROM reference_ranking) + row_number() OVER (ORDER BY id),
                   $dataset, id
            FROM facts WHERE id NOT IN (SELECT system_id FROM reference_ranking WHERE dataset_id = $dataset)
        """)
    assign = "".join(f', "{c}" = coalesce(facts."{c}", {target.table}."{c}")' for c in _attributes(job))
    job.run(f"""
        UPDATE {target.table} SET ingest_id = $ingest, "row" = facts."row" {assign}
        FROM facts WHERE {target.table}.{target.id_column} = facts.id AND {target.table}.dataset_id = $dataset
    """)
