"""Store labels, gold labels and anchors: from text to rows of ids and levels, each step in one set-based pass."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from ..readers import values
from . import names, scales, tallies
from .conflicts import GAVE_WAY, has_no_repeats, resolve_repeats, resolve_stored
from .direction import refuse_unsaid
from .job import Job
from .label_values import read_labels
from .statements import KEYS, key_of


def store_labels(job: Job) -> None:
    """Validate ``incoming`` and add it to ``labels``, ``gold`` or ``anchors`` of the dataset."""
    judge = "judge" if job.kind == "labels" else "annotator"
    read_labels(job)
    job.report(0.45, "Looking up systems and judges")
    if _has_systems(job):
        names.look_up_names(job, "system")
    else:
        names.stand_in(job, "system")
    names.look_up_names(job, judge)
    if job.has_runs:
        names.look_up_names(job, "run")
    job.report(0.5, "Looking up rubrics")
    names.look_up_rubrics(job, borrow_query=True)
    job.report(0.55, "Checking every label")
    scales.apply_given(job)
    refuse_unsaid(job)
    exceptions = _has_systems(job) and scales.find_exceptions(job)
    if not exceptions and _is_sound(job, judge) and _store_directly(job, judge):
        _tally(job, met=False)
        scales.keep_given(job)
        return
    _code(job, judge, exceptions=exceptions)
    _reject_faults(job, judge, exceptions=exceptions)
    job.report(0.7, "Looking for repeats")
    resolve_repeats(job)
    met = resolve_stored(job)
    job.report(0.8, "Storing the labels")
    if _has_systems(job):
        names.keep_names(job, "system", "SELECT system_id AS id FROM coded")
    names.keep_names(job, judge, "SELECT judge_id AS id FROM coded")
    if job.has_runs:
        names.keep_names(job, "run", "SELECT run_id AS id FROM coded")
    names.keep_rubrics(job, "SELECT rubric_id AS id FROM coded")
    job.tally.added, job.tally.unknown, job.tally.runs = job.one(
        "SELECT count(*), count(*) FILTER (label IS NULL), coalesce(bool_or(run_id <> 0), false) FROM coded"
    )
    job.run(f"""
        INSERT INTO {job.kind} ({_columns(job)})
        SELECT $dataset, {key_of(job.kind)}, label, reason, $ingest, "row" FROM coded
    """)
    _tally(job, met=met)
    scales.keep_given(job)


def _tally(job: Job, *, met: bool) -> None:
    """Update the tallies after labels were stored. met: whether the table ``met`` exists."""
    if job.kind != "labels":
        return
    job.report(0.83, "Tallying the labels")
    if met and job.one(f"SELECT count(*) FROM met WHERE {GAVE_WAY}")[0]:
        ingests = f"SELECT old_ingest FROM met UNION SELECT {job.ingest_id:d}"
        changed = f"SELECT rubric_id FROM met WHERE {GAVE_WAY}"
        tallies.recount(job.cursor, job.dataset_id, f"{changed} UNION SELECT rubric_id FROM coded", ingests)
    else:
        tallies.add(job.cursor, job.dataset_id, job.ingest_id, job.tally.total, reasons=job.has_reasons)


def _columns(job: Job) -> str:
    return f'dataset_id, {key_of(job.kind)}, label, reason, ingest_id, "row"'


def _is_sound(job: Job, judge: str) -> bool:
    """Whether the distinct values show that no row is faulty, and that no row has the key of a stored label."""
    if not _has_systems(job) or not _is_apart(job):
        return False
    (sound,) = job.one(f"""
        SELECT NOT EXISTS (FROM system_names WHERE name IS NULL)
           AND NOT EXISTS (FROM {judge}_names WHERE name IS NULL)
           AND NOT EXISTS (FROM rubric_names WHERE rubric IS NULL OR ambiguous)
           AND NOT coalesce(bool_or(problem IS NOT NULL OR is_word), false)
           AND coalesce(min(value) >= (SELECT max(lo) FROM rubric_names), true)
           AND coalesce(max(value) <= (SELECT min(hi) FROM rubric_names), true)
        FROM label_values
    """)
    return bool(sound)


def _is_apart(job: Job) -> bool:
    """Whether no row can have the key of a stored label: the dataset has none, or all systems of the file are new."""
    return bool(
        job.one(f"""
            SELECT NOT EXISTS (FROM {job.kind} WHERE dataset_id = $dataset)
                OR NOT EXISTS (FROM system_names WHERE NOT is_new)
        """)[0]
    )


def _store_directly(job: Job, judge: str) -> bool:
    """Insert the rows without the table ``coded``; if a key occurs twice, delete them again and return False."""
    job.run(f"""
        INSERT INTO {job.kind} ({_columns(job)})
        SELECT $dataset, s.id, r.id, j.id{f", {_run(job)}" if job.kind == "labels" else ""}, l.value::INTEGER,
               {_reason(job)}, $ingest, {job.row_sql} {_look_ups(job, judge)}
    """)
    job.report(0.75, "Looking for repeats")
    if not has_no_repeats(job, f"(FROM {job.kind} WHERE ingest_id = {job.ingest_id})"):
        job.run(f"DELETE FROM {job.kind} WHERE ingest_id = $ingest")
        return False
    for column in ("system", judge, *(["run"] if job.has_runs else [])):
        names.keep_names(job, column, f"SELECT id FROM {column}_names")
    names.keep_rubrics(job, "SELECT id FROM rubric_names")
    rejected, job.tally.blank = job.one(
        "SELECT (SELECT count(*) FROM rejected), coalesce(sum(n), 0)::BIGINT FROM label_values WHERE value IS NULL"
    )
    job.tally.added, job.tally.unknown = job.tally.total - rejected, job.tally.blank
    job.tally.runs = job.has_runs and job.one("SELECT count(id) > 0 FROM run_names")[0]
    return True


def _look_ups(job: Job, judge: str) -> str:
    """FROM clause: ``incoming i`` joined with its names and labels as s (system), j (judge), r, l, and n (run)."""
    (alone,) = job.one("SELECT count(DISTINCT rubric_raw) = count(*) FROM rubric_names")
    query = "" if alone else "AND r.query_raw IS NOT DISTINCT FROM i.query"  # saves a comparison for each row
    runs = "JOIN run_names n ON n.raw IS NOT DISTINCT FROM i.run" if job.has_runs else ""
    return f"""
        FROM incoming i {runs}
        JOIN system_names s ON s.raw IS NOT DISTINCT FROM i.system
        JOIN {judge}_names j ON j.raw IS NOT DISTINCT FROM i.{judge}
        JOIN rubric_names r ON r.rubric_raw IS NOT DISTINCT FROM i.rubric {query}
        JOIN label_values l ON l.raw IS NOT DISTINCT FROM i.label
    """


def _run(job: Job) -> str:
    """SQL for the id of a row's run; 0 if it names none."""
    return "coalesce(n.id, 0)" if job.has_runs else "0"


