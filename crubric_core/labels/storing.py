"""A staged file into its dataset, within one transaction: validated and stored by set-based SQL."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, get_args

import pandas as pd

from ..errors import IngestError
from . import fingerprint as hashing
from .attribute_rows import store_attributes
from .columns import Kind
from .dataset import Scale, read_scale, tidy
from .job import Job, OnConflict
from .label_rows import store_labels
from .settle import settle_rubrics

if TYPE_CHECKING:
    import duckdb

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class IngestReport:
    """What became of one file. ``accepted + rejected`` is its number of rows.

    blank: accepted rows whose label is unknown. collapsed: accepted rows that repeat what was known.
    replaced: values that a later row overwrote (``on_conflict="last"``).
    rejects: row (as a spreadsheet shows it), column, value, reason.
    scale: the dataset's scale afterwards; None while it has no rubric.
    """

    dataset: str
    kind: Kind
    source: str
    accepted: int
    rejected: int
    blank: int
    collapsed: int
    replaced: int
    rejects: pd.DataFrame
    scale: Scale | None
    fingerprint: str
    columns: Mapping[str, str]
    seconds: float


@dataclass(frozen=True)
class IngestRequest:
    """What the user asked for, checked."""

    dataset: str
    kind: Kind
    mapping: Mapping[str, str] | None
    file_format: str
    on_conflict: OnConflict

    def __post_init__(self) -> None:
        if not self.dataset.strip():
            raise IngestError("The dataset has no name: give it one.")
        for name, value, choices in (
            ("kind", self.kind, get_args(Kind)),
            ("on_conflict", self.on_conflict, get_args(OnConflict)),
        ):
            if value not in choices:
                raise IngestError(f"{name} = {value!r} is unknown: use one of {', '.join(choices)}.")


@dataclass(frozen=True)
class Upload:
    """A staged file: its name in messages, the row expression, canonical → the file's columns, when it began."""

    name: str
    row_sql: str
    columns: Mapping[str, str]
    started: float = field(default_factory=time.perf_counter)


def store_file(
    cursor: duckdb.DuckDBPyConnection, request: IngestRequest, upload: Upload, report: Progress
) -> IngestReport:
    """Validate and store within the transaction that the caller opened and will commit, or drop on any error."""
    report(0.4, "Checking every row")
    job = _open_job(cursor, request, upload)
    if job.kind in ("labels", "gold"):
        store_labels(job)
    else:
        store_attributes(job)
    report(0.85, "Settling scales and fingerprint")
    _close_job(job)
    settle_rubrics(job)
    fingerprint = _fingerprint(job)
    report(1.0, "Done")
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
        scale=read_scale(cursor, job.dataset_id),
        fingerprint=fingerprint,
        columns=upload.columns,
        seconds=time.perf_counter() - upload.started,
    )


def _open_job(cursor: duckdb.DuckDBPyConnection, request: IngestRequest, upload: Upload) -> Job:
    """The dataset's id (a new dataset if need be) and the id of this ingest."""
    found = cursor.execute("SELECT dataset_id FROM datasets WHERE name = ?", [request.dataset]).fetchone()
    if found is None:
        found = cursor.execute(
            "INSERT INTO datasets SELECT coalesce(max(dataset_id), 0) + 1, ?, ?, NULL FROM datasets"
            " RETURNING dataset_id",
            [request.dataset, _now()],
        ).fetchone()
    (ingest_id,) = cursor.execute("SELECT coalesce(max(ingest_id), 0) + 1 FROM ingests").fetchall()[0]
    assert found is not None  # noqa: S101 - RETURNING always answers
    job = Job(
        cursor,
        dataset_id=found[0],
        ingest_id=ingest_id,
        kind=request.kind,
        source=upload.name,
        on_conflict=request.on_conflict,
        row_sql=upload.row_sql,
        columns=frozenset(upload.columns),
    )
    (job.tally.total,) = job.one("SELECT (SELECT count(*) FROM incoming) + (SELECT count(*) FROM rejected)")
    if not job.tally.total:
        raise IngestError(f"{upload.name} has a header but no rows: it needs at least one row.")
    return job


def _close_job(job: Job) -> None:
    """Count, keep the rejects; a file with nothing acceptable is refused whole."""
    job.run("UPDATE rejected SET value = left(value, 200), reason = left(reason, 500)")
    (job.tally.rejected,) = job.one("SELECT count(*) FROM rejected")
    if not job.tally.accepted:
        row, reason = job.one('SELECT "row", reason FROM rejected ORDER BY "row" LIMIT 1')
        others = f" and {job.tally.rejected - 1:,} more such" if job.tally.rejected > 1 else ""
        raise IngestError(
            f"No row of {job.source} can be used (row {row}: {reason}{others}): correct the file or the column mapping."
        )
    job.run("INSERT INTO rejects SELECT $ingest, * FROM rejected")
    job.run(
        "INSERT INTO ingests VALUES ($ingest, $dataset, $kind, $source, $now,"
        " $accepted, $rejected, $blank, $collapsed, $replaced)",
        kind=job.kind,
        source=job.source,
        now=_now(),
        accepted=job.tally.accepted,
        rejected=job.tally.rejected,
        blank=job.tally.blank,
        collapsed=job.tally.collapsed,
        replaced=job.tally.replaced,
    )


def _fingerprint(job: Job) -> str:
    sections = {}
    for name in hashing.SECTIONS:
        rows, total = job.cursor.execute(*hashing.section(name, job.dataset_id)).fetchall()[0]
        sections[name] = (int(rows), int(total))
    found = hashing.combine(sections)
    job.run("UPDATE datasets SET fingerprint = $found WHERE dataset_id = $dataset", found=found)
    return found


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
