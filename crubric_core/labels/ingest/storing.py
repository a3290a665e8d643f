"""A staged file into its dataset, within one transaction: validated and stored by set-based SQL."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

from ...errors import IngestError
from ...types import Progress
from ..readers import values
from ..readers.columns import Kind
from ..readers.plan import Columns
from ..readers.policies import Policies
from . import fingerprint as hashing
from .attribute_rows import store_attributes
from .changes import Changes
from .job import Job
from .label_rows import store_labels
from .report import IngestReport, tidy
from .settle import settle_rubrics
from .statements import KEYS

if TYPE_CHECKING:
    import duckdb

_NOW = "make_timestamp(epoch_us(now()))"  # UTC; one for the whole transaction: tables that came together go together


@dataclass(frozen=True)
class IngestRequest:
    """What the user asked for, checked."""

    dataset: str
    kind: Kind
    mapping: Columns | None
    file_format: str
    policies: Policies

    def __post_init__(self) -> None:
        if not self.dataset.strip():
            raise IngestError("The dataset has no name: give it one.")
        if self.kind not in get_args(Kind):
            raise IngestError(f"kind = {self.kind!r} is unknown: use one of {', '.join(get_args(Kind))}.")


@dataclass(frozen=True)
class Upload:
    """A staged file: its name in messages, the row expression, canonical → the file's columns, when it began.

    place_sql: expression over ``incoming i`` that tells where in the source a row stands; None where its number does.
    """

    name: str
    row_sql: str
    columns: Mapping[str, str]
    place_sql: str | None = None
    started: float = field(default_factory=time.perf_counter)


def store_file(
    cursor: duckdb.DuckDBPyConnection, request: IngestRequest, upload: Upload, report: Progress
) -> IngestReport:
    """Validate and store within the transaction that the caller opened and will commit, or drop on any error."""
    report(0.4, "Checking every row")
    job = _open_job(cursor, request, upload, report)
    if request.policies.apostrophes == "strip":
        _strip_apostrophes(job)
    if job.kind in KEYS:
        store_labels(job)
    else:
        store_attributes(job)
    report(0.85, "Settling scales")
    _refuse_useless(job, upload.place_sql)
    settle_rubrics(job)
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
        rejects=tidy(cursor.execute('SELECT * FROM rejected ORDER BY "row"').df()),
        fingerprint=fingerprint,
        columns=upload.columns,
        changes=changes,
        policies=request.policies,
        applied=dict(job.tally.applied),
        seconds=time.perf_counter() - upload.started,
    )


def _open_job(
    cursor: duckdb.DuckDBPyConnection, request: IngestRequest, upload: Upload, report: Progress
) -> Job:
    """The dataset's id (a new dataset if need be) and the id of this ingest."""
    found = cursor.execute("SELECT dataset_id FROM datasets WHERE name = ?", [request.dataset]).fetchone()
    if found is None:
        found = cursor.execute(
            f"INSERT INTO datasets SELECT coalesce(max(dataset_id), 0) + 1, ?, {_NOW}, NULL FROM datasets"
            " RETURNING dataset_id",
            [request.dataset],
        ).fetchone()
    (ingest_id,) = cursor.execute("SELECT coalesce(max(ingest_id), 0) + 1 FROM ingests").fetchall()[0]
    assert found is not None  # noqa: S101 - RETURNING always answers
    job = Job(
        cursor,
        dataset_id=found[0],
        ingest_id=ingest_id,
        kind=request.kind,
        source=upload.name,
        policies=request.policies,
        row_sql=upload.row_sql,
        columns=frozenset(upload.columns),
        report=report,
    )
    job.names.update(job.count_names())
    (job.tally.total,) = job.one("SELECT (SELECT count(*) FROM incoming) + (SELECT count(*) FROM rejected)")
    if not job.tally.total:
        raise IngestError(f"{upload.name} has a header but no rows: it needs at least one row.")
    return job


def _strip_apostrophes(job: Job) -> None:
    """Undo what keeps spreadsheets from taking text for a formula: one apostrophe before =, +, -, @, tab or CR."""
    for (column,) in job.all("SELECT column_name FROM duckdb_columns() WHERE table_name = 'incoming'"):
        guarded = f"regexp_matches(\"{column}\", '{values.GUARDED}')"
        (rows,) = job.one(f"SELECT count(*) FROM incoming WHERE {guarded}")
        if rows:
            job.run(f'UPDATE incoming SET "{column}" = substr("{column}", 2) WHERE {guarded}')
        job.tally.apply("apostrophes", rows)


def _refuse_useless(job: Job, place_sql: str | None) -> None:
    """Count the rejects and say where they stand; a file with nothing acceptable is refused whole."""
    job.run("UPDATE rejected SET value = left(value, 200), reason = left(reason, 500)")
    if place_sql:
        job.run(f"""
            UPDATE rejected SET reason = reason || ' (' || p.place || ')'
            FROM (SELECT {job.row_sql} AS "row", {place_sql} AS place FROM incoming i) p
            WHERE rejected."row" = p."row" AND p.place IS NOT NULL
        """)
    (job.tally.rejected,) = job.one("SELECT count(*) FROM rejected")
    if not job.tally.accepted:
        row, reason = job.one('SELECT "row", reason FROM rejected ORDER BY "row" LIMIT 1')
        others = f" and {job.tally.rejected - 1:,} more such" if job.tally.rejected > 1 else ""
        raise IngestError(
            f"No row of {job.source} can be used (row {row}: {reason}{others}): correct the file or the column mapping."
        )


def _list_ingest(job: Job, changes: Changes, fingerprint: str) -> None:
    job.run("INSERT INTO rejects SELECT $ingest, * FROM rejected")
    job.run(
        f"INSERT INTO ingests VALUES ($ingest, $dataset, $kind, $source, {_NOW}, $accepted, $rejected, $blank,"
        " $collapsed, $replaced, $changes, $policies, $fingerprint)",
        kind=job.kind,
        source=job.source,
        accepted=job.tally.accepted,
        rejected=job.tally.rejected,
        blank=job.tally.blank,
        collapsed=job.tally.collapsed,
        replaced=job.tally.replaced,
        changes=changes.to_json(),
        policies=job.policies.told(job.tally.applied),
        fingerprint=fingerprint,
    )
