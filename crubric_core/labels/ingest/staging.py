"""Read files as planned and stage their rows as text in temporary tables, from which ``storing`` stores them."""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ...errors import IngestError
from ...text import as_json
from ...types import Progress
from ..readers.apart import apart, is_heavy
from ..readers.columns.specs import SPECS, Kind, choose_columns
from ..readers.formats import open_reader, recognise
from ..readers.formats.base import STAGING
from ..readers.formats.delimited import load_clean
from ..readers.formats.native import NATIVE
from ..readers.formats.native.base import OPTIONAL, Setting
from ..readers.formats.native.tables import Tables, Written, columns_of
from ..readers.formats.records import Fault
from ..readers.ground_truth import gold_part
from ..readers.native_files import companions, native_rows, records_of
from ..readers.plan import FilePlan, Plan
from ..readers.policies import Policies
from ..readers.rules import with_derived
from ..readers.sources import Piece, Source
from ..readers.tables.described import described_parts
from ..readers.tables.raters import question
from ..readers.wide.column_names import names_within
from ..readers.wide.reasons import is_reason_rule, reasons_of
from ..readers.wide.unpivot import spread_out
from ..readers.words import merged_levels
from .descriptions import distinct
from .storing import IngestRequest, Upload

if TYPE_CHECKING:
    import duckdb

__all__ = ["IngestRequest", "Part", "Source", "Upload", "parts_of"]

ORDER: tuple[str, ...] = (
    "queries",
    "rubrics",
    "systems",
    "labels",
    "gold",
    "reference",
    "anchors",
    "answers",
)
# SQL of the file in the place of a record, for records of several files
FILE_OF_PLACE = "nullif(regexp_extract(i.place, '^(.*), record [0-9]+$', 1), '')"
_DEFAULT_NAMES = {"judge": "judge", "annotator": "human"}


@dataclass(frozen=True)
class Part:
    """One table of an ingest: its request, and the function that stages it in ``incoming``."""

    request: IngestRequest
    stage: Callable[[duckdb.DuckDBPyConnection], Upload]


def parts_of(
    plan: Plan, pieces: Sequence[Piece], dataset: str, policies: Policies, report: Progress
) -> list[Part]:
    """The tables of the planned files, in the order in which they have to be stored.

    Raises IngestError where a file cannot be read as planned, or all files are skipped.
    """
    wanted = [(plan.file(p.name), p) for p in pieces if not plan.file(p.name).skip]
    if plan.problems:
        raise IngestError(plan.problems[0])
    if not wanted:
        raise IngestError("No file is left to read: every one is marked to be skipped.")
    native = [(f, p) for f, p in wanted if f.format in NATIVE]
    tables = [(f, p) for f, p in wanted if f.format not in NATIVE]
    tables += [(gold_part(f), p) for f, p in tables if f.gold and f.kind == "labels"]
    parts = [_table_part(f, p, plan, dataset, policies) for f, p in tables]
    parts += [
        _described_part(f, p, plan, dataset, policies)
        for file, p in tables
        if file.kind == "labels"
        for f in described_parts(file)
    ]
    if native:
        parts += _native_parts(native, plan, (dataset, policies), pieces, report)
    return sorted(parts, key=lambda part: ORDER.index(part.request.kind))


def _table_part(file: FilePlan, piece: Piece, plan: Plan, dataset: str, policies: Policies) -> Part:
    request = IngestRequest(dataset, file.kind, None, file.format, policies, file.words, question(file))
    return Part(request, partial(_stage_table, file=file, piece=piece, plan=plan))


def _described_part(file: FilePlan, piece: Piece, plan: Plan, dataset: str, policies: Policies) -> Part:
    request = IngestRequest(dataset, file.kind, None, file.format, policies, {}, along=True)
    return Part(request, partial(_stage_described, file=file, piece=piece, plan=plan))


def _stage_described(
    cursor: duckdb.DuckDBPyConnection, *, file: FilePlan, piece: Piece, plan: Plan
) -> Upload:
    return distinct(cursor, file.kind, _stage_table(cursor, file=file, piece=piece, plan=plan))


