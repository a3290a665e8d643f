"""Validate a staged file and store it in its dataset by set-based SQL, within one transaction."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

from ...errors import IngestError
from ...text import listed
from ...types import Progress
from ..readers import values
from ..readers.columns.specs import Kind
from ..readers.plan import Columns, Words
from ..readers.policies import Policies, folded
from . import fingerprint as hashing
from .attribute_rows import store_attributes
from .changed_words import changed_words
from .changes import Changes
from .choices import leave_out_choices
from .facts import FACTS, store_facts
from .job import Job
from .label_rows import store_labels
from .label_values import unused_answers, words_of
from .list_places import warn_of_places
from .names import leave_out_sums
from .new_dataset import NOW, dataset_name, new_dataset
from .reconcile import reconcile_rubrics
from .report import IngestReport, tidy
from .scales import refuse_unknown
from .statements import KEYS
from .vocabulary import with_vocabulary

if TYPE_CHECKING:
    import duckdb

CHOICE = ", or choose which to keep (on_conflict = last or first)"  # for users who can choose; others do not see it
_MOST_WORDS = 50  # words without a level that are listed at once


@dataclass(frozen=True)
class IngestRequest:
    """What the user asked for; IngestError if the dataset has no name or the kind is unknown."""

    dataset: str
    kind: Kind
    mapping: Columns | None
    file_format: str
    policies: Policies
    words: Words = field(default_factory=dict)  # planned levels of words in place of labels
    apart: str = ""  # hint or question about rows that differ only in something that is not read
    along: bool = False  # descriptions out of rows of labels: a file is not refused because of them

    def __post_init__(self) -> None:
        if not isinstance(self.dataset, str) or not self.dataset.strip():
            raise IngestError("The dataset has no name: give it one.")
        object.__setattr__(self, "dataset", dataset_name(self.dataset))
        if self.kind not in get_args(Kind):
            raise IngestError(f"kind = {self.kind!r} is unknown: use one of {', '.join(get_args(Kind))}.")


@dataclass(frozen=True)
class Origin:
    """One of several files that became one table: its rows are those from ``before`` + 1 to ``last``."""

    name: str
    before: int
    last: int


@dataclass(frozen=True)
class Upload:
    """A staged file.

    name: its name in messages. row_sql: SQL over ``incoming i`` for a row's number.
    columns: canonical column → what it was read from: a column, several, or a constant ("=value").
    place_sql: SQL over ``incoming i`` for a row's place in the source; None if the row number shows it.
    facts: staged column → name of the fact about systems that it holds.
    origins: the rows of each file, if several became one table; else ().
    file_sql: SQL over ``incoming i`` for the file of a row; None if all rows come from one.
    """

    name: str
    row_sql: str
    columns: Mapping[str, str]
    place_sql: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    origins: tuple[Origin, ...] = ()
    file_sql: str | None = None


def store_file(
    cursor: duckdb.DuckDBPyConnection,
    request: IngestRequest,
    upload: Upload,
    report: Progress,
    *,
    alone: bool = True,
) -> IngestReport:
    """Validate and store ``incoming`` in the caller's transaction, which the caller commits, or drops on any error.

    alone: whether it is the only table of its ingest. Then policies for criteria that neither it nor the dataset has
    raise UnknownCriterionError, and answers to words that it lacks are reported. Raises IngestError for other faults.
    """
    report(0.4, "Checking every row")
    job = _open_job(cursor, request, upload, report)
    if request.policies.apostrophes == "strip":
        _strip_apostrophes(job)
    words: Words = {}
    if job.kind in KEYS:
        leave_out_sums(job)
        warn_of_places(job)
        leave_out_choices(job, request.words)
        job, words = with_vocabulary(job, request.words)
        store_labels(job)
        job.findings.extend(changed_words(job, words))
    elif job.kind in FACTS:
        store_facts(job)
    else:
        store_attributes(job)
    report(0.85, "Settling scales")
    optional = request.along or (request.file_format == "native" and request.kind == "answers")
    _refuse_useless(job, needed=not optional)
    if alone and job.kind in KEYS:
        refuse_unknown(job, request.policies)
        job.findings.extend(unused_answers(request.policies, words_of(cursor), job.source))
    reconcile_rubrics(job)
    report(0.9, "Computing the fingerprint")
    changes, fingerprint = job.changes(), hashing.renew(cursor, job.dataset_id)
    _list_ingest(job, changes, fingerprint)
    return IngestReport(
        dataset=request.dataset,
        kind=request.kind,
        source=upload.name,
        accepted=job.tally.accepted,
        rejected=job.tally.rejected,
        blank=job.tally.blank,
        collapsed=job.tally.collapsed,
        replaced=job.tally.replaced,
        rejects=tidy(cursor.execute(f'SELECT {_rejects(job)} ORDER BY file, "row"').df()),
        fingerprint=fingerprint,
        columns=upload.columns,
        changes=changes,
        policies=job.policies,
        words=words,
        applied=dict(job.tally.applied),
        checks=tuple(job.findings),
    )


def _open_job(
    cursor: duckdb.DuckDBPyConnection, request: IngestRequest, upload: Upload, report: Progress
) -> Job:
    """The job of a new ingest, for a new dataset if need be; IngestError if the file has no rows.

    Creates ``origins`` if the rows come from several files.
    """
    found = cursor.execute("SELECT dataset_id FROM datasets WHERE name = ?", [request.dataset]).fetchone()
    if found is None:
        found = (new_dataset(cursor, request.dataset),)
    (ingest_id,) = cursor.execute("SELECT coalesce(max(ingest_id), 0) + 1 FROM ingests").fetchall()[0]
    job = Job(
        cursor,
        dataset_id=found[0],
        ingest_id=ingest_id,
        kind=request.kind,
        source=upload.name,
        policies=request.policies,
        apart=request.apart,
        row_sql=upload.row_sql,
        place_sql=upload.place_sql,
        columns=frozenset(upload.columns),
        facts=upload.facts,
        headers=upload.columns,
        several=bool(upload.origins),
        file_sql=upload.file_sql,
        report=report,
    )
    if upload.origins:
        columns = [list(c) for c in zip(*((o.name, o.before, o.last) for o in upload.origins), strict=True)]
        job.run(
            """
            CREATE TEMP TABLE origins AS SELECT unnest($names::VARCHAR[]) AS name,
                   unnest($before::BIGINT[]) AS before, unnest($last::BIGINT[]) AS last
            """,
            **dict(zip(("names", "before", "last"), columns, strict=True)),
        )
    job.names.update(job.count_names())
    (job.tally.total,) = job.one("SELECT (SELECT count(*) FROM incoming) + (SELECT count(*) FROM rejected)")
    if not job.tally.total and not request.along:
        raise IngestError(f"{upload.name} has a header but no rows: it needs at least one row.")
    return job


def _strip_apostrophes(job: Job) -> None:
    """Remove the apostrophe that guards a cell of ``incoming`` from being a formula: before =, +, -, @, tab or CR."""
    for (column,) in job.all("SELECT column_name FROM duckdb_columns() WHERE table_name = 'incoming'"):
        guarded = f"regexp_matches(\"{column}\", '{values.GUARDED}')"
        (rows,) = job.one(f"SELECT count(*) FROM incoming WHERE {guarded}")
        if rows:
            job.run(f'UPDATE incoming SET "{column}" = substr("{column}", 2) WHERE {guarded}')
        job.tally.apply("apostrophes", rows)


def _refuse_useless(job: Job, *, needed: bool) -> None:
    """Count the rejected rows and add their places; IngestError if no row is usable and the file is ``needed``."""
    counted = 'DISTINCT "row"' if job.kind in FACTS else "*"  # a row may hold several facts
    (job.tally.rejected,) = job.one(f"SELECT count({counted}) FROM rejected")
    if job.tally.rejected:
        _append_places(job)
    if job.several and needed:
        _refuse_useless_files(job)
    nothing_known = bool(job.tally.rejected) and job.tally.accepted == job.tally.blank
    if needed and (nothing_known or not job.tally.accepted):
        row, reason = job.one('SELECT "row", reason FROM rejected ORDER BY "row" LIMIT 1')
        raise _useless(job, job.source, row, reason, job.tally.rejected)


def _append_places(job: Job) -> None:
    """Shorten values and reasons in ``rejected``, and append each row's place in the source to its reason."""
    job.run("UPDATE rejected SET value = left(value, 200), reason = left(reason, 500)")
    if job.place_sql:
        job.run(f"""
            UPDATE rejected SET reason = reason || ' (' || p.place || ')'
            FROM (SELECT {job.row_sql} AS "row", {job.place_sql} AS place FROM incoming i) p
            WHERE rejected."row" = p."row" AND p.place IS NOT NULL
        """)