def _reason(job: Job) -> str:
    return values.name("i.reason") if job.has_reasons else "NULL::VARCHAR"


def _has_systems(job: Job) -> bool:
    """Whether the labels are about systems; anchors are about the rubrics themselves."""
    return "system_id" in KEYS[job.kind]


def _code(job: Job, judge: str, *, exceptions: bool) -> None:
    """Create ``coded``: ids in place of text. ``fault``: number of a row's fault (``_add_rejected_rows``); 0: none.

    judge: "judge" or "annotator". exceptions: whether ``find_exceptions`` created ``strays``.
    """
    of_systems = _has_systems(job)  # anchors have a scale of their own, from 0 to 1
    clip = job.policies.off_scale == "clip" and of_systems
    off = "false" if clip or not of_systems else "l.value < r.lo OR l.value > r.hi"
    highest = _highest(job, exceptions)
    stray = "WHEN t.reason IS NOT NULL THEN 8" if exceptions else ""
    label = "greatest(least(l.value, r.hi), r.lo)" if clip else "l.value"
    if clip:
        label = f"CASE WHEN l.value IS NOT NULL THEN {label} END"  # greatest and least pass over NULL
    job.run(f"""
        CREATE TEMP TABLE coded AS
        SELECT {job.row_sql} AS "row", s.id AS system_id, r.id AS rubric_id, j.id AS judge_id,
               {_run(job)} AS run_id, {_reason(job)} AS reason,
               CASE WHEN l.problem IS NULL THEN CAST({label} AS INTEGER) END AS label,
               CAST(CASE WHEN s.name IS NULL THEN 1 WHEN r.rubric IS NULL THEN 2 WHEN r.ambiguous THEN 3
                         WHEN j.name IS NULL THEN 4 WHEN l.problem IS NOT NULL THEN 5
                         WHEN {off} THEN 6 {stray}
                         WHEN l.is_word AND {highest} > 1 THEN 7 ELSE 0 END AS TINYINT) AS fault
        {_look_ups(job, judge)} {_STRAYS if exceptions else ""}
    """)
    if clip:
        _count_clipped(job)


