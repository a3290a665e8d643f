"""Several tables in one transaction: staged beforehand, each stored in its turn, one report of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from ...types import Progress
from ..readers.columns import Kind
from ..readers.formats.base import STAGING
from ..readers.plan import Words
from .changes import Changes
from .report import IngestReport
from .staging import Part, with_answers, words_staged
from .storing import IngestRequest, Upload, store_file

if TYPE_CHECKING:
    import duckdb

_TABLES = (STAGING, "rejected")


@dataclass(frozen=True)
class Waiting:
    """A staged table: what was asked for it, the number under which its rows wait, what its words stand for."""

    request: IngestRequest
    upload: Upload
    number: int
    words: Words


def stage_parts(cursor: duckdb.DuckDBPyConnection, parts: Sequence[Part], report: Progress) -> list[Waiting]:
    """Read every table into temporary ones, outside any transaction: row ids inside one do not count from 0."""
    waiting = []
    for number, part in enumerate(parts):
        report(0.05 + 0.35 * number / len(parts), "Reading")
        upload, words = part.stage(cursor), words_staged(cursor, part)
        request = replace(part.request, policies=with_answers(part.request.policies, words))
        for table in _TABLES if len(parts) > 1 else ():
            cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_{number}")
        waiting.append(Waiting(request, upload, number, words))
    return waiting


def store_parts(
    cursor: duckdb.DuckDBPyConnection, waiting: Sequence[Waiting], report: Progress
) -> list[IngestReport]:
    """Validate and store them within the transaction that the caller opened."""
    if len(waiting) == 1:
        return [store_file(cursor, waiting[0].request, waiting[0].upload, report)]
    kept = _temporary(cursor)
    reports = []
    for done, part in enumerate(waiting):
        for table in _TABLES:
            cursor.execute(f"ALTER TABLE {table}_{part.number} RENAME TO {table}")
        reports.append(store_file(cursor, part.request, part.upload, _share_of(report, done, len(waiting))))
        for table in _temporary(cursor) - kept:
            cursor.execute(f'DROP TABLE "{table}"')
    return reports


def _share_of(report: Progress, done: int, parts: int) -> Progress:
    return lambda share, words: report(0.4 + 0.5 * (done + share) / parts, words)


def _temporary(cursor: duckdb.DuckDBPyConnection) -> set[str]:
    found = cursor.execute("SELECT table_name FROM duckdb_tables() WHERE temporary").fetchall()
    return {row[0] for row in found}


def together(reports: Sequence[IngestReport], kind: Kind, notes: Sequence[str]) -> IngestReport:
    """One report: its figures are those of the tables of the kind asked for, its parts all tables."""
    if len(reports) == 1:
        return replace(reports[0], notes=tuple(notes))
    same = [r for r in reports if r.kind == kind] or [r for r in reports if r.kind == reports[0].kind]
    first, last = same[0], reports[-1]
    total = {
        f: sum(getattr(r, f) for r in same)
        for f in ("accepted", "rejected", "blank", "collapsed", "replaced")
    }
    return replace(
        first,
        **total,
        source=first.source if len(same) == 1 else f"{first.source} and {len(same) - 1} more",
        rejects=first.rejects if len(same) == 1 else pd.concat([r.rejects for r in same], ignore_index=True),
        fingerprint=last.fingerprint,
        changes=Changes.total(
            [r.changes for r in same], [r.changes for r in reports if r.kind != first.kind]
        ),
        applied=dict(sum((Counter(r.applied) for r in reports), Counter())),
        seconds=sum(r.seconds for r in reports),
        parts=tuple(reports),
        notes=tuple(notes),
    )


def notes_stored(
    cursor: duckdb.DuckDBPyConnection, waiting: Sequence[Waiting], reports: Sequence[IngestReport]
) -> tuple[str, ...]:
    """What became of words, of rubrics that are bad to meet, and of tables that the figures do not count."""
    notes = []
    words = {word: level for part in waiting for word, level in part.words.items()}
    if words:
        meant = ", ".join(f"{w} = {'unknown' if words[w] is None else words[w]}" for w in sorted(words)[:50])
        notes.append(f"Words were read as labels: {meant}.")
    for report in reports:
        if report.kind == "rubrics":
            (bad,) = cursor.execute(
                "SELECT count(*) FROM rubrics JOIN datasets d USING (dataset_id)"
                " WHERE d.name = ? AND coalesce(polarity, weight) < 0",
                [report.dataset],
            ).fetchall()[0]
            if bad:
                notes.append(
                    f"{bad:,} {'rubric is' if bad == 1 else 'rubrics are'} bad to meet (negative points): "
                    "their labels are stored as given and count the other way round."
                )
    left = (
        [f"{r.rejected:,} of {r.source} ({r.kind})" for r in reports if r.rejected]
        if len(reports) > 1
        else []
    )
    return (*notes, *([f"Rows left out: {'; '.join(left)}."] if left else []))
