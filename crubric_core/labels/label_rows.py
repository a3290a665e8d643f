"""Labels and gold labels: from the file's text to (system, rubric, judge, label) rows, each in one set-based pass."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from fractions import Fraction

from ..errors import IngestError
from . import names, values
from .job import Job

_KEY = "system_id, rubric_id, judge_id"


def store_labels(job: Job) -> None:
    """Validate ``incoming`` and add it to the labels (or the gold) of the dataset."""
    judge = "judge" if job.kind == "labels" else "annotator"
    _read_labels(job)
    names.look_up_names(job, "system")
    names.look_up_names(job, judge)
    names.look_up_rubrics(job, borrow_query=True)
    _code(job, judge)
    _reject_faults(job, judge)
    _settle_repeats(job)
    _settle_stored(job)
    names.keep_names(job, "system", "SELECT system_id AS id FROM coded")
    names.keep_names(job, judge, "SELECT judge_id AS id FROM coded")
    names.keep_rubrics(job, "SELECT rubric_id AS id FROM coded")
    job.run(f'INSERT INTO {job.kind} SELECT $dataset, {_KEY}, label, $ingest, "row" FROM coded')


def _read_labels(job: Job) -> None:
    unknown = values.is_unknown("raw")
    job.run(f"""
        CREATE TEMP TABLE label_values AS
        WITH words AS (SELECT label AS raw, count(*) AS n FROM incoming GROUP BY label),
        parsed AS (
            SELECT raw, n, {values.verdict("raw")} AS verdict, {values.number("raw")} AS number, {unknown} AS unknown
            FROM words
        ), valued AS (SELECT *, coalesce(verdict, number) AS value FROM parsed),
        highest AS (
            SELECT greatest(max(number) FILTER (number <= {values.LARGEST}),
                            (SELECT max(label) FROM {job.kind} WHERE dataset_id = $dataset)) AS label
            FROM valued
        )
        SELECT raw, n, value, unknown, verdict IS NOT NULL AS is_word, highest.label AS highest,
               {values.problem("value", "unknown", "whole")} AS problem
        FROM valued CROSS JOIN highest
    """)
    _refuse_fractions(job)


def _refuse_fractions(job: Job) -> None:
    """A whole column in quarters or tenths is another scale, not many slips: say how to bring it to levels."""
    known, fractional = job.one(
        "SELECT coalesce(sum(n), 0), coalesce(sum(n) FILTER (value <> round(value)), 0)"
        " FROM label_values WHERE isfinite(value)"
    )
    if fractional * 10 < known or not fractional:
        return
    found = job.all(
        "SELECT DISTINCT value FROM label_values WHERE isfinite(value) AND abs(value) <= 1000 LIMIT 1001"
    )
    for parts in range(2, 101):
        if all(abs(v * parts - round(v * parts)) < 1e-6 for (v,) in found):
            raise IngestError(
                f"The labels of {job.source} go in steps of {float(Fraction(1, parts)):.4g}, and levels are whole "
                f"numbers: multiply the labels (and scale_min, scale_max) by {parts}."
            )


def _code(job: Job, judge: str) -> None:
    """Ids in place of text; ``fault`` says what is wrong with a row, 0 where nothing is."""
    job.run(f"""
        CREATE TEMP TABLE coded AS
        SELECT {job.row_sql} AS "row", s.id AS system_id, r.id AS rubric_id, j.id AS judge_id,
               CASE WHEN l.problem IS NULL THEN CAST(l.value AS INTEGER) END AS label,
               CAST(CASE WHEN s.name IS NULL THEN 1 WHEN r.rubric IS NULL THEN 2 WHEN r.ambiguous THEN 3
                         WHEN j.name IS NULL THEN 4 WHEN l.problem IS NOT NULL THEN 5
                         WHEN l.value < r.lo OR l.value > r.hi THEN 6
                         WHEN l.is_word AND coalesce(r.hi, l.highest) > 1 THEN 7 ELSE 0 END AS TINYINT) AS fault
        FROM incoming i
        JOIN system_names s ON s.raw IS NOT DISTINCT FROM i.system
        JOIN {judge}_names j ON j.raw IS NOT DISTINCT FROM i.{judge}
        JOIN rubric_names r ON r.rubric_raw IS NOT DISTINCT FROM i.rubric AND r.query_raw IS NOT DISTINCT FROM i.query
        JOIN label_values l ON l.raw IS NOT DISTINCT FROM i.label
    """)


def _reject_faults(job: Job, judge: str) -> None:
    job.run(f"""
        INSERT INTO rejected
        SELECT c."row",
               CASE fault WHEN 1 THEN 'system' WHEN 2 THEN 'rubric' WHEN 3 THEN 'query' WHEN 4 THEN '{judge}'
                          ELSE 'label' END,
               CASE fault WHEN 1 THEN i.system WHEN 2 THEN i.rubric WHEN 3 THEN i.query WHEN 4 THEN i.{judge}
                          ELSE i.label END,
               CASE fault
                   WHEN 1 THEN 'the system has no name'
                   WHEN 2 THEN 'the rubric has no name'
                   WHEN 3 THEN 'several queries have the rubric ' || r.rubric || ': name the query'
                   WHEN 4 THEN 'the {judge} has no name'
                   WHEN 5 THEN i.label || ' ' || l.problem
                   WHEN 7 THEN i.label || ' is a verdict, but labels go up to '
                               || CAST(coalesce(r.hi, l.highest) AS INTEGER)
                               || ': give a number, or the rubric a scale from 0 to 1'
                   ELSE i.label || ' lies outside the scale of ' || r.rubric || ', '
                        || coalesce(CAST(r.lo AS VARCHAR), '…') || ' to ' || coalesce(CAST(r.hi AS VARCHAR), '…')
               END
        FROM coded c
        JOIN incoming i ON {job.row_sql} = c."row"
        JOIN rubric_names r ON r.rubric_raw IS NOT DISTINCT FROM i.rubric AND r.query_raw IS NOT DISTINCT FROM i.query
        JOIN label_values l ON l.raw IS NOT DISTINCT FROM i.label
        WHERE c.fault > 0
    """)
    job.run("DELETE FROM coded WHERE fault > 0")
    (job.tally.blank,) = job.one("SELECT count(*) FROM coded WHERE label IS NULL")


def _has_no_repeats(job: Job) -> bool:
    """Whether every key is there once, by one bit a possible key; False also where there are too many of those."""
    rows, *ends = job.one("""
        SELECT count(*), min(system_id), max(system_id), min(rubric_id), max(rubric_id), min(judge_id), max(judge_id)
        FROM coded
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
            FROM coded
        )
        """,
        system=ends[0],
        rubric=ends[2],
        judge=ends[4],
    )
    return bool(found == rows)


def _settle_repeats(job: Job) -> None:
    """One row a key: an unknown label never contradicts a known one; known ones that differ are a conflict."""
    if _has_no_repeats(job):
        return
    job.run(f"""
        CREATE TEMP TABLE repeats AS
        SELECT {_KEY} FROM coded GROUP BY {_KEY} HAVING count(*) > 1
    """)
    if not job.one("SELECT count(*) FROM repeats")[0]:
        return
    best = "max" if job.on_conflict == "last" else "min"
    job.run(f"""
        CREATE TEMP TABLE repeated AS
        WITH keys AS (
            SELECT {_KEY}, min(label) <> max(label) AS differ,
                   min("row") FILTER (label IS NOT NULL) AS first_row, arg_min(label, "row") AS first_label,
                   {best}("row") FILTER (label IS NOT NULL) AS known_row,
                   {best}("row") FILTER (label IS NULL) AS blank_row
            FROM coded JOIN repeats USING ({_KEY}) GROUP BY {_KEY}
        ), others AS (
            SELECT {_KEY}, min(c."row") AS other_row, arg_min(c.label, c."row") AS other_label
            FROM coded c JOIN keys k USING ({_KEY}) WHERE c.label <> k.first_label GROUP BY {_KEY}
        )
        SELECT c."row", c.label, coalesce(k.differ, false) AS differ, k.blank_row,
               coalesce(k.known_row, k.blank_row) AS kept_row,
               CASE WHEN c.label = k.first_label THEN o.other_row ELSE k.first_row END AS other_row,
               CASE WHEN c.label = k.first_label THEN o.other_label ELSE k.first_label END AS other_label
        FROM coded c JOIN keys k USING ({_KEY}) LEFT JOIN others o USING ({_KEY})
    """)
    if job.on_conflict == "reject":
        _reject_repeats(job)
    _collapse_repeats(job)


def _reject_repeats(job: Job) -> None:
    job.run("""
        INSERT INTO rejected
        SELECT "row", 'label', CAST(label AS VARCHAR),
               'conflicts with row ' || other_row || ', which gives ' || other_label
               || ' for the same system, rubric and judge'
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
    job.run('DELETE FROM coded WHERE "row" IN (SELECT "row" FROM repeated WHERE "row" <> kept_row)')


