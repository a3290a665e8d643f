"""Resolve several labels of one key: within the file, and against the labels that the dataset holds."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from ...errors import IngestError
from ...text import count
from . import names
from .findings import SHOWN, Finding, Severity
from .job import Job
from .statements import KEYS, count_keys, key_of, same_key

_ENOUGH = 20  # labels from which on a majority that contradicts others is no accident
_CORRECTED = 0.25  # share of labels in which a corrected copy of a file differs, at most


def has_no_repeats(job: Job, rows_sql: str = "coded") -> bool:
    """Whether every key occurs once, by one bit for each possible key; False also if too many keys are possible.

    rows_sql: a relation with the columns of the key.
    """
    columns = [c for c in ("rubric_id", "judge_id", "system_id", "run_id") if c in KEYS[job.kind]]
    ends = ", ".join(f"min({c}), max({c})" for c in columns)
    rows, *found = job.one(f"SELECT count(*), {ends} FROM {rows_sql}")
    if not rows:
        return True
    keys = count_keys(columns, found, at_most=min(64 * rows, 10**9))
    return keys is not None and bool(job.one(f"SELECT {keys} FROM {rows_sql}")[0] == rows)


def _thing(job: Job) -> str:
    if "system_id" not in KEYS[job.kind]:
        return "rubric and annotator"
    return "system, rubric, judge and run" if job.has_runs else "system, rubric and judge"


def _hint(job: Job) -> str:
    if job.apart:
        return f" ({job.apart})"
    if job.has_runs or job.kind != "labels":
        return ""
    raters = "labels of unnamed raters or " if _is_unnamed(job) else ""
    named = f"name the {'judge or run' if raters else 'run'}"
    files = (
        ", name the judge in the file names (--pattern '{judge}.…')" if job.several or job.file_sql else ""
    )
    return f" (if they are {raters}repeated draws, {named}{files}, or use on_conflict = runs)"


def _is_unnamed(job: Job) -> bool:
    """Whether no column names who gave the labels, so that labels of one cell may be from different people."""
    return job.kind == "labels" and not job.has_runs and not job.apart and "judge" not in job.headers


def _add_unnamed_conflicts(job: Job, *, numbered: bool) -> None:
    """Add a finding on cells in which labels without a rater differ: they can only be read as those of one judge.

    The order of the rows does not identify a person. numbered: whether they are read as runs. Reads ``repeats``.
    """
    if not _is_unnamed(job):
        return
    key = key_of(job.kind)
    cells, most = job.one(f"""
        SELECT count(*), max(n) FROM (
            SELECT count(*) AS n, min(label) <> max(label) AS differ
            FROM coded JOIN repeats USING ({key}) GROUP BY {key}
        ) WHERE differ
    """)
    if not cells:
        return
    found = f"{count(cells, 'cell')} (system and rubric) have up to {most} different rows; no column names the rater."
    if numbered:
        sentence = (
            f"{found} They are read as runs of one judge called judge. If different people gave them, the "
            "self-consistency of this judge is the agreement of these people."
        )
    else:
        sentence = (
            f"{found} If a column names the rater, map it. Otherwise read them as runs of one judge who stands for all "
            """raters (--mapping '{"judge": "=unnamed raters"}' --on-conflict runs). The self-consistency of this """
            "judge is then the agreement of the raters. Single raters cannot be compared, because the order of the "
            "rows does not identify them."
        )
    severity: Severity = "note" if numbered else "warning"
    examples = job.frame("SELECT 'judge' AS judge LIMIT 0")
    job.findings.append(
        Finding(
            severity, "unnamed_raters", "Several labels of a cell without a rater", sentence, cells, examples
        )
    )


def resolve_repeats(job: Job) -> None:
    """Reduce ``coded`` to one row for each key, or make the rows of a key repeated draws (``on_conflict`` = "runs").

    An unknown label never contradicts a known one; known ones that differ are a conflict. Creates ``repeats`` and
    ``repeated`` where they are needed. Raises IngestError if too many labels contradict others.
    """
    numbered = job.policies.on_conflict == "runs" and job.kind == "labels"
    if has_no_repeats(job) and not numbered:
        return
    key = key_of(job.kind)
    job.run(f"""
        CREATE TEMP TABLE repeats AS
        SELECT {key} FROM coded GROUP BY {key} HAVING count(*) > 1
    """)
    repeats = bool(job.one("SELECT count(*) FROM repeats")[0])
    if repeats:
        _add_unnamed_conflicts(job, numbered=numbered)
    if numbered:
        if not job.has_runs:
            _number_draws(job)
        elif repeats:
            _number_runs(job)
        return
    if not repeats:
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
        _refuse_contradictions(job)
        _refuse_merged(job)
        _reject_repeats(job)
    _collapse_repeats(job)


_CELL = "system_id, rubric_id, judge_id"


def _number_draws(job: Job) -> None:
    """Make the rows of one cell repeated draws, numbered by their labels, so that the order of rows does not matter.

    If the cell already holds a label as often as the file has it, its draws are the stored ones, read again. A file
    that is sent again with more draws adds only these, with the next numbers. Creates ``drawn``.
    """
    job.run(f"""
        CREATE TEMP TABLE drawn AS
        WITH cells AS (
            SELECT {_CELL} FROM repeats UNION
            SELECT {_CELL} FROM labels JOIN (SELECT DISTINCT {_CELL} FROM coded) USING ({_CELL})
            WHERE dataset_id = $dataset AND run_id <> 0
        ), stored AS (
            SELECT {_CELL}, label, run_id, row_number() OVER (PARTITION BY {_CELL}, label ORDER BY run_id) AS nth
            FROM labels JOIN cells USING ({_CELL}) WHERE dataset_id = $dataset
        ), held AS (
            SELECT {_CELL}, greatest(count(*), max(try_cast(r.name AS INTEGER))) AS n
            FROM stored LEFT JOIN runs r USING (run_id) GROUP BY {_CELL}
        ), given AS (
            SELECT "row", {_CELL}, label, row_number() OVER (PARTITION BY {_CELL}, label ORDER BY "row") AS nth
            FROM coded JOIN cells USING ({_CELL})
        ), met AS (
            SELECT g.*, s.run_id FROM given g LEFT JOIN stored s
            ON s.system_id = g.system_id AND s.rubric_id = g.rubric_id AND s.judge_id = g.judge_id
               AND s.label IS NOT DISTINCT FROM g.label AND s.nth = g.nth
        )
        SELECT "row", run_id, CASE WHEN run_id IS NULL THEN (coalesce(n, 0) + row_number() OVER (
            PARTITION BY {_CELL}, run_id IS NULL ORDER BY label, "row"
        ))::VARCHAR END AS name
        FROM met LEFT JOIN held USING ({_CELL})
    """)
    _keep_draws(job)


def _number_runs(job: Job) -> None:
    """Make the rows of one key repeated draws of their run, named after it and numbered by their labels: ``a.1``."""
    # A number alone may be the name of another run. The runs that the file names get their ids first.
    key = key_of(job.kind)
    names.keep_names(job, "run", "SELECT run_id AS id FROM coded")
    job.run("UPDATE run_names SET is_new = false WHERE id IN (SELECT run_id FROM runs)")
    runs = [name for (name,) in job.all("SELECT name FROM run_names WHERE name IS NOT NULL")]
    mark = "."
    while any(mark in name for name in runs):  # no draw is then called like a run of the file
        mark += "."
    job.run(f"""
        CREATE TEMP TABLE drawn AS
        SELECT "row", NULL::INTEGER AS run_id, coalesce(r.name, 'draw') || '{mark}'
               || row_number() OVER (PARTITION BY {key} ORDER BY label, "row") AS name
        FROM coded JOIN repeats USING ({key}) LEFT JOIN runs r USING (run_id)
    """)
    _keep_draws(job)


def _keep_draws(job: Job) -> None:
    """Insert the runs of ``drawn`` that have only a name into ``runs``, and set ``coded.run_id`` by ``drawn``."""
    job.run("""
        INSERT INTO runs SELECT (SELECT coalesce(max(run_id), 0) FROM runs) + row_number() OVER (ORDER BY name),
                                $dataset, name
        FROM (SELECT DISTINCT name FROM drawn WHERE name IS NOT NULL)
        WHERE name NOT IN (SELECT name FROM runs WHERE dataset_id = $dataset)
    """)
    job.run("""
        UPDATE coded SET run_id = coalesce(d.run_id, r.run_id)
        FROM drawn d LEFT JOIN runs r ON r.name = d.name AND r.dataset_id = $dataset WHERE coded."row" = d."row"
    """)
    job.tally.apply("on_conflict", job.one("SELECT count(*) FROM drawn")[0])


def _refuse_contradictions(job: Job) -> None:
    """Raise IngestError if most labels contradict others of their cell.

    The rest, which agree by chance, must not be kept alone.
    """
    unnamed = next((f.sentence for f in job.findings if f.code == "unnamed_raters"), "")
    known, contradict = job.one("""
        SELECT (SELECT count(label) FROM coded), (SELECT count(label) FROM repeated WHERE differ)
    """)
    if known / 2 < contradict < known and (unnamed or (known >= _ENOUGH and not job.apart)):
        why = unnamed or (
            f"Several labels have the same {_thing(job)}, and the column that distinguishes them is not read: name "
            "it in the mapping (for repeated draws, name the run, or use on_conflict = runs; for corrections, use "
            "on_conflict = last)."
        )
        raise IngestError(
            f"{contradict:,} of {known:,} labels of {job.source} contradict other labels of the same cell. {why}"
        )


def _refuse_merged(job: Job) -> None:
    """Raise IngestError if at least half of the labels would be lost, as different things seem to have equal names."""
    if job.kind != "labels" or not (job.apart or job.file_sql):
        return
    known, contradict, lost = job.one("""
        SELECT (SELECT count(label) FROM coded), count(*) FILTER (differ),
               count(*) FILTER (differ OR "row" <> kept_row)
        FROM repeated WHERE label IS NOT NULL
    """)
    corrected = not job.apart and contradict < _CORRECTED * lost
    if not contradict or 2 * lost < known or corrected:
        return
    why = job.apart or (
        "they are in different files: if these are about different systems, queries, judges or runs, name these in "
        f"the rows or in the file names (--pattern){_hint(job)}"
    )
    raise IngestError(
        f"{lost:,} of {known:,} labels of {job.source} would be lost: other labels have the same {_thing(job)}, and "
        f"{count(contradict, 'label')} {'contradicts' if contradict == 1 else 'contradict'} them; {why}."
    )


def _reject_repeats(job: Job) -> None:
    job.run(
        f"""
        INSERT INTO rejected
        SELECT "row", 'label', CAST(label AS VARCHAR),
               'conflicts with ' || {job.row_named("other_row")} || ', which gives ' || other_label
               || ' for the same {_thing(job)}' || $hint
        FROM repeated WHERE differ AND label IS NOT NULL
        """,
        hint=_hint(job),
    )
    job.run(
        'DELETE FROM coded WHERE "row" IN (SELECT "row" FROM repeated WHERE differ AND label IS NOT NULL)'
    )
    job.run("DELETE FROM repeated WHERE differ AND label IS NOT NULL")
    job.run("UPDATE repeated SET kept_row = blank_row WHERE differ")


def _collapse_repeats(job: Job) -> None:
    if job.has_reasons:
        _keep_reasons(job)
    collapsed, replaced = job.one("""
        SELECT count(*) FILTER (r.label IS NULL OR r.label = k.label),
               count(*) FILTER (r.label IS NOT NULL AND r.label <> k.label)
        FROM repeated r JOIN coded k ON k."row" = r.kept_row WHERE r."row" <> r.kept_row
    """)
    job.tally.collapsed += collapsed
    job.tally.replaced += replaced
    job.tally.apply("on_conflict", replaced)
    if job.file_sql and collapsed:
        _warn_of_files(job)
    job.run('DELETE FROM coded WHERE "row" IN (SELECT "row" FROM repeated WHERE "row" <> kept_row)')


def _warn_of_files(job: Job) -> None:
    """Add a finding on files that give the same label for the same key: different things may have equal names."""
    found = job.frame(f"""
        WITH placed AS (
            SELECT {job.row_sql} AS "row", {job.file_sql} AS file FROM incoming i
            WHERE {job.row_sql} IN (SELECT "row" FROM repeated)
        )
        SELECT least(a.file, b.file) AS file, greatest(a.file, b.file) AS other, count(*) AS labels
        FROM repeated r JOIN coded k ON k."row" = r.kept_row
        JOIN placed a ON a."row" = r."row" JOIN placed b ON b."row" = r.kept_row
        WHERE a.file <> b.file AND (r.label IS NULL OR r.label = k.label)
        GROUP BY ALL ORDER BY labels DESC, file, other
    """)
    if found.empty:
        return
    first, n = found.iloc[0], int(found["labels"].sum())
    others = f"; so do {count(len(found) - 1, 'more pair')} of files" if len(found) > 1 else ""
    sentence = (
        f"{first['file']} and {first['other']} both give {count(first['labels'], 'label')} of the same {_thing(job)}, "
        f"without any contradiction: each label counts once{others}. If the files are about different systems, "
        "queries, judges or runs, name these in the rows or in the file names, and ingest again."
    )
    # The file of each judge often has people's labels, too.
    severity: Severity = "warning" if job.kind == "labels" else "note"
    title = "The same labels in several files"
    job.findings.append(Finding(severity, "same_in_files", title, sentence, n, found.head(SHOWN)))


def _keep_reasons(job: Job) -> None:
    """Give each kept row the alphabetically first reason of all rows with its label, so that no order matters."""
    job.run("""
        UPDATE coded SET reason = least(coded.reason, o.reason) FROM (
            SELECT r.kept_row, min(c.reason) AS reason
            FROM repeated r JOIN coded c USING ("row") JOIN coded k ON k."row" = r.kept_row
            WHERE c.label IS NOT DISTINCT FROM k.label GROUP BY r.kept_row
        ) o WHERE coded."row" = o.kept_row AND o.reason IS NOT NULL
    """)


# Condition on ``met``: rows for which a stored label, or perhaps its reason, changed.
GAVE_WAY = "label IS DISTINCT FROM old OR reason IS NOT NULL"


def resolve_stored(job: Job) -> bool:
    """Resolve rows of ``coded`` with a stored key: equal ones collapse, unknown labels are filled, others conflict.

    Return whether the dataset held labels; if so, the table ``met`` has the rows with a stored key.
    """
    table, key = job.kind, key_of(job.kind)
    if not job.one(f"SELECT count(*) FROM {table} WHERE dataset_id = $dataset")[0]:
        return False
    job.run(f"""
        CREATE TEMP TABLE met AS
        SELECT {key}, c."row", c.label, c.reason, l.label AS old, l.reason AS old_reason, l."row" AS old_row,
               l.ingest_id AS old_ingest
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
    return True


