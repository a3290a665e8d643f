"""Make a plan of how the files of an ingest are read, which can be shown, changed and carried out."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from ...errors import IngestError
from ...types import Progress
from .across_files.naming import name_files
from .across_files.shared_keys import with_shared_keys
from .across_files.shared_queries import with_shared_queries
from .across_files.summaries import without_summaries
from .across_files.unnamed_systems import hold_labels, with_question
from .across_files.whose import ask_whose
from .apart import apart, is_heavy
from .columns.specs import Kind, plain_name
from .columns.synonyms import ITEMS
from .describing import Found, describe, look_into
from .file_names import fields_of, read_pattern
from .formats.native import NATIVE
from .formats.native.base import COLUMNS
from .guess import fits_name
from .plan import Columns, FilePlan, Options, Overrides, Plan
from .proposals import with_proposal
from .sources import Piece, Source, Sources, gathered
from .tables.described import with_described, with_descriptions, without_doubles
from .tables.whose_answers import asked_whose

__all__ = ["Preview", "Source", "Sources", "plan_ingest", "plan_pieces", "preview_file"]

SHOWN = 20
_SETTINGS = re.compile(
    r"(?i)(^|[/_.\-])(config|settings|metadata|args|params|hparams|manifest|package|environment)\.(json|jsonl|csv)$"
)
_DATA = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".eval")


@dataclass(frozen=True)
class Preview:
    """The columns and first rows of one file, and the plan of how it would be read.

    For a native layout, the rows are the canonical rows that it gives: labels if it has any.
    """

    columns: tuple[str, ...]
    rows: pd.DataFrame
    file: FilePlan


def plan_ingest(
    sources: Sources,
    *,
    kind: Kind | None = None,
    mapping: Columns | None = None,
    format: str = "auto",  # noqa: A002 - as in Workspace.ingest
    pattern: str | None = None,
    options: Options | None = None,
    like: Plan | None = None,
    name: str | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> Plan:
    """Look into files, folders, archives and workbooks, and say how they would be read; nothing is stored.

    Parameters
    ----------
    sources : path, bytes, binary file, data frame, or a list of them
        Files, folders and archives; or (name, one of them).
    kind : str, optional
        The kind of rows in the tables, as in ``Workspace.ingest``. None: guessed for each table.
    mapping : mapping of str to str, optional
        Canonical column → the file's column, "=value" for the whole file, or a list of columns. Holds for every file.
    format : str
        The format of every file. "auto": recognised for each file.
    pattern : str, optional
        Position of system and judge in the files' paths, such as ``{system}__{judge}.jsonl``. None: guessed.
    options : Options, optional
        Choices that hold for all files.
    like : Plan, optional
        An earlier plan. Files of the same name keep the choices that it holds.
    name : str, optional
        The name of a single source in messages.
    strict : bool
        Whether columns are recognised by their names only, never by their contents alone.
    progress : callable, optional
        Called with the share that is done, from 0 to 1, and a text that describes the current step.

    Returns
    -------
    Plan
        ``print`` shows how each file is read. ``problems`` has a sentence for each file that cannot be read.
        ``changed`` changes the plan, and ``Workspace.ingest_plan`` carries it out.

    Raises
    ------
    IngestError
        A source cannot be opened.

    """
    overrides = Overrides(kind, mapping or {}, format, strict)
    with gathered(sources, name) as pieces:
        return plan_pieces(pieces, overrides, pattern, options, like, progress)


def plan_pieces(
    pieces: Sequence[Piece],
    overrides: Overrides,
    pattern: str | None = None,
    options: Options | None = None,
    like: Plan | None = None,
    progress: Progress | None = None,
) -> Plan:
    """The plan of local files; large ones are inspected in a separate process. Parameters as in ``plan_ingest``."""
    if not is_heavy(pieces):
        return _plan_here(pieces, overrides, pattern, options, like, progress)
    if progress:
        progress(0.0, f"Looking into {pieces[0].name}" + (" and others" if len(pieces) > 1 else ""))
    return apart([p.name for p in pieces], _plan_here, pieces, overrides, pattern, options, like)


def _plan_here(
    pieces: Sequence[Piece],
    overrides: Overrides,
    pattern: str | None = None,
    options: Options | None = None,
    like: Plan | None = None,
    progress: Progress | None = None,
) -> Plan:
    decided = {f.name: f for f in like.files} if like else {}
    done_with = {name for name, file in decided.items() if _is_whole(file)} if pattern is None else set()
    pattern = pattern or (like.pattern if like else None)
    if pattern is not None:
        read_pattern(pattern)
    found = []
    for done, piece in enumerate(pieces):
        if progress:
            progress(done / len(pieces), f"Reading {piece.name}")
        earlier = decided.get(piece.name)
        whole = earlier is not None and piece.name in done_with
        seen = Found(earlier) if earlier and whole else _look(piece, overrides, earlier, pieces)
        if pattern is not None and _lacks_rubric(seen.plan) and "rubric" not in overrides.mapping:
            seen = _of_rubric(seen, piece, overrides, fields_of(pattern, piece.seen_path).get("rubric"))
        if piece.remark and piece.remark not in seen.plan.remarks:
            seen = seen.changed(piece.remark)
        found.append(seen)
    if overrides.kind is None:
        again = replace(overrides, kind="labels")
        of_labels, asked = hold_labels(
            [f if p.name not in decided else None for f, p in zip(found, pieces, strict=True)]
        )
        found = [_look(pieces[i], again, None, pieces) if i in of_labels else f for i, f in enumerate(found)]
        if overrides.mapping and any(not f.plan.problem for f in found):
            found = [_by_own_names(f, p, overrides, pieces) for f, p in zip(found, pieces, strict=True)]
        found = with_shared_keys(
            found, lambda i, keyed: _look(pieces[i], keyed, None, pieces), overrides, decided
        )
        found = [with_question(f, asked.get(i, "")) for i, f in enumerate(found)]
    else:
        of_labels, asked = set(), {}
    found = _skip_non_data(without_summaries(found), of_labels | asked.keys())
    found = _with_distinct_queries(found)
    found = found if "query" in overrides.mapping else with_shared_queries(found, decided)
    found, pattern = name_files(found, pieces, pattern, done_with, strict=overrides.strict)
    found = ask_whose(found, pieces, strict=overrides.strict)
    found = [f if f.plan.format in NATIVE else _with_questions(f) for f in found]
    plans = without_doubles([_described(f, decided.get(f.plan.name)) for f in found])
    return Plan(tuple(plans), pattern, options or (like.options if like else Options()))


def _lacks_rubric(file: FilePlan) -> bool:
    """Whether a table of labels has no rubric column, or only one called ``item``, which may be the query."""
    table = file.kind in ("labels", "gold") and file.format not in NATIVE and not file.skip
    items = plain_name(str(file.mapping.get("rubric", ""))) in ITEMS
    return table and (items or file.problem is not None)


def _of_rubric(found: Found, piece: Piece, overrides: Overrides, rubric: str | None) -> Found:
    """The table inspected again with ``rubric``, from its path, as the rubric of all rows; unchanged if it is None."""
    if rubric is None:
        return found
    return look_into(piece, replace(overrides, mapping={**overrides.mapping, "rubric": f"={rubric}"}))


def _with_distinct_queries(found: list[Found]) -> list[Found]:
    """Use longer query names for native layouts in which files of this upload give different queries the same name."""
    apart: dict[tuple[str, str], set[str]] = {}
    for f in found:
        for name, whole in f.queries.items():
            apart.setdefault((NATIVE[f.plan.format].apart, name), set()).add(whole)
    mixed = {rule for (rule, _), wholes in apart.items() if len(wholes) > 1}
    rules = [NATIVE[f.plan.format].apart if f.queries else "" for f in found]
    return [_named_apart(f, rule) if rule in mixed else f for f, rule in zip(found, rules, strict=True)]


def _named_apart(found: Found, rule: str) -> Found:
    if "query" in found.plan.mapping:
        return found
    whole = rule.removeprefix("~ ")
    remark = (
        f"files of this upload have different queries under the same names, so each query is named {whole}"
    )
    return found.changed(remark, mapping={**found.plan.mapping, "query": rule})


def _with_questions(found: Found) -> Found:
    """A table with its open questions in the problem: the mapping that would read it, and what repeated rows mean."""
    return replace(found, plan=asked_whose(with_proposal(found.plan, found.rows), found.rows))


def _by_own_names(found: Found, piece: Piece, overrides: Overrides, pieces: Sequence[Piece]) -> Found:
    """A table of queries, rubrics or the like, read by its own column names if the user's mapping does not fit it.

    The mapping was made for the labels beside it. All other files are returned unchanged.
    """
    if not found.plan.problem:
        return found
    own = _look(piece, replace(overrides, mapping={}), None, pieces)
    if own.plan.problem or own.plan.kind in ("labels", "gold") or own.plan.format in NATIVE:
        return found
    return own.changed("it is read by the names of its columns, because it lacks those of the mapping")


def _is_whole(file: FilePlan) -> bool:
    """Whether an earlier plan of a file is complete: the file is skipped, or has tables and no problem."""
    return file.skip or (bool(file.tables) and file.problem is None)


def _described(found: Found, earlier: FilePlan | None) -> FilePlan:
    """The plan with columns that describe its queries, rubrics and answers: as in the earlier plan, else by name."""
    if earlier is not None and earlier.mapping:
        return with_described(found.plan, earlier.described)
    return with_descriptions(found.plan, found.rows)


def _look(piece: Piece, overrides: Overrides, earlier: FilePlan | None, pieces: Sequence[Piece]) -> Found:
    if earlier is None:
        return describe(piece, overrides, pieces)
    gold = earlier.gold if earlier.mapping else None
    earlier_choice = replace(
        overrides, kind=earlier.kind, mapping=earlier.mapping, format=earlier.format, gold=gold
    )
    found = describe(piece, earlier_choice, pieces)
    return found.changed(words={**found.plan.words, **earlier.words})


def _skip_non_data(found: list[Found], data: Set[int]) -> list[Found]:
    """Skip files that hold no data, such as a README, and those that are read along with others; never the only file.

    data: positions of the files that are known to be tables of labels, which are never skipped.
    """
    along = tuple(n for f in found if f.plan.format in NATIVE for n in NATIVE[f.plan.format].companions)
    found = [_read_along(f) if along and f.plan.name.endswith(along) else f for f in found]
    settings = [bool(_SETTINGS.search(f.plan.name)) for f in found]
    usable = any(f.plan.problem is None for f in found)
    if len(found) == 1 or (all(settings) and not usable):
        return found
    # The system may still come from the file names. If no table is complete yet, skip only files without a data suffix.
    foreign = [
        bool(f.plan.problem) and _is_foreign(f.plan) and (usable or not _named_like_data(f.plan))
        for f in found
    ]
    return [
        f.changed(skip=True)
        if f.plan.problem and i not in data and (settings[i] or (foreign[i] and not all(foreign)))
        else f
        for i, f in enumerate(found)
    ]


def _read_along(found: Found) -> Found:
    if found.plan.format in NATIVE:
        return found
    return found.changed(skip=True, problem=None, reason="it belongs to others that are read")


def _named_like_data(file: FilePlan) -> bool:
    return file.name.lower().endswith(_DATA)


def _is_foreign(file: FilePlan) -> bool:
    """Whether a file is clearly not meant as data (a README, a sheet of notes); False for broken data files."""
    if file.format == "unknown":
        return not _named_like_data(file)
    return len(file.columns) < 2 or not any(fits_name(column) for column in file.columns)


def preview_file(
    source: Sources,
    plan_file: FilePlan | None = None,
    rows: int = SHOWN,
    name: str | None = None,
) -> Preview:
    """The first rows of one file. In an archive or workbook, it is the file that the plan names, else the first one.

    Raises IngestError, with one sentence, where the file cannot be read.
    """
    with gathered(source, name) as pieces:
        piece = next((p for p in pieces if plan_file is not None and p.name == plan_file.name), pieces[0])
        overrides = (
            Overrides(
                plan_file.kind,
                plan_file.mapping,
                plan_file.format,
                gold=plan_file.gold if plan_file.mapping else None,
            )
            if plan_file
            else Overrides()
        )
        given = (piece, overrides, pieces)
        found = apart([piece.name], describe, *given) if is_heavy([piece]) else describe(*given)
    if found.plan.problem and not found.rows:
        raise IngestError(found.plan.problem)
    return Preview(*_table_of(found, rows), _described(found, plan_file))


def _table_of(found: Found, rows: int) -> tuple[tuple[str, ...], pd.DataFrame]:
    columns: tuple[str, ...] = found.plan.columns
    cells: list[Any] = list(found.rows)
    if found.plan.format in NATIVE:
        kinds = {k for k, _ in found.rows}
        shown = next((k for k in ("labels", "gold", "rubrics", "queries") if k in kinds), "reference")
        columns, cells = COLUMNS[shown], [row for k, row in found.rows if k == shown]
    width = len(columns)
    even = [tuple(row[:width]) + (None,) * (width - len(row)) for row in cells[:rows]]
    return columns, pd.DataFrame(even, columns=list(columns), dtype=object)