_STRAYS = "LEFT JOIN strays t ON t.rubric_id = r.id AND t.value = l.value AND NOT l.is_word"


def _highest(job: Job, exceptions: bool) -> str:
    """SQL for the highest level of a row's criterion, given or seen; above 1, a verdict in words is rejected."""
    if not _has_systems(job):
        return "1"
    if job.graded:  # the scale that is given may be that of yes, partly and no
        return "coalesce(r.seen_hi, 1)" if exceptions else "1"
    return "coalesce(r.hi, r.seen_hi, 1)" if exceptions else "coalesce(r.hi, 1)"


def _count_clipped(job: Job) -> None:
    (rows,) = job.one("""
        SELECT count(*) FROM incoming i JOIN label_values l ON l.raw = i.label
        JOIN rubric_names r ON r.rubric_raw IS NOT DISTINCT FROM i.rubric AND r.query_raw IS NOT DISTINCT FROM i.query
        WHERE l.value < r.lo OR l.value > r.hi
    """)
    job.tally.apply("off_scale", rows)


def _reject_faults(job: Job, judge: str, *, exceptions: bool) -> None:
    (faults,) = job.one("SELECT count(*) FROM coded WHERE fault > 0")
    if faults:
        _add_rejected_rows(job, judge, exceptions=exceptions)
        job.run("DELETE FROM coded WHERE fault > 0")
    (job.tally.blank,) = job.one("SELECT count(*) FROM coded WHERE label IS NULL")


def _add_rejected_rows(job: Job, judge: str, *, exceptions: bool) -> None:
    join, reason = (_STRAYS, "WHEN 8 THEN t.reason") if exceptions else ("", "")
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
                               || CAST({_highest(job, exceptions)} AS INTEGER)
                               || ': give a number, say what it stands for (--answer WORD=LABEL), or give the rubric a '
                               || 'scale from 0 to 1'
                   {reason}
                   ELSE i.label || ' lies outside the scale of ' || r.rubric || ', '
                        || coalesce(CAST(r.lo AS VARCHAR), '…') || ' to ' || coalesce(CAST(r.hi AS VARCHAR), '…')
               END
        FROM coded c
        JOIN incoming i ON {job.row_sql} = c."row"
        JOIN rubric_names r ON r.rubric_raw IS NOT DISTINCT FROM i.rubric AND r.query_raw IS NOT DISTINCT FROM i.query
        JOIN label_values l ON l.raw IS NOT DISTINCT FROM i.label {join}
        WHERE c.fault > 0
    """)
