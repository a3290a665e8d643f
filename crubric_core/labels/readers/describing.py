"""One file looked into: which format it has, which columns it holds, and how they would be read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...errors import IngestError
from ...text import listed
from .columns import SPECS, Kind, choose_columns
from .formats import TABLES, Reader, check_format, open_reader, recognise
from .formats.native.base import NativeFormat, Record, Setting, label_of
from .formats.records import Fault
from .ground_truth import with_gold
from .guess import (
    CROSSED,
    Matrix,
    crossed_names,
    guess_columns,
    guess_kind,
    guess_matrix,
    guess_spread,
    named_after_models,
)
from .native_files import companions, first_records, native_of, native_rows
from .nested import find_nested, with_nested_unused
from .not_labels import why_no_labels
from .open_questions import label_by_content, one_a_judge, one_rubric, told_of_one_rubric
from .paths import fields_of_records
from .plan import Columns, FilePlan, Guess
from .raters import settled
from .rules import source_of, with_derived
from .sources import Piece
from .unused import unused_columns, unused_fields, watched
from .words import is_number, levels_of

SAMPLE = 200
QUESTION = 0.55  # confidence below which a guess is a question, and no answer


@dataclass(frozen=True)
class Overrides:
    """What the user decided beforehand. strict: no column is taken for another by its contents alone.

    gold: columns of ground truth in a table of labels; None: by their names.
    """

    kind: Kind | None = None
    mapping: Columns = field(default_factory=dict)
    format: str = "auto"
    strict: bool = False
    gold: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.mapping, Mapping):
            raise IngestError(
                f"mapping = {self.mapping!r} is no mapping: give canonical columns with those of the file, such as "
                '{"system": "model"}.'
            )
        tuples = {c: v if isinstance(v, str) else tuple(v) for c, v in self.mapping.items()}
        object.__setattr__(self, "mapping", tuples)


@dataclass(frozen=True)
class Found:
    """A file's plan, its first rows (of tables) or the first rows it gives (of native layouts)."""

    plan: FilePlan
    rows: tuple[Any, ...] = ()
    needs: tuple[str, ...] = ()


def describe(piece: Piece, overrides: Overrides, pieces: Sequence[Piece] = ()) -> Found:
    """What a file is taken for; a file that cannot be read comes with the sentence that says why."""
    try:
        return look_into(piece, overrides, pieces)
    except IngestError as error:
        return Found(FilePlan(piece.name, "unknown", kind=overrides.kind or "labels", problem=str(error)))


def look_into(piece: Piece, overrides: Overrides, pieces: Sequence[Piece] = ()) -> Found:
    """What a file is taken for; raises IngestError where it cannot be opened."""
    check_format(overrides.format)
    basic = recognise(piece.path, piece.name)
    records = [] if overrides.format in TABLES else first_records(piece, basic)
    native = None if overrides.format in TABLES else native_of(records, overrides.format)
    if native is not None:
        return _describe_native(piece, native, overrides, companions(piece, pieces), records)
    if basic == "zip":
        raise IngestError(
            f"{piece.name} is a ZIP archive without an Inspect log or a workbook in it: unpack it."
        )
    reader, mapping = with_derived(
        open_reader(piece.path, piece.name, overrides.format, piece.scratch), overrides.mapping, piece
    )
    asked, overrides = overrides.mapping, replace(overrides, mapping=mapping)
    found = _describe_table(
        piece, reader, basic if overrides.format == "auto" else overrides.format, overrides
    )
    found = _with_rules_told(found, asked, mapping)
    if found.plan.format not in ("json", "jsonl"):
        return _with_better_problem(found, {})
    fields = fields_of_records(piece.path, piece.name)
    within = _within(piece, found, replace(overrides, mapping=asked), fields)
    return within or _with_better_problem(replace(found, plan=with_nested_unused(found.plan, fields)), fields)


def _with_better_problem(found: Found, fields: Mapping[str, Sequence[Any]]) -> Found:
    """Where no labels are found, why there are none, if the file's columns tell."""
    plan = found.plan
    if plan.problem is None or plan.kind not in ("labels", "gold"):
        return found
    why = why_no_labels(plan.name, plan.columns, fields)
    return replace(found, plan=replace(plan, problem=why)) if why else found


