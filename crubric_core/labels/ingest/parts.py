"""Store several tables in one transaction: stage all of them first, store them in order, and report on all."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from ...types import Progress
from ..readers.columns.specs import SPECS, Kind
from ..readers.formats.base import STAGING
from ..readers.words import merged_levels
from .changes import Changes
from .descriptions import one_row_each
from .findings import Finding
from .label_values import unused_answers, words_of
from .report import IngestReport
from .scales import not_taken, refuse_unknown_of_all
from .staging import FILE_OF_PLACE, Part
from .statements import KEYS
from .storing import IngestRequest, Origin, Upload, store_file
from .vocabulary import words_by_criterion

if TYPE_CHECKING:
    import duckdb

_TABLES = (STAGING, "rejected")


@dataclass(frozen=True)
class Waiting:
    """A staged table of one or several files. number: N in its tables ``incoming_N`` and ``rejected_N``."""

    request: IngestRequest
    upload: Upload
    number: int


def stage_parts(cursor: duckdb.DuckDBPyConnection, parts: Sequence[Part], report: Progress) -> list[Waiting]:
    """Stage every part in temporary tables, outside any transaction: within one, row ids do not count from 0.

    Tables of one kind are merged, so that the result does not depend on how rows are split into files. The tables of
    a single part are ``incoming`` and ``rejected``, those of several have numbers.
    """
    waiting = []
    for number, part in enumerate(parts):
        report(0.05 + 0.35 * number / len(parts), "Reading")
        upload = part.stage(cursor)
        if len(parts) > 1:
            _rename(cursor, "", f"_{number}")
        waiting.append(Waiting(part.request, upload, number))
    waiting = _with_one_vocabulary(cursor, waiting)
    kinds = {w.request.kind: [o for o in waiting if o.request.kind == w.request.kind] for w in waiting}
    merged = [_merged(cursor, alike) if len(alike) > 1 else alike[0] for alike in kinds.values()]
    return [_described_once(cursor, w) if w.request.along else w for w in merged]


def _with_one_vocabulary(cursor: duckdb.DuckDBPyConnection, waiting: list[Waiting]) -> list[Waiting]:
    """Give words the same levels in all tables of labels and gold labels, if all can be understood together.

    Otherwise words have the same levels in the tables of one kind.
    """
    asked = [w for w in waiting if w.request.kind in ("labels", "gold")]
    if len(asked) < 2 or not any(w.request.words for w in asked):
        return waiting
    tables = [
        (w.request.kind, (words_by_criterion(cursor, f"{STAGING}_{w.number}"), w.request.words))
        for w in asked
    ]
    alone = {kind: merged_levels([t for k, t in tables if k == kind]) for kind, _ in tables}
    shared = merged_levels([table for _, table in tables])
    known = all(own.keys() <= shared.keys() for own in alone.values())
    words = {kind: shared if known else own for kind, own in alone.items() if own}
    return [
        replace(w, request=replace(w.request, words=words.get(w.request.kind, w.request.words)))
        for w in waiting
    ]


def _described_once(cursor: duckdb.DuckDBPyConnection, waiting: Waiting) -> Waiting:
    """Reduce descriptions out of the rows of all files to one row for each described thing."""
    _rename(cursor, f"_{waiting.number}", "")
    upload = one_row_each(cursor, waiting.request.kind, waiting.upload)
    _rename(cursor, "", f"_{waiting.number}")
    return replace(waiting, upload=upload)


def _rename(cursor: duckdb.DuckDBPyConnection, old: str, new: str) -> None:
    for table in _TABLES:
        cursor.execute(f"ALTER TABLE {table}{old} RENAME TO {table}{new}")


def _merged(cursor: duckdb.DuckDBPyConnection, alike: Sequence[Waiting]) -> Waiting:
    """Merge several staged tables of a kind: rows are numbered continuously, and ``origins`` has the rows of each file.

    The merged ``incoming_N`` has the columns ``row`` and ``place``; the rows of ``rejected`` are merged likewise.
    """
    first = alike[0]
    facts = {
        name: f"fact{i}"
        for i, name in enumerate(dict.fromkeys(n for w in alike for n in w.upload.facts.values()))
    }
    cursor.execute(f"ALTER TABLE {STAGING}_{first.number} RENAME TO first_rows")
    cursor.execute("ALTER TABLE rejected_" + f"{first.number} RENAME TO first_rejected")
    offset = 0
    origins: list[Origin] = []
    for position, part in enumerate(alike):
        staged, rejected = (
            ("first_rows", "first_rejected")
            if not position
            else (f"{STAGING}_{part.number}", f"rejected_{part.number}")
        )
        columns = _merged_columns(cursor, part, staged, facts)
        place = part.upload.place_sql or "NULL"
        select = f"""
            SELECT {columns}, {part.upload.row_sql} + {offset} AS "row", CAST({place} AS VARCHAR) AS place
            FROM {staged} i
        """
        target = f"{STAGING}_{first.number}"
        cursor.execute(
            f"INSERT INTO {target} {select}" if position else f"CREATE TEMP TABLE {target} AS {select}"
        )
        into = f"rejected_{first.number}"
        moved = f'SELECT * REPLACE ("row" + {offset} AS "row") FROM {rejected}'
        cursor.execute(f"INSERT INTO {into} {moved}" if position else f"CREATE TEMP TABLE {into} AS {moved}")
        ((last,),) = cursor.execute(
            f'SELECT coalesce(max("row"), {offset})'
            f' FROM (SELECT "row" FROM {target} UNION ALL SELECT "row" FROM {into}) WHERE "row" > {offset}'
        ).fetchall()
        origins.append(Origin(part.upload.name, offset, int(last)))
        offset = int(last)
        for table in (staged, rejected):
            cursor.execute(f"DROP TABLE {table}")
    return replace(first, upload=_merged_upload(alike, facts, origins))


def _merged_columns(
    cursor: duckdb.DuckDBPyConnection, part: Waiting, staged: str, facts: Mapping[str, str]
) -> str:
    """SELECT list, over ``i``, that gives one staged table the columns of the merged one. facts: name → column."""
    kind = part.request.kind
    there = {row[0] for row in cursor.execute(f"DESCRIBE {staged}").fetchall()}
    own = {c: c for c in SPECS[kind].columns if c in there} if not facts else {"system": "system"}
    own |= {facts[name]: column for column, name in part.upload.facts.items()}
    wanted = [*(c for c in SPECS[kind].columns if not facts or c == "system"), *facts.values()]
    return ", ".join(
        f'CAST(i."{own[c]}" AS VARCHAR) AS "{c}"' if c in own else f'NULL::VARCHAR AS "{c}"' for c in wanted
    )


def _merged_upload(alike: Sequence[Waiting], facts: Mapping[str, str], origins: Sequence[Origin]) -> Upload:
    first = alike[0].upload
    columns: dict[str, str] = {}
    for part in alike:
        for canonical, column in part.upload.columns.items():
            if columns.setdefault(canonical, column) != column:
                columns[canonical] = "(differs by file)"
    return Upload(
        f"{first.name} and {len(alike) - 1} more",
        'i."row"',
        columns,
        "i.place",
        {staged: name for name, staged in facts.items()},
        tuple(origins),
        f"coalesce({FILE_OF_PLACE}, {_ORIGIN})",
    )


_ORIGIN = '(SELECT o.name FROM origins o WHERE i."row" > o.before AND i."row" <= o.last)'


def store_parts(
    cursor: duckdb.DuckDBPyConnection,
    waiting: Sequence[Waiting],
    report: Progress,
    *,
    numbered: bool,
    other_criteria: bool,
) -> list[IngestReport]:
    """Validate and store the staged tables within the transaction that the caller opened: one report for each.

    numbered: whether there were several parts. other_criteria: whether the policies may name criteria that none of
    the tables has.
    """
    asked = waiting[0].request
    if not numbered:
        only = store_file(cursor, asked, waiting[0].upload, report, alone=not other_criteria)
        return [only if other_criteria else _with(only, not_taken(cursor, asked.dataset, asked.policies))]
    kept = _temporary(cursor) | {"rubric_sums"}  # the checks read the sums of the last fingerprint
    reports, labels = [], set[str]()
    for done, part in enumerate(waiting):
        _rename(cursor, f"_{part.number}", "")
        share = _share_of(report, done, len(waiting))
        reports.append(store_file(cursor, part.request, part.upload, share, alone=False))
        if reports[-1].kind in KEYS:
            labels |= words_of(cursor)
        for table in _temporary(cursor) - kept:
            cursor.execute(f'DROP TABLE "{table}"')
    if other_criteria:
        return reports
    refuse_unknown_of_all(cursor, asked.dataset, asked.policies)
    told = (
        *not_taken(cursor, asked.dataset, asked.policies),
        *unused_answers(asked.policies, labels, "these files"),
    )
    return [_with(reports[0], told), *reports[1:]]


def _with(report: IngestReport, told: tuple[Finding, ...]) -> IngestReport:
    return replace(report, checks=(*report.checks, *told))


def _share_of(report: Progress, done: int, parts: int) -> Progress:
    return lambda share, words: report(0.4 + 0.5 * (done + share) / parts, words)


def _temporary(cursor: duckdb.DuckDBPyConnection) -> set[str]:
    found = cursor.execute("SELECT table_name FROM duckdb_tables() WHERE temporary").fetchall()
    return {row[0] for row in found}


def together(reports: Sequence[IngestReport], kind: Kind, notes: Sequence[str]) -> IngestReport:
    """One report for all tables: its figures are sums over the tables of ``kind``, and ``parts`` has all reports.

    If there is no table of this kind, the figures are those of the first report's kind.
    """
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
        parts=tuple(reports),
        notes=tuple(notes),
    )


def notes_stored(cursor: duckdb.DuckDBPyConnection, reports: Sequence[IngestReport]) -> tuple[str, ...]:
    """Sentences on words read as labels, on rubrics with negative polarity, and on rejected rows of several tables."""
    notes = []
    words = {word: level for report in reports for word, level in report.words.items()}
    if words:
        meant = ", ".join(f"{w} = {'unknown' if words[w] is None else words[w]}" for w in sorted(words)[:50])
        notes.append(f"Words were read as labels: {meant}.")
    for report in reports:
        if report.kind == "rubrics":
            (bad,) = cursor.execute(
                "SELECT count(*) FROM rubrics r JOIN datasets d USING (dataset_id)"
                " LEFT JOIN label_extremes e ON e.dataset_id = r.dataset_id AND e.rubric_id = r.rubric_id"
                " WHERE d.name = ? AND coalesce(polarity, CASE WHEN e.lo < 0 AND e.hi <= 0 THEN 1 END, weight) < 0",
                [report.dataset],
            ).fetchall()[0]
            if bad:
                notes.append(
                    f"{bad:,} {'rubric has' if bad == 1 else 'rubrics have'} negative polarity (negative points): "
                    "their labels are stored as given and count reversed."
                )
    left = (
        [f"{r.rejected:,} of {r.source} ({r.kind})" for r in reports if r.rejected]
        if len(reports) > 1
        else []
    )
    return (*notes, *([f"Rows rejected: {'; '.join(left)}."] if left else []))
