"""One file into one dataset, all of it or nothing: staged as text, validated and stored by set-based SQL."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, get_args

import pandas as pd

from ..errors import IngestError
from . import fingerprint as hashing
from .attribute_rows import store_attributes
from .columns import SPECS, Kind, choose_columns
from .dataset import Scale, read_scale, tidy
from .formats import open_reader
from .job import Job, OnConflict
from .label_rows import store_labels
from .settle import settle_rubrics

if TYPE_CHECKING:
    import duckdb

Progress = Callable[[float, str], None]
Source = str | Path | bytes | IO[bytes]

_DEFAULT_NAMES = {"judge": "judge", "annotator": "human"}


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


@contextmanager
def local_file(source: Source, name: str | None) -> Iterator[tuple[Path, str, Path]]:
    """(path, name in messages, scratch folder) of a path, of bytes or of an open binary file."""
    with tempfile.TemporaryDirectory(prefix="crubric-") as folder:
        scratch = Path(folder)
        if isinstance(source, (str, Path)):
            path = Path(source).expanduser()
            if not path.is_file():
                raise IngestError(f"There is no file {str(source)!r}: check the path.")
            plain = scratch / "source"
            plain.symlink_to(path.resolve())  # a path with * or [ would be taken for a pattern
            yield plain, name or path.name, scratch
            return
        label = name or Path(str(getattr(source, "name", "") or "upload")).name
        path = scratch / "source"
        if isinstance(source, bytes):
            path.write_bytes(source)
        else:
            with path.open("wb") as file:
                while block := source.read(1 << 20):
                    file.write(block)
        yield path, label, scratch


def stage_file(
    cursor: duckdb.DuckDBPyConnection, request: IngestRequest, file: tuple[Path, str, Path], report: Progress
) -> Upload:
    """Read the file into ``incoming``, outside any transaction: row ids inside one do not count from 0."""
    path, name, scratch = file
    reader = open_reader(path, name, request.file_format, scratch)
    chosen = choose_columns(request.kind, reader.columns, request.mapping, name)
    report(0.05, f"Reading {name}")
    cursor.execute(
        'CREATE TEMP TABLE rejected ("row" BIGINT, "column" VARCHAR, value VARCHAR, reason VARCHAR)'
    )
    staged = reader.stage(cursor, chosen)
    for column in SPECS[request.kind].keys:
        if column not in chosen:
            default = f" DEFAULT '{_DEFAULT_NAMES[column]}'" if column in _DEFAULT_NAMES else ""
            cursor.execute(f'ALTER TABLE incoming ADD COLUMN "{column}" VARCHAR{default}')
    return Upload(name, staged.row_sql, {c: reader.columns[i] for c, i in chosen.items()})


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
