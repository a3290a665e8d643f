"""Plan how a table is read: its kind, which column is which canonical one, and the levels of its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from ....errors import IngestError
from ....text import listed, with_article
from ..columns.specs import MISSING, SPECS, Kind, choose_columns, names_of, plain_name
from ..columns.synonyms import INSTEAD_OF_RUBRIC
from ..formats import Reader
from ..ground_truth import with_gold
from ..guess import cells_at, filled_cells, guess_columns
from ..paths import is_path, parts_of
from ..plan import Columns, FilePlan, Guess, Overrides, remark_on_one_rubric, wide_columns
from ..sums import LONGEST, sums_among
from ..wide.label_columns import only_criterion
from ..wide.plan import spread_of
from ..wide.questions import remarks_beside_one_rubric
from ..wide.reasons import reasons_of
from ..words import levels_among
from .decimal_commas import with_points, with_remark_on_commas
from .kind import columns_and_constants, kind_of_table, with_fixed
from .open_questions import (
    asked_of_key,
    asked_of_predictions,
    ids_of_labels,
    items_alone,
    label_by_content,
    mapped_one_to_one,
    one_rubric,
    remarks_on_label,
    rubrics_called_judges,
    runs_as_systems,
)
from .raters import settled, with_distinguishing_column
from .unused import like_labels, unused_columns

SAMPLE = 200
LATER = 20_000  # number of first rows that are searched for repeated keys
QUESTION = 0.55  # confidence below which a guess is not accepted, but asked
_OF_BLANK = 50  # later rows that are added for each column that is blank in the first rows
_KEYS = 5  # number of first columns that are searched for names of totals


def plan_of_table(
    name: str, reader: Reader, file_format: str, overrides: Overrides
) -> tuple[FilePlan, tuple[Any, ...]]:
    """(plan of one table, the first rows that it was guessed from)."""
    given = _first_rows(reader)
    rows, commas = with_points(given, len(reader.columns))
    plan = with_remark_on_commas(_plan_of_rows(name, reader, file_format, overrides, rows), given, commas)
    settled_now = not plan.unused or plan.apart or plan.problem or plan.kind not in ("labels", "gold")
    if settled_now or len(rows) < SAMPLE // 2:
        return plan, rows
    return with_distinguishing_column(
        plan, _without_sums(reader.columns, reader.head(LATER))
    ), rows  # a second rater may come later


def _plan_of_rows(
    name: str, reader: Reader, file_format: str, overrides: Overrides, rows: tuple[Any, ...]
) -> FilePlan:
    kind = overrides.kind or kind_of_table(name, reader.columns, rows, overrides.mapping)
    plan = FilePlan(
        name, file_format, "a table", kind, (kind,), reader.columns, overrides.mapping, reason="its content"
    )
    plan = plan.with_remarks(*_remarks_on_reading(reader))
    _reject_unknown_columns(kind, overrides.mapping)
    plan = replace(plan, mapping=_without_holders(plan, rows))
    spread = spread_of(plan, rows, strict=overrides.strict)
    if spread is None:
        named, fixed = columns_and_constants(plan.mapping)
        plan, named = _with_columns_by_content(plan, rows, named, strict=overrides.strict)
        plan, named, fixed = _with_rubric_by_content(plan, rows, named, fixed, strict=overrides.strict)
        plan = _with_question_on_key(
            _mapped(plan, rows, named, fixed, strict=overrides.strict), rows, overrides
        )
    plan = _with_words(_with_gold(spread or plan, rows, overrides), rows)
    return settled(_with_unused(plan, rows), rows, strict=overrides.strict)


def _without_holders(plan: FilePlan, rows: tuple[Any, ...]) -> Columns:
    """The plan's mapping, with "" for a system or judge whose column is only the object that holds labels.

    Example: for the label ``judge.score``, the column ``judge`` is not the judge.
    """
    labels = (*wide_columns(plan.mapping), str(plan.mapping.get("label", "")))
    within = {parts_of(c)[0] for c in labels if is_path(c)}
    holders = [
        c
        for i, c in enumerate(plan.columns)
        # The cells of an object that paths lead into are blank, or its JSON.
        if c in within and all(cell.startswith("{") for cell in filled_cells(rows, i))
    ]
    called = {c for c in _WHOSE if any(plain_name(h) in names_of(plan.kind, c) for h in holders)}
    return {**dict.fromkeys(called & set(SPECS[plan.kind].columns), ""), **plan.mapping}


_WHOSE = ("system", "judge", "annotator", "run")


def _remarks_on_reading(reader: Reader) -> list[str]:
    """Remarks of the reader on how the file was decoded, and on ticked columns that it merged."""
    remarks = []
    if decoded := getattr(reader, "decoded", ""):
        remarks.append(f"{decoded}; if names look wrong, save the file as CSV UTF-8")
    if ticked := getattr(reader, "questions", None):
        some = listed([repr(question) for question in ticked], 6)
        remarks.append(
            f"the number that each row ticks is read as {some}, in place of a column for each number"
        )
    return remarks


def _with_columns_by_content(
    plan: FilePlan, rows: tuple[Any, ...], named: dict[str, str], *, strict: bool
) -> tuple[FilePlan, dict[str, str]]:
    """(plan with remarks, canonical column → column: the given ones and those that the cells show)."""
    by_content = label_by_content(plan, rows)
    plan = plan.with_remarks(*remarks_on_label(by_content))
    named = mapped_one_to_one(plan, rows) | named | by_content | ids_of_labels(plan, rows)
    criteria, remarks_on_criteria = rubrics_called_judges(plan, rows)
    plan = plan.with_remarks(*remarks_on_criteria)
    named |= criteria
    if not strict and (runs := runs_as_systems(plan, rows)):
        named |= runs
        plan = plan.with_remarks(
            f"its column {runs['system']!r} names the systems, because no column is called system"
        )
    return plan, named


def _with_rubric_by_content(
    plan: FilePlan, rows: tuple[Any, ...], named: dict[str, str], fixed: dict[str, Any], *, strict: bool
) -> tuple[FilePlan, dict[str, str], dict[str, Any]]:
    """(plan with remarks, columns, constants), with the rubric filled in if the table has a single, unnamed rubric."""
    named = named | only_criterion(plan, rows, named, fixed)
    of_items, told_of_items = items_alone(plan, rows, named, fixed)
    if of_items:
        named, fixed = {**named, "query": of_items["query"]}, {**fixed, "rubric": of_items["rubric"]}
    if told_of_items:
        plan = plan.with_remarks(told_of_items)
    if single := one_rubric(plan, rows, named, fixed):
        fixed = {**fixed, "rubric": f"={single}"}
        asked = asked_of_predictions(plan, single)
        remarks = [remark_on_one_rubric(single), *filter(None, [asked])]
        plan = plan.with_remarks(*remarks, *remarks_beside_one_rubric(plan, rows, single))
        plan = replace(plan, problem=f"In {plan.name} {asked}.") if asked and strict else plan
    return plan, named, fixed


def _mapped(
    plan: FilePlan, rows: tuple[Any, ...], named: dict[str, str], fixed: dict[str, Any], *, strict: bool
) -> FilePlan:
    """The plan with the column and confidence of each canonical column; if names are not enough, with guesses."""
    columns = plan.columns
    try:
        chosen, told_of_blank = _chosen(plan, with_fixed(columns, fixed), named, rows)
    except IngestError as error:
        return _guessed(plan, rows, str(error), strict=strict)
    found = {canonical: columns[i] for canonical, i in chosen.items() if i < len(columns)}
    found |= {canonical: "" for canonical, column in named.items() if column == ""}
    guessed = {g.canonical: g for g in guess_columns(plan.kind, columns, rows)}
    guesses = tuple(_confirmed(c, column, guessed, named) for c, column in found.items())
    return replace(plan, mapping=found | fixed, guesses=guesses).with_remarks(*told_of_blank)


def _chosen(
    plan: FilePlan, columns: Sequence[str], named: Mapping[str, str], rows: Sequence[Sequence[Any]]
) -> tuple[dict[str, int], list[str]]:
    """(canonical column → position, remarks). A blank column is replaced by another one with a suitable name."""
    chosen = choose_columns(plan.kind, columns, named, plan.name)
    blank = {i for i, c in enumerate(plan.columns) if not any(cells_at(rows, i))} if rows else set()
    blank -= {columns.index(c) for c in named.values() if c in columns}
    empty = [c for c, i in chosen.items() if i in blank]
    if not empty:
        return chosen, []
    held = ["" if i in blank else c for i, c in enumerate(columns)]
    try:
        others = choose_columns(plan.kind, held, named, plan.name)
    except IngestError as error:
        if MISSING in str(error):  # no other column can replace it
            return chosen, []
        raise
    instead = {c: others[c] for c in empty if c in others}
    remarks = [
        f"the {c} is its column {columns[i]!r}, because {columns[chosen[c]]!r} is blank"
        for c, i in instead.items()
    ]
    return chosen | instead, remarks


def _with_question_on_key(plan: FilePlan, rows: tuple[Any, ...], overrides: Overrides) -> FilePlan:
    """The plan with a question if the label seems to be the right choice of each query; a problem if strict."""
    asked = "" if "label" in overrides.mapping else asked_of_key(plan, rows)
    if not asked:
        return plan
    plan = plan.with_remarks(asked)
    return replace(plan, problem=f"In {plan.name} {asked}.") if overrides.strict else plan


def _first_rows(reader: Reader) -> tuple[Any, ...]:
    """The first rows, and some later ones where columns are filled that are blank at first, as another judge's."""
    rows = _without_sums(reader.columns, reader.head(SAMPLE))
    blank = [i for i in range(len(reader.columns)) if not any(cells_at(rows, i))]
    if not blank or len(rows) < SAMPLE // 2:
        return rows
    later = _without_sums(reader.columns, reader.head(LATER)[SAMPLE:])
    held = {
        n for i in blank for n in islice((n for n, cell in enumerate(cells_at(later, i)) if cell), _OF_BLANK)
    }
    return (*rows, *(later[n] for n in sorted(held)[:SAMPLE]))


