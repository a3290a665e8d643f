"""Store descriptions of rubrics and queries, and the reference ranking: fill in what is unknown, detect conflicts."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from dataclasses import dataclass

from ..readers import values
from ..readers.columns.specs import SPECS
from . import names
from .job import Job
from .statements import DESCRIBED, fold


@dataclass(frozen=True)
class _Target:
    """How a file names the thing that it describes.

    lookup: the table of names. on: its join condition with ``incoming i``. named: the word for it in messages.
    """

    lookup: str
    on: str
    named: str


_SCALE = ("scale_min", "scale_max")
_TARGETS = {
    "rubrics": _Target(
        "rubric_names",
        "n.rubric_raw IS NOT DISTINCT FROM i.rubric AND n.query_raw IS NOT DISTINCT FROM i.query",
        "rubric",
    ),
    "queries": _Target("query_names", f"n.name = {values.name('i.query')}", "query"),
    "reference": _Target("system_names", "n.raw IS NOT DISTINCT FROM i.system", "system"),
}


def store_attributes(job: Job) -> None:
    """Validate ``incoming`` and let it describe the rubrics, queries or systems that it names."""
    target = _TARGETS[job.kind]
    _look_up(job)
    _read_values(job, target)
    _resolve_repeats(job, target)
    _resolve_stored(job, target)
    _write(job)


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
    """Create ``described(row, id, <attributes>)``; a row with an invalid value goes to ``rejected`` as a whole."""
    types = SPECS[job.kind].values
    read = {
        c: values.name(f'i."{c}"') if types[c] == "text" else values.typed(f'i."{c}"', types[c])
        for c in _attributes(job)
    }
    if job.policies.multiply > 1:
        read |= {c: f"round({read[c]} * {job.policies.multiply}, 6)" for c in _SCALE if c in read}
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


def _resolve_repeats(job: Job, target: _Target) -> None:
    """Create ``facts``: the rows of ``described`` about the same thing as one. Unknown values are filled in.

    Values that differ are a conflict, which the policy ``on_conflict`` decides.
    """
    if job.policies.on_conflict in ("reject", "runs"):
        for column in _attributes(job):
            _reject_differing(job, target, column)
        _drop_rejected(job)
    pick = "min" if job.policies.on_conflict == "first" else "max"
    columns_sql = "".join(
        f', arg_{pick}("{c}", "row") FILTER ("{c}" IS NOT NULL) AS "{c}"' for c in _attributes(job)
    )
    job.run(
        f'CREATE TEMP TABLE facts AS SELECT id, max("row") AS "row" {columns_sql} FROM described GROUP BY id'
    )
    differ = " OR ".join(f'd."{c}" <> f."{c}"' for c in _attributes(job)) or "false"
    total, things, replaced = job.one(f"""
        SELECT count(*), count(DISTINCT id), count(*) FILTER ({differ}) FROM described d JOIN facts f USING (id)
    """)
    job.tally.replaced += replaced
    job.tally.apply("on_conflict", replaced)
    job.tally.collapsed += total - things - replaced


def _reject_differing(job: Job, target: _Target, column: str) -> None:
    other = f'CASE WHEN d."{column}" = k.first_value THEN o.other_row ELSE k.first_row END'
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
               'conflicts with ' || {job.row_named(other)}
               || ', which gives another {column} for the same {target.named}'
        FROM described d JOIN keys k USING (id) JOIN others o USING (id)
        WHERE d."{column}" IS NOT NULL AND d."row" NOT IN (SELECT "row" FROM rejected)
        """,
    )


def _resolve_stored(job: Job, target: _Target) -> None:
    """Compare ``facts`` with the stored descriptions; conflicts are decided by the policy ``on_conflict``."""
    place = DESCRIBED[job.kind]
    stored = f"""
        facts f JOIN {place.table} t ON t.{place.id} = f.id AND t.dataset_id = $dataset
        JOIN ingests e ON e.ingest_id = t.ingest_id
    """
    for column in _attributes(job):
        differing = f'FROM {stored} WHERE f."{column}" <> t."{column}"'
        if job.policies.on_conflict in ("reject", "runs"):
            job.run(
                f"""
                INSERT INTO rejected
                SELECT f."row", '{column}', CAST(f."{column}" AS VARCHAR),
                       'conflicts with row ' || t."row" || ' of ' || e.source
                       || ', which gave another {column} for the same {target.named}' || $hint
                {differing}
                """,
                hint=f" ({job.apart})" if job.apart else "",
            )
            job.run('DELETE FROM facts WHERE "row" IN (SELECT "row" FROM rejected)')
            continue
        (rows,) = job.one(f"SELECT count(*) {differing}")
        job.tally.replaced += rows
        job.tally.apply("on_conflict", rows)
        if job.policies.on_conflict == "first":
            job.run(f'UPDATE facts SET "{column}" = NULL WHERE id IN (SELECT f.id {differing})')
    known = " AND ".join(
        f'(f."{c}" IS NULL OR f."{c}" IS NOT DISTINCT FROM t."{c}")' for c in _attributes(job)
    )
    job.tally.collapsed += job.one(f"SELECT count(*) FROM {stored} WHERE {known or 'true'}")[0]


def _write(job: Job) -> None:
    """Store ``facts`` as statements, and update the things that they describe from all statements.

    Creates ``before``, the described rows as they were.
    """
    place, used = DESCRIBED[job.kind], "SELECT id FROM facts"
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
    columns = "".join(f', "{c}"' for c in _attributes(job))
    job.run(f"""
        INSERT INTO {place.statements} (dataset_id, {place.id}, ingest_id, "row" {columns})
        SELECT $dataset, id, $ingest, "row" {columns} FROM facts
    """)
    rows_sql = f"{place.table} WHERE dataset_id = $dataset AND {place.id} IN ({used})"
    job.run(f"CREATE TEMP TABLE before AS FROM {rows_sql}")
    fold(job.cursor, job.kind, job.dataset_id, used)
    _count_changes(job, rows_sql, place.id)


def _count_changes(job: Job, rows_sql: str, key: str) -> None:
    """Count things described for the first time, and values of the others that changed or are known only now."""
    (job.tally.added,) = job.one("SELECT count(*) FROM before WHERE ingest_id IS NULL")
    for column in _attributes(job):
        changed, filled = job.one(f"""
            SELECT count(*) FILTER (t."{column}" IS DISTINCT FROM b."{column}" AND b."{column}" IS NOT NULL),
                   count(*) FILTER (t."{column}" IS NOT NULL AND b."{column}" IS NULL)
            FROM (FROM {rows_sql}) t JOIN before b USING ({key}) WHERE b.ingest_id IS NOT NULL
        """)
        job.tally.changed += changed
        job.tally.filled += filled