def _stage_table(cursor: duckdb.DuckDBPyConnection, *, file: FilePlan, piece: Piece, plan: Plan) -> Upload:
    opened = open_reader(piece.path, piece.name, file.format, piece.scratch)
    reader, mapping = with_derived(opened, file.mapping, piece)
    spread = {c: v for c, v in mapping.items() if isinstance(v, tuple)}
    what, wide = next(iter(spread.items()), ("", ()))
    names = names_within(what, wide, mapping, piece.name)
    reasons = reasons_of(mapping, reader.columns, piece.name)
    mapping = {c: v for c, v in mapping.items() if (c not in names or c == what) and not is_reason_rule(v)}
    named = {c: v for c, v in mapping.items() if isinstance(v, str) and not _is_fixed(v, reader.columns)}
    fixed = {c: v[1:] for c, v in mapping.items() if c not in named and isinstance(v, str)}
    imagined = [*fixed, *(["label", *names] if spread else []), *(["reason"] if reasons else [])]
    free = ["" if c in wide else c for c in reader.columns]  # wide columns are not recognised by name
    columns = (*free, *(c for c in imagined if c not in free))
    chosen = choose_columns(file.kind, columns, named, piece.name, opened.columns)
    chosen = {c: i for c, i in chosen.items() if i < len(reader.columns) and c not in imagined}
    facts = _facts(file, reader.columns, chosen, fixed)
    chosen |= {c: reader.columns.index(name) for c, name in facts.items() if c.startswith("fact")}
    _new_rejects(cursor)
    staged = (
        spread_out(cursor, reader, chosen, wide, names, reasons) if spread else reader.stage(cursor, chosen)
    )
    used = {c: reader.columns[i] for c, i in chosen.items()} | {c: f"={v}" for c, v in fixed.items()}
    used |= {c: ", ".join(v) for c, v in spread.items()} | ({"label": "the cells"} if spread else {})
    used |= {c: str(file.mapping[c]) for c in names if c not in used and spread}
    used |= {"reason": ", ".join(reasons.values())} if reasons else {}
    _fill(cursor, file.kind, used, fixed)
    _grade_severity(cursor, file.kind, used, plan)
    return Upload(piece.name, staged.row_sql, used, staged.place_sql, facts)


def _facts(
    file: FilePlan, columns: Sequence[str], chosen: Mapping[str, int], fixed: Mapping[str, str]
) -> dict[str, str]:
    """Staged column → name of the fact, for a table of systems; {} for others. Unknown columns keep their own names."""
    if file.kind != "systems":
        return {}
    known = {c: c for c in (*chosen, *fixed) if c != "system"}
    others = [c for i, c in enumerate(columns) if i not in chosen.values() and c.strip()]
    return known | {f"fact{i}": name for i, name in enumerate(others)}


def _is_fixed(value: str, columns: Sequence[str]) -> bool:
    return value.startswith("=") and value not in columns


def _new_rejects(cursor: duckdb.DuckDBPyConnection) -> None:
    cursor.execute(
        'CREATE TEMP TABLE rejected ("row" BIGINT, "column" VARCHAR, value VARCHAR, reason VARCHAR)'
    )


def _fill(
    cursor: duckdb.DuckDBPyConnection, kind: Kind, used: Mapping[str, str], fixed: Mapping[str, str]
) -> None:
    """Add the columns that the file lacks, with a constant, the default name (of a judge) or NULL."""
    there = {row[0] for row in cursor.execute(f"DESCRIBE {STAGING}").fetchall()}
    for column in (*SPECS[kind].keys, *fixed):
        if column in there:
            continue
        there.add(column)
        default = (
            f" DEFAULT '{_DEFAULT_NAMES[column]}'" if column in _DEFAULT_NAMES and column not in used else ""
        )
        cursor.execute(f'ALTER TABLE {STAGING} ADD COLUMN "{column}" VARCHAR{default}')
        if column in fixed:
            cursor.execute(f'UPDATE {STAGING} SET "{column}" = ?', [fixed[column]])


def _grade_severity(cursor: duckdb.DuckDBPyConnection, kind: Kind, used: dict[str, str], plan: Plan) -> None:
    """Set missing severities of rubrics from their points, if the plan has ``severity_points``."""
    steps = sorted(plan.options.severity_points.items(), key=lambda step: -abs(step[1]))
    if (
        kind != "rubrics"
        or not steps
        or "weight" not in used
        or used.get("severity", "") not in ("", "severity")
    ):
        return
    if "severity" not in used:
        cursor.execute(f"ALTER TABLE {STAGING} ADD COLUMN severity VARCHAR")
        used["severity"] = f"from {used['weight']}"
    cases = " ".join(
        f"WHEN try_cast(weight AS DOUBLE) {'<=' if points < 0 else '>='} ? THEN ?" for _, points in steps
    )
    values = [value for severity, points in steps for value in (points, severity)]
    cursor.execute(
        f"UPDATE {STAGING} SET severity = CASE {cases} END WHERE nullif(trim(severity), '') IS NULL", values
    )