def _without_sums(columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> tuple[Any, ...]:
    """The rows without totals, as a mean of 3.2 is not typical of its column; all rows if none would be left."""
    kept = rows
    for at, column in enumerate(columns[:_KEYS]):
        names = {cell for cell in filled_cells(rows, at) if len(cell.strip()) <= LONGEST}
        what = "rubric" if plain_name(column) in _RUBRICS else "system"
        sums = sums_among(names, what)
        kept = [row for row in kept if at >= len(row) or row[at] not in sums] if sums else kept
    return tuple(kept) or tuple(rows)


_RUBRICS = (*names_of("labels", "rubric"), *INSTEAD_OF_RUBRIC)


def _with_gold(plan: FilePlan, rows: tuple[Any, ...], overrides: Overrides) -> FilePlan:
    """The plan with its columns of ground truth: those that the user gave, else recognised by their names."""
    if overrides.gold is None:
        named = overrides.mapping.get("judge")
        return with_gold(plan, rows, named if isinstance(named, tuple) else ())
    gold = tuple(c for c in overrides.gold if c in plan.columns) if plan.kind == "labels" else ()
    return replace(plan, gold=gold, tables=(*plan.tables, "gold")) if gold else plan


def _with_unused(plan: FilePlan, rows: tuple[Any, ...]) -> FilePlan:
    """The plan with ``unused`` and ``suspects``; unchanged for a table of systems, which uses all columns."""
    if plan.kind == "systems":
        return plan
    used = [*plan.used, *reasons_of(plan.mapping, plan.columns, plan.name).values()]
    unused, suspects = unused_columns(plan.columns, rows, used)
    wide = plan.wide
    if not wide and str(plan.mapping.get("rubric", "")).startswith("="):  # the only rubric
        wide = tuple(v for v in (plan.mapping.get("label"),) if isinstance(v, str) and v in plan.columns)
    keys = [v for c in ("system", "query") if (v := plan.mapping.get(c)) in plan.columns]
    alike = like_labels(plan.columns, rows, wide, keys)
    return replace(plan, unused=unused, suspects=tuple(c for c in unused if c in suspects or c in alike))


def _reject_unknown_columns(kind: Kind, mapping: Columns) -> None:
    invalid = [canonical for canonical in mapping if canonical not in SPECS[kind].columns]
    if invalid:
        raise IngestError(
            f"The mapping names {invalid[0]!r}, which {with_article(kind)} table does not have: "
            f"use {', '.join(SPECS[kind].columns)}."
        )


def _confirmed(canonical: str, column: str, guessed: Mapping[str, Guess], named: Columns) -> Guess:
    if named.get(canonical) == column:
        return Guess(canonical, column, 1.0, "as given")
    found = guessed.get(canonical)
    return (
        found if found is not None and found.column == column else Guess(canonical, column, 0.9, "the name")
    )


def _guessed(plan: FilePlan, rows: tuple[Any, ...], problem: str, *, strict: bool) -> FilePlan:
    """The plan with a mapping guessed from names and contents, and ``problem`` if a needed column is still missing.

    If strict, or if a mapping is given, nothing is guessed and the problem stays.
    """
    if strict or plan.mapping:
        return _without_system(plan, problem)
    guesses = guess_columns(plan.kind, plan.columns, rows)
    if runs := runs_as_systems(plan, rows):
        others = (g for g in guesses if g.canonical != "system" and g.column not in runs.values())
        guesses = (Guess("system", runs["system"], 0.6, "its runs have names"), *others)
    mapping = {g.canonical: g.column for g in guesses if g.confidence >= QUESTION}
    spec = SPECS[plan.kind]
    missing = set(spec.needed) - set(mapping) or (spec.any_of and not set(spec.any_of) & set(mapping))
    return replace(plan, mapping=mapping, guesses=guesses, problem=problem if missing else None)


def _without_system(plan: FilePlan, problem: str) -> FilePlan:
    """The plan with the problem; if only the system is missing, the other columns are mapped."""
    named, fixed = columns_and_constants(plan.mapping)
    if plan.kind not in ("labels", "gold") or "system" in plan.mapping:
        return replace(plan, problem=problem)
    try:
        chosen = choose_columns(
            plan.kind, with_fixed(plan.columns, {**fixed, "system": "="}), named, plan.name
        )
    except IngestError:
        return replace(plan, problem=problem)
    found = {c: plan.columns[i] for c, i in chosen.items() if i < len(plan.columns)}
    guesses = tuple(Guess(c, column, 0.9, "the name") for c, column in found.items())
    return replace(plan, mapping=found | fixed, guesses=guesses, problem=problem)


def _with_words(plan: FilePlan, rows: tuple[Any, ...]) -> FilePlan:
    """The plan with ``words``: word → level, for the words among the first labels, read criterion by criterion."""
    if plan.kind not in ("labels", "gold"):
        return plan
    holders = {*(plan.wide or (plan.mapping.get("label"),)), *plan.gold}
    at = [i for i, c in enumerate(plan.columns) if c in holders]
    rubric = plan.mapping.get("rubric")
    of = plan.columns.index(rubric) if rubric in plan.columns else None
    criteria: dict[Any, list[str]] = {}
    for row in rows:
        for i in at:
            if i < len(row) and row[i]:
                named = i if of is None else row[of] if of < len(row) else None
                criteria.setdefault(named, []).append(row[i])
    return replace(plan, words=levels_among(*criteria.values()))