def _decide_differing(job: Job, rows: int) -> None:
    """Count the labels that contradict stored ones, or add them to ``rejected``, by the policy ``on_conflict``."""
    if job.policies.on_conflict == "last":
        job.tally.changed = rows
    if job.policies.on_conflict not in ("reject", "runs"):
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
    """Update stored labels from ``met``. Repeats and replaced labels go to ``superseded``, so that an undo finds them.

    A stored label is replaced if it is unknown, or if it differs and ``on_conflict`` is "last".
    """
    table = job.kind
    key, counts = key_of(table), "met.label IS NOT NULL AND met.old IS NULL"
    if job.policies.on_conflict == "last":
        counts = "met.label IS NOT NULL AND met.label IS DISTINCT FROM met.old"
    for condition, row in (
        ("label IS NULL OR label = old", 'label, reason, $ingest, "row"'),
        (counts, "old, old_reason, old_ingest, old_row"),
    ):
        job.run(
            f'INSERT INTO superseded (kind, dataset_id, {key}, label, reason, ingest_id, "row")'
            f" SELECT $kind, $dataset, {key}, {row} FROM met WHERE {condition}",
            kind=table,
        )
    job.run(f"""
        UPDATE {table} SET label = met.label, reason = met.reason, ingest_id = $ingest, "row" = met."row"
        FROM met WHERE {same_key(table, table, "met")} AND {table}.dataset_id = $dataset AND {counts}
    """)