def _within(
    piece: Piece, found: Found, overrides: Overrides, fields: Mapping[str, list[Any]]
) -> Found | None:
    """The plan of records whose labels lie within lists or objects of theirs; None where no name says so.

    Where names alone do not tell the paths, they are a proposal, and ``strict`` makes them part of the problem.
    """
    plan = found.plan
    if overrides.kind is None and plan.kind in ("queries", "rubrics", "reference"):
        nested = find_nested("labels", fields)
        return look_into(piece, replace(overrides, kind="labels")) if nested and nested.sure else None
    single = str(plan.mapping.get("rubric", "")).startswith("=") and "rubric" not in overrides.mapping
    weak = single or plan.problem is not None or any(g.confidence < QUESTION for g in plan.guesses)
    nested = find_nested(plan.kind, fields) if weak else None
    if nested is None or set(nested.mapping) <= set(overrides.mapping):
        return None
    mapping = {**nested.mapping, **overrides.mapping}
    if overrides.strict and not nested.sure:
        return replace(
            found, plan=replace(plan, mapping={}, guesses=(), problem=nested.question(plan.name, mapping))
        )
    complete = look_into(piece, replace(overrides, mapping=mapping))
    remark = f"its labels lie within its records, at {nested.mapping['label']}"
    sure = 0.85 if nested.sure else 0.5
    guesses = tuple(Guess(c, path, sure, "the names of its fields") for c, path in nested.mapping.items())
    return replace(
        complete, plan=replace(complete.plan, guesses=guesses, remarks=(*complete.plan.remarks, remark))
    )


def _with_rules_told(found: Found, asked: Columns, mapping: Columns) -> Found:
    """The plan as it was asked for, rules as rules, and how many of the first rows each rule understands."""
    rules = {c: v for c, v in asked.items() if isinstance(v, str) and mapping.get(c) != v}
    if not rules:
        return found
    remarks = []
    for canonical, rule in rules.items():
        at = found.plan.columns.index(str(mapping[canonical]))
        hits = sum(row[at] is not None for row in found.rows)
        remarks.append(
            f"{canonical} is {rule}, which understands {hits:,} of the first {len(found.rows):,} rows"
        )
    made_from = {source_of(rule) for rule in rules.values()}
    restored = {c: rules.get(c, v) for c, v in found.plan.mapping.items()}
    plan = replace(
        found.plan,
        mapping=restored,
        remarks=(*found.plan.remarks, *remarks),
        unused=tuple(c for c in found.plan.unused if c not in made_from),
        suspects=tuple(c for c in found.plan.suspects if c not in made_from),
    )
    return replace(found, plan=plan)


def _describe_native(
    piece: Piece,
    native: NativeFormat,
    overrides: Overrides,
    companion: Callable[[str], Iterator[Record]],
    records: Sequence[tuple[int, Any]],
) -> Found:
    outside = {k: v for k, v in overrides.mapping.items() if isinstance(v, str) and v.startswith("=")}
    given = {k: v[1:] for k, v in outside.items()}
    probe = _Probe(piece.seen_path, given, companion=companion)
    seen = [(line, watched(record)) for line, record in records]
    rows = [row for _, row in native_rows(seen, native, probe)]
    unused, suspects = unused_fields([record for _, record in seen])
    faults = [row for row in rows if isinstance(row, Fault)]
    kept = tuple(row for row in rows if not isinstance(row, Fault))
    kinds = tuple(
        k
        for k in ("queries", "rubrics", "labels", "gold", "reference", "answers")
        if any(r[0] == k for r in kept)
    )
    plan = FilePlan(
        piece.name,
        native.name,
        native.title,
        overrides.kind or "labels",
        kinds,
        mapping=outside,
        words=_words(label_of(r) for r in kept if r[0] in ("labels", "gold")),
        reason=native.recognised_by,
        unused=unused,
        suspects=suspects,
        problem=f"{piece.name} {faults[0].reason}." if faults and not kept else None,
    )
    return Found(plan, kept, tuple(sorted(probe.asked)))


@dataclass
class _Probe(Setting):
    """A setting that lets a file go on without the names it lacks, and remembers which it asked for."""

    asked: set[str] = field(default_factory=set)

    def _outside(self, what: str, found: Any) -> str:
        named = super()._outside(what, found)
        if not named:
            self.asked.add(what)
        return named

    def _fail(self, what: str) -> str:
        return f"({what}?)"


def _words(values: Iterable[Any]) -> dict[str, float | None]:
    texts = {v for v in values if isinstance(v, str) and v.strip() and not is_number(v)}
    return dict(sorted(levels_of(texts).items()))