def _native_parts(
    files: Sequence[tuple[FilePlan, Piece]],
    plan: Plan,
    whole: tuple[str, Policies],
    pieces: Sequence[Piece],
    report: Progress,
) -> list[Part]:
    """The tables of all native files together, one for each kind. whole: (dataset, policies)."""
    folder = files[0][1].scratch / "native"
    try:
        if is_heavy(piece for _, piece in files):
            report(0.0, f"Reading {files[0][1].name}")
            names = [piece.name for _, piece in files]
            rows, faults = apart(names, _written, files, pieces, folder)
        else:
            rows, faults = _written(files, pieces, folder, report)
    except OSError as error:
        raise IngestError(
            f"The rows of {files[0][1].name} could not be written to temporary files ({error.strerror}): "
            "make room on their disk."
        ) from error
    name = files[0][1].name if len(files) == 1 else f"{files[0][1].name} and {len(files) - 1} more"
    if not rows:
        raise IngestError(_nothing(name, faults))
    home = next((k for k in ("labels", "gold") if k in rows), next(iter(rows)))
    words = merged_levels([({}, file.words) for file, _ in files])
    parts = []
    for found, written in rows.items():
        kind = cast(Kind, found)
        labelled = kind in ("labels", "gold")
        hint = _other_task(files) if kind == "queries" else ""
        request = IngestRequest(whole[0], kind, None, "native", whole[1], words if labelled else {}, hint)
        own = faults if kind == home else []
        stage = partial(
            _stage_native,
            kind=kind,
            written=written,
            faults=own,
            name=name,
            plan=plan,
            several=len(files) > 1,
        )
        parts.append(Part(request, stage))
    return parts


def _other_task(files: Sequence[tuple[FilePlan, Piece]]) -> str:
    """The hint for layouts whose files may share query ids, if their queries have other texts than the stored ones."""
    rules = (NATIVE[file.format].apart for file, _ in files if "query" not in file.mapping)
    rule = next(filter(None, rules), "")
    mapping = as_json({"query": rule})
    ways = f"read all such files at once, or with the mapping {mapping}"
    return f"if they are queries of another task with the same ids, {ways}" if rule else ""


def _written(
    files: Sequence[tuple[FilePlan, Piece]],
    pieces: Sequence[Piece],
    folder: Path,
    report: Progress = lambda share, words: None,
) -> tuple[dict[str, Written], list[tuple[str, Fault]]]:
    """(kind → file of the canonical rows of all files, records that could not be read as (place, Fault))."""
    with Tables(folder, several=len(files) > 1) as tables:
        for done, (file, piece) in enumerate(files):
            report(0.05 * done / len(files), f"Reading {piece.name}")
            records = records_of(piece, recognise(piece.path, piece.name))
            setting = Setting(piece.seen_path, given_of(file), companions(piece, pieces))
            tables.add(piece.name, native_rows(records, NATIVE[file.format], setting), file.kind)
    return {
        kind: replace(one, writer=None, seen=set()) for kind, one in tables.written.items()
    }, tables.faults


def given_of(file: FilePlan) -> dict[str, str]:
    """Canonical column → constant (system, judge, ...) of a native file in its plan."""
    return {c: v.removeprefix("=") for c, v in file.mapping.items() if isinstance(v, str)}


def _nothing(name: str, faults: Sequence[tuple[str, Fault]]) -> str:
    if not faults:
        return f"{name} holds nothing that can be read as planned: choose another kind or format."
    place, fault = faults[0]
    others = f", and {len(faults) - 1:,} more such" if len(faults) > 1 else ""
    return f"No record of {name} can be used ({place} {fault.reason}{others}): correct the file."


def _stage_native(
    cursor: duckdb.DuckDBPyConnection,
    *,
    kind: Kind,
    written: Written,
    faults: Sequence[tuple[str, object]],
    name: str,
    plan: Plan,
    several: bool,
) -> Upload:
    columns = columns_of(kind)
    _new_rejects(cursor)
    load_clean(cursor, written.path, {c: i for i, c in enumerate(columns)}, len(columns))
    if faults:
        told = [(fault.text, f"{place} {fault.reason}") for place, fault in faults]  # type: ignore[attr-defined]
        texts, reasons = zip(*told, strict=True)
        cursor.execute(
            "INSERT INTO rejected SELECT ? + unnest(range(?)), NULL, unnest(?::VARCHAR[]), unnest(?::VARCHAR[])",
            [written.rows + 2, len(told), list(texts), list(reasons)],
        )
    used = {c: c for c in columns[1:-1]}
    for optional in OPTIONAL.get(kind, ()):
        ((there,),) = cursor.execute(f'SELECT count("{optional}") FROM {STAGING}').fetchall()
        if not there:
            used.pop(optional)
            cursor.execute(f'ALTER TABLE {STAGING} DROP COLUMN "{optional}"')
    if kind == "rubrics":
        used.pop("severity")
        cursor.execute(f"ALTER TABLE {STAGING} DROP COLUMN severity")
        _grade_severity(cursor, kind, used, plan)
    return Upload(
        name, 'CAST(i."row" AS BIGINT)', used, "i.place", file_sql=FILE_OF_PLACE if several else None
    )