def _refuse_useless_files(job: Job) -> None:
    """Raise IngestError if all rows of one of several files are rejected: it was misunderstood."""
    found = job.all(f"""
        WITH given AS (SELECT {job.row_sql} AS "row" FROM incoming i UNION SELECT "row" FROM rejected),
        lost AS (SELECT "row", reason FROM rejected)
        SELECT o.name, arg_min(l."row" - o.before, l."row"), arg_min(l.reason, l."row"), count(*) FROM origins o
        JOIN given g ON g."row" > o.before AND g."row" <= o.last LEFT JOIN lost l ON l."row" = g."row"
        GROUP BY o.name, o.before HAVING count(*) = count(l."row") ORDER BY o.before LIMIT 1
    """)
    for name, row, reason, rows in found:
        raise _useless(job, name, row, reason, rows)


def _useless(job: Job, source: str, row: int, reason: str, rejected: int) -> IngestError:
    others = f" and {rejected - 1:,} more such" if rejected > 1 else ""
    way = "".join(f" {finding.sentence}" for finding in job.findings if finding.code == "unnamed_raters")
    remedy = "correct the file or the column mapping"
    if "conflicts with row" in reason and not way:
        remedy = f"correct the file{CHOICE}"
    words = _without_level(job)
    if len(words) > 1:
        way += f" Words without a level: {listed([repr(values.shortened(word)) for word in words])}."
    error = IngestError(f"No row of {source} can be used (row {row}: {reason}{others}): {remedy}.{way}")
    error.words = words
    return error