def _describe_table(piece: Piece, reader: Reader, file_format: str, overrides: Overrides) -> Found:
    columns, rows = reader.columns, tuple(reader.head(SAMPLE))
    kind = overrides.kind or guess_kind(piece.name, columns)
    if overrides.kind is None and kind in ("queries", "rubrics") and named_after_models(columns, rows):
        kind = "labels"
    plan = FilePlan(
        piece.name, file_format, "a table", kind, (kind,), columns, overrides.mapping, reason="its content"
    )
    if (encoding := getattr(reader, "encoding", "UTF-8")) != "UTF-8":
        remark = f"it is not UTF-8, and was read as {encoding}: where names look wrong, save it as CSV UTF-8"
        plan = replace(plan, remarks=(remark,))
    _reject_unknown_columns(kind, overrides.mapping)
    spread = _spread_of(plan, rows, strict=overrides.strict)
    if spread is not None:
        complete = _with_unused(_with_words(_with_gold(spread, rows, overrides), rows), rows)
        return Found(settled(complete, rows, strict=overrides.strict), rows)
    named = {c: v for c, v in overrides.mapping.items() if isinstance(v, str) and not v.startswith("=")}
    fixed = {c: v for c, v in overrides.mapping.items() if c not in named}
    named |= label_by_content(plan, rows)
    if single := one_rubric(plan, rows, named, fixed):
        fixed = {**fixed, "rubric": f"={single}"}
        plan = replace(plan, remarks=(*plan.remarks, told_of_one_rubric(single)))
    try:
        chosen = choose_columns(kind, _with_fixed(columns, fixed), named, piece.name)
    except IngestError as error:
        plan = _guessed(plan, rows, str(error), strict=overrides.strict)
    else:
        found = {canonical: columns[i] for canonical, i in chosen.items() if i < len(columns)}
        found |= {canonical: "" for canonical, column in named.items() if column == ""}
        guessed = {g.canonical: g for g in guess_columns(kind, columns, rows)}
        guesses = tuple(_confirmed(c, column, guessed, named) for c, column in found.items())
        plan = replace(plan, mapping=found | fixed, guesses=guesses)
    plan = _with_words(_with_gold(plan, rows, overrides), rows)
    complete = settled(_with_unused(plan, rows), rows, strict=overrides.strict)
    return Found(one_a_judge(complete, rows), rows)


def _with_gold(plan: FilePlan, rows: tuple[Any, ...], overrides: Overrides) -> FilePlan:
    """The plan with its columns of ground truth: those that were given, else by their names."""
    if overrides.gold is None:
        named = overrides.mapping.get("judge")
        return with_gold(plan, rows, named if isinstance(named, tuple) else ())
    gold = tuple(c for c in overrides.gold or () if c in plan.columns) if plan.kind == "labels" else ()
    return replace(plan, gold=gold, tables=(*plan.tables, "gold")) if gold else plan


def _with_unused(plan: FilePlan, rows: tuple[Any, ...]) -> FilePlan:
    """The plan with the columns that it leaves out; a table of systems uses them all."""
    if plan.kind == "systems":
        return plan
    used = [c for v in (*plan.mapping.values(), plan.gold) for c in (v if isinstance(v, tuple) else (v,))]
    unused, suspects = unused_columns(plan.columns, rows, used)
    return replace(plan, unused=unused, suspects=suspects)


def _reject_unknown_columns(kind: Kind, mapping: Columns) -> None:
    invalid = [canonical for canonical in mapping if canonical not in SPECS[kind].columns]
    if invalid:
        raise IngestError(
            f"The mapping names {invalid[0]!r}, which a {kind} table does not have: "
            f"use {', '.join(SPECS[kind].columns)}."
        )


def _with_fixed(columns: tuple[str, ...], fixed: Columns) -> tuple[str, ...]:
    """The columns, and one more for each that is the same for the whole file, for the choice to count them in."""
    return (*columns, *(canonical for canonical in fixed if canonical not in columns))


def _confirmed(canonical: str, column: str, guessed: Mapping[str, Guess], named: Columns) -> Guess:
    if named.get(canonical) == column:
        return Guess(canonical, column, 1.0, "as given")
    found = guessed.get(canonical)
    return (
        found if found is not None and found.column == column else Guess(canonical, column, 0.9, "the name")
    )


def _guessed(plan: FilePlan, rows: tuple[Any, ...], problem: str, *, strict: bool) -> FilePlan:
    """A mapping from names and contents where names alone do not tell; still a problem where a column is missing."""
    if strict or plan.mapping:
        return _without_system(plan, problem)
    guesses = guess_columns(plan.kind, plan.columns, rows)
    mapping = {g.canonical: g.column for g in guesses if g.confidence >= QUESTION}
    spec = SPECS[plan.kind]
    missing = set(spec.needed) - set(mapping) or (spec.any_of and not set(spec.any_of) & set(mapping))
    return replace(plan, mapping=mapping, guesses=guesses, problem=problem if missing else None)