def _settle_stored(job: Job) -> None:
    """Rows whose key the dataset already holds: equal ones collapse, an unknown is filled, others conflict."""
    table = job.kind
    if not job.one(f"SELECT count(*) FROM {table} WHERE dataset_id = $dataset")[0]:
        return
    job.run(f"""
        CREATE TEMP TABLE met AS
        SELECT {_KEY}, c."row", c.label, l.label AS old, l."row" AS old_row, l.ingest_id AS old_ingest
        FROM coded c JOIN {table} l USING ({_KEY}) WHERE l.dataset_id = $dataset
    """)
    job.tally.collapsed += job.one("SELECT count(*) FROM met WHERE label IS NULL OR label = old")[0]
    if job.on_conflict == "reject":
        job.run("""
            INSERT INTO rejected
            SELECT m."row", 'label', CAST(m.label AS VARCHAR),
                   'conflicts with row ' || m.old_row || ' of ' || i.source || ', which gave ' || m.old
                   || ' for the same system, rubric and judge'
            FROM met m JOIN ingests i ON i.ingest_id = m.old_ingest WHERE m.label <> m.old
        """)
        update = "met.old IS NULL AND met.label IS NOT NULL"
    else:
        job.tally.replaced += job.one("SELECT count(*) FROM met WHERE label <> old")[0]
        update = "met.label IS DISTINCT FROM met.old AND met.label IS NOT NULL"
    same = " AND ".join(f"{table}.{c.strip()} = met.{c.strip()}" for c in _KEY.split(","))
    job.run(f"""
        UPDATE {table} SET label = met.label, ingest_id = $ingest, "row" = met."row"
        FROM met WHERE {same} AND {table}.dataset_id = $dataset AND {update}
    """)
    job.run('DELETE FROM coded WHERE "row" IN (SELECT "row" FROM met)')