def _without_level(job: Job) -> tuple[str, ...]:
    """Words to ask the user about: those without a level, and with them words such as none and invalid; else ().

    A word for an unknown label may be a level beside such words: none, minor, major.
    """
    asked = "SELECT value FROM rejected WHERE \"column\" = 'label' AND reason LIKE '%--answer%' AND value IS NOT NULL"
    if not job.all(f"{asked} LIMIT 1"):
        return ()
    if job.kind in KEYS:
        asked += f"""
            UNION SELECT raw FROM label_values WHERE unknown AND no_label IS NOT TRUE
              AND (NOT {values.is_unknown("raw")} OR lower(trim(raw)) = 'none')
        """
    found = job.all(f"SELECT DISTINCT value FROM ({asked}) ORDER BY value LIMIT {_MOST_WORDS}")
    return tuple(word for (word,) in found if folded(word) not in job.given)


def _rejects(job: Job) -> str:
    """SQL after SELECT for the rejected rows: row (of its file), column, value, reason, file (NULL if only one)."""
    if not job.several:
        return '"row", "column", value, reason, NULL::VARCHAR AS file FROM rejected'
    return """r."row" - o.before AS "row", "column", value, reason, o.name AS file
        FROM rejected r JOIN origins o ON r."row" > o.before AND r."row" <= o.last"""


def _list_ingest(job: Job, changes: Changes, fingerprint: str) -> None:
    if job.tally.rejected:
        job.run(f"INSERT INTO rejects SELECT $ingest, {_rejects(job)}")
    job.run(
        f"INSERT INTO ingests VALUES ($ingest, $dataset, $kind, $source, {NOW}, $accepted, $rejected, $blank,"
        " $collapsed, $replaced, $changes, $policies, $fingerprint)",
        kind=job.kind,
        source=job.source,
        accepted=job.tally.accepted,
        rejected=job.tally.rejected,
        blank=job.tally.blank,
        collapsed=job.tally.collapsed,
        replaced=job.tally.replaced,
        changes=changes.to_json(),
        policies=job.policies.summary(job.tally.applied),
        fingerprint=fingerprint,
    )