def _without_system(plan: FilePlan, problem: str) -> FilePlan:
    """The plan with the problem; where only the system is missing, with all the other columns mapped."""
    named = {c: v for c, v in plan.mapping.items() if isinstance(v, str) and not v.startswith("=")}
    fixed = {c: v for c, v in plan.mapping.items() if c not in named}
    if plan.kind not in ("labels", "gold") or "system" in plan.mapping:
        return replace(plan, problem=problem)
    try:
        chosen = choose_columns(
            plan.kind, _with_fixed(plan.columns, {**fixed, "system": "="}), named, plan.name
        )
    except IngestError:
        return replace(plan, problem=problem)
    found = {c: plan.columns[i] for c, i in chosen.items() if i < len(plan.columns)}
    guesses = tuple(Guess(c, column, 0.9, "the name") for c, column in found.items())
    return replace(plan, mapping=found | fixed, guesses=guesses, problem=problem)


def _as_matrix(plan: FilePlan, matrix: Matrix, *, strict: bool) -> FilePlan:
    """The plan of a response matrix; which way it lies is asked for where nothing tells it."""
    other = matrix.rows_are
    guess = Guess(other, matrix.key, matrix.confidence, matrix.reason)
    problem = (
        f"{plan.name} looks like a response matrix, {len(matrix.columns):,} columns wide, and does not say whether its "
        f'rows or its columns are the systems: say {{"system": {matrix.key!r}, "rubric": ["*"]}} or '
        f'{{"rubric": {matrix.key!r}, "system": ["*"]}} (mapping).'
    )
    return replace(
        plan,
        title=f"a response matrix, one column a {matrix.what}",
        mapping={other: matrix.key, matrix.what: matrix.columns},
        guesses=(guess,),
        reason=matrix.reason,
        problem=problem if strict and matrix.confidence < SURE else None,
    )


SURE = 0.7  # confidence from which a layout need not be asked for


def _spread_of(plan: FilePlan, rows: tuple[Any, ...], *, strict: bool) -> FilePlan | None:
    """The plan of a wide table, or None."""
    spread = next((c for c, v in plan.mapping.items() if isinstance(v, tuple)), None)
    outside = all(isinstance(v, str) and v.startswith("=") for v in plan.mapping.values())
    if plan.kind not in ("labels", "gold") or (spread is None and not outside):
        return None
    found = guess_spread(plan.columns, rows, plan.mapping) if spread is None else None
    matrix = guess_matrix(plan.columns, rows) if found is None and not plan.mapping else None
    if matrix is not None:
        return _as_matrix(plan, matrix, strict=strict)
    if found is None and spread is None:
        return None
    what, wide = found if found else (str(spread), tuple(plan.mapping[str(spread)]))
    guessed = guess_columns(plan.kind, [c for c in plan.columns if c not in wide], ())
    keys = {g.canonical: g for g in guessed if g.canonical != "label" and g.confidence > 0.5}
    mapping = {c: g.column for c, g in keys.items()} | dict(plan.mapping) | {what: wide}
    if spread is None and what == "judge" and "rubric" not in mapping:
        mapping["rubric"] = "=score"
        plan = replace(plan, remarks=(*plan.remarks, told_of_one_rubric("score")))
    missing = set(SPECS[plan.kind].needed) - set(mapping) - {"label"}
    if spread is None and missing - ({"system"} if what == "rubric" else set()):
        return None
    if spread is None and missing:
        plan = replace(plan, problem=_no_system(plan, what, wide))
    crossed = crossed_names(wide) if spread is None and what == "rubric" and "judge" not in mapping else None
    if crossed:
        mapping["judge"] = CROSSED
        judges = ", ".join(dict.fromkeys(judge for judge, _ in crossed))
        plan = replace(plan, remarks=(*plan.remarks, f"its columns are judges ({judges}) times criteria"))
    note = Guess(what, ", ".join(wide)[:200], 0.8, f"{len(wide)} columns hold labels, one {what} each")
    return replace(
        plan,
        title=f"a wide table, one column a {what}",
        mapping=mapping,
        guesses=(*keys.values(), note),
        reason=f"{len(wide)} columns hold labels and none names the {what}",
    )


def _no_system(plan: FilePlan, what: str, wide: Sequence[str]) -> str:
    some = listed([repr(c) for c in wide], 3)
    mapping = json.dumps({"system": "=…", what: list(wide[:12])}, ensure_ascii=False)
    return (
        f"{plan.name} has no column for system, and {some} hold labels, one column a {what} as it seems: say the "
        f"system, or which column names it, by such a mapping: {mapping}."
    )


def _with_words(plan: FilePlan, rows: tuple[Any, ...]) -> FilePlan:
    """The plan with what the words among the first labels stand for."""
    if plan.kind not in ("labels", "gold"):
        return plan
    spread = next((v for v in plan.mapping.values() if isinstance(v, tuple)), ())
    holders = {*(spread or (plan.mapping.get("label"),)), *plan.gold}
    at = [i for i, c in enumerate(plan.columns) if c in holders]
    return replace(plan, words=_words(row[i] for row in rows for i in at if i < len(row) and row[i]))
