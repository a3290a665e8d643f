"""Labels and gold labels: from the file's text to (system, rubric, judge, label) rows, each in one set-based pass."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from fractions import Fraction

from ...errors import IngestError
from ..readers import values
from ..readers.columns import SPECS
from . import names
from .conflicts import has_no_repeats, settle_repeats, settle_stored
from .job import Job
from .statements import KEYS, key_of


def store_labels(job: Job) -> None:
    """Validate ``incoming`` and add it to the labels, the gold or the anchors of the dataset."""
    judge = "judge" if job.kind == "labels" else "annotator"
    _read_labels(job)
    job.report(0.45, "Looking up systems and judges")
    if _has_systems(job):
        names.look_up_names(job, "system")
    else:
        names.stand_in(job, "system")
    names.look_up_names(job, judge)
    job.report(0.5, "Looking up rubrics")
    names.look_up_rubrics(job, borrow_query=True)
    job.report(0.55, "Checking every label")
    if _is_sound(job, judge) and _store_directly(job, judge):
        return
    _code(job, judge)
    _reject_faults(job, judge)
    job.report(0.7, "Looking for repeats")
    settle_repeats(job)
    settle_stored(job)
    job.report(0.8, "Storing the labels")
    if _has_systems(job):
        names.keep_names(job, "system", "SELECT system_id AS id FROM coded")
    names.keep_names(job, judge, "SELECT judge_id AS id FROM coded")
    names.keep_rubrics(job, "SELECT rubric_id AS id FROM coded")
    (job.tally.added,) = job.one("SELECT count(*) FROM coded")
    job.run(f'INSERT INTO {job.kind} SELECT $dataset, {key_of(job.kind)}, label, $ingest, "row" FROM coded')


def _is_sound(job: Job, judge: str) -> bool:
    """Whether no row can be at fault, by the distinct values alone, and no stored label can be met."""
    if not _has_systems(job) or job.one(f"SELECT count(*) FROM {job.kind} WHERE dataset_id = $dataset")[0]:
        return False
    (faults,) = job.one(f"""
        SELECT (SELECT count(*) FROM system_names WHERE name IS NULL)
             + (SELECT count(*) FROM {judge}_names WHERE name IS NULL)
             + (SELECT count(*) FROM rubric_names WHERE rubric IS NULL OR ambiguous)
             + (SELECT count(*) FROM label_values WHERE problem IS NOT NULL OR is_word)
    """)
    (off,) = job.one("""
        SELECT coalesce(min(value) < (SELECT max(lo) FROM rubric_names), false)
            OR coalesce(max(value) > (SELECT min(hi) FROM rubric_names), false)
        FROM label_values
    """)
    return not faults and not off


def _store_directly(job: Job, judge: str) -> bool:
    """Write the rows without a table between; False, with all taken back, where a key comes twice."""
    job.run(f"""
        INSERT INTO {job.kind}
        SELECT $dataset, s.id, r.id, j.id, l.value::INTEGER, $ingest, {job.row_sql} {_look_ups(job, judge)}
    """)
    job.report(0.75, "Looking for repeats")
    if not has_no_repeats(job, f"(FROM {job.kind} WHERE ingest_id = {job.ingest_id})"):
        job.run(f"DELETE FROM {job.kind} WHERE dataset_id = $dataset")  # it held nothing before
        return False
    for column in ("system", judge):
        names.keep_names(job, column, f"SELECT id FROM {column}_names")
    names.keep_rubrics(job, "SELECT id FROM rubric_names")
    job.tally.added = job.tally.total - job.one("SELECT count(*) FROM rejected")[0]
    (job.tally.blank,) = job.one("SELECT coalesce(sum(n), 0)::BIGINT FROM label_values WHERE value IS NULL")
    return True


def _look_ups(job: Job, judge: str) -> str:
    """``incoming i`` with what each text of it means: s, j, r and l."""
    (alone,) = job.one("SELECT count(DISTINCT rubric_raw) = count(*) FROM rubric_names")
    query = "" if alone else "AND r.query_raw IS NOT DISTINCT FROM i.query"  # one comparison less a row
    return f"""
        FROM incoming i
        JOIN system_names s ON s.raw IS NOT DISTINCT FROM i.system
        JOIN {judge}_names j ON j.raw IS NOT DISTINCT FROM i.{judge}
        JOIN rubric_names r ON r.rubric_raw IS NOT DISTINCT FROM i.rubric {query}
        JOIN label_values l ON l.raw IS NOT DISTINCT FROM i.label
    """


def _has_systems(job: Job) -> bool:
    """Whether the labels are of systems; anchors are of the rubrics themselves."""
    return "system_id" in KEYS[job.kind]


def _read_labels(job: Job) -> None:
    """``label_values``: each text once, with its label, or why it is none, and the policies that made it one."""
    policies = job.policies
    whole = {"reject": "scaled", "down": "floor(scaled)", "up": "ceil(scaled)"}[policies.fractions]
    zero = "scaled = 0 AND verdict IS NULL AND NOT answered" if policies.zero == "unknown" else "false"
    words = [word.strip().lower() for word in policies.answers]
    job.run(
        f"""
        CREATE TEMP TABLE label_values AS
        WITH words AS (SELECT label AS raw, count(*) AS n FROM incoming GROUP BY label),
        answers AS (SELECT unnest($words::VARCHAR[]) AS word, unnest($meanings::DOUBLE[]) AS meaning),
        parsed AS (
            SELECT raw, n, word, meaning, {values.verdict("raw")} AS verdict, {values.number("raw")} AS number,
                   {values.is_unknown("raw")} AS missing
            FROM words LEFT JOIN answers ON word = lower({values.name("raw")})
        ), told AS (
            SELECT * REPLACE (CASE WHEN NOT answered THEN verdict END AS verdict) FROM (
                SELECT *, word IS NOT NULL AND NOT (missing AND meaning IS NULL) AND (
                    verdict IS NULL  -- or one word means another level than usual, and then all of them do
                    OR bool_or(word IS NOT NULL AND verdict IS NOT NULL AND verdict IS DISTINCT FROM meaning) OVER ()
                ) AS answered
                FROM parsed
            )
        ), scaled AS (
            SELECT *, CASE WHEN answered THEN meaning WHEN verdict IS NOT NULL THEN verdict
                           WHEN {policies.multiply} = 1 THEN number
                           ELSE round(number * {policies.multiply}, 6) END AS scaled
            FROM told
        ), valued AS (
            SELECT *, {zero} AS no_label, CASE WHEN isfinite(scaled) THEN {whole} ELSE scaled END AS value
            FROM scaled
        ), highest AS (
            SELECT greatest(max(value) FILTER (verdict IS NULL AND value <= {values.LARGEST}),
                            (SELECT max(label) FROM {job.kind} WHERE dataset_id = $dataset)) AS label
            FROM valued
        ), settled AS (
            SELECT *, missing AND NOT answered OR answered AND meaning IS NULL OR coalesce(no_label, false) AS unknown
            FROM valued
        )
        SELECT raw, n, CASE WHEN NOT unknown THEN value END AS value, unknown, verdict IS NOT NULL AS is_word,
               highest.label AS highest, answered, no_label, scaled,
               {values.problem("value", "unknown", SPECS[job.kind].values["label"])} AS problem
        FROM settled CROSS JOIN highest
        """,
        words=words,
        meanings=list(policies.answers.values()),
    )
    _count_policies(job)
    _refuse_fractions(job)


def _count_policies(job: Job) -> None:
    """How many rows each policy has decided so far."""
    rounded, zeros, answered, multiplied = job.one("""
        SELECT coalesce(sum(n) FILTER (scaled <> value), 0), coalesce(sum(n) FILTER (no_label), 0),
               coalesce(sum(n) FILTER (answered), 0),
               coalesce(sum(n) FILTER (value IS NOT NULL AND NOT answered AND NOT is_word), 0)
        FROM label_values
    """)
    job.tally.apply("fractions", rounded)
    job.tally.apply("zero", zeros)
    job.tally.apply("answers", answered)
    job.tally.apply("multiply", multiplied if job.policies.multiply > 1 else 0)


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
                f"numbers: multiply the labels (and scale_min, scale_max) by {parts} (policy multiply={parts})."
            )


def _code(job: Job, judge: str) -> None:
    """Ids in place of text; ``fault`` says what is wrong with a row, 0 where nothing is."""
    of_systems = _has_systems(job)  # anchors have a scale of their own, from 0 to 1
    clip = job.policies.off_scale == "clip" and of_systems
    off = "false" if clip or not of_systems else "l.value < r.lo OR l.value > r.hi"
    highest = "coalesce(r.hi, l.highest)" if of_systems else "1"
    label = "greatest(least(l.value, r.hi), r.lo)" if clip else "l.value"
    if clip:
        label = f"CASE WHEN l.value IS NOT NULL THEN {label} END"  # greatest and least pass over NULL
    job.run(f"""
        CREATE TEMP TABLE coded AS
        SELECT {job.row_sql} AS "row", s.id AS system_id, r.id AS rubric_id, j.id AS judge_id,
               CASE WHEN l.problem IS NULL THEN CAST({label} AS INTEGER) END AS label,
               CAST(CASE WHEN s.name IS NULL THEN 1 WHEN r.rubric IS NULL THEN 2 WHEN r.ambiguous THEN 3
                         WHEN j.name IS NULL THEN 4 WHEN l.problem IS NOT NULL THEN 5
                         WHEN {off} THEN 6
                         WHEN l.is_word AND {highest} > 1 THEN 7 ELSE 0 END AS TINYINT) AS fault
        {_look_ups(job, judge)}
    """)
    if clip:
        _count_clipped(job)


def _count_clipped(job: Job) -> None:
    (rows,) = job.one("""
        SELECT count(*) FROM incoming i JOIN label_values l ON l.raw = i.label
        JOIN rubric_names r ON r.rubric_raw IS NOT DISTINCT FROM i.rubric AND r.query_raw IS NOT DISTINCT FROM i.query
        WHERE l.value < r.lo OR l.value > r.hi
    """)
    job.tally.apply("off_scale", rows)


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
