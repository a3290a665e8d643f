"""The plan of a wide table: which columns hold labels, and what their names say of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...text import listed
from .column_names import (
    called_judge,
    crossed_names,
    crossing,
    drawn_names,
    names_a_judge,
    spread_names,
    without_draws,
)
from .columns import SPECS
from .ground_truth import is_truth
from .guess import ENOUGH, MODEL, cells_at, guess_columns, profile
from .label_names import is_derived
from .open_questions import told_of_one_rubric
from .plan import Columns, FilePlan, Guess
from .reasons import reason_rule, reasons_by
from .wide_columns import (
    Matrix,
    called_after_criteria,
    called_after_queries,
    guess_matrix,
    guess_spread,
    is_query,
    may_be_query,
    ticked_among,
)

_CROSSED = re.compile(r"__|[/|:(]| - ")  # models have other signs within their names
_PANEL = 9  # columns: so many judges are rare
SURE = 0.7  # confidence from which a layout need not be asked for


def spread_of(plan: FilePlan, rows: tuple[Any, ...], *, strict: bool) -> FilePlan | None:
    """The plan of a wide table, or None."""
    if plan.kind not in ("labels", "gold"):
        return None
    given = next(((c, v) for c, v in plan.mapping.items() if isinstance(v, tuple)), None)
    if given is not None:
        keys = _keys_beside(plan, given[1])
        return _wide_table(plan, *given, keys, {c: g.column for c, g in keys.items()} | dict(plan.mapping))
    known = {v for v in plan.mapping.values() if isinstance(v, str) and not v.startswith("=")}
    if known and {"rubric", "label"} & set(plan.mapping):
        return None
    free = [i for i, c in enumerate(plan.columns) if c not in known]
    cells = [tuple(row[i] if i < len(row) else None for i in free) for row in rows] if known else rows
    found = _guess_spread(plan, [plan.columns[i] for i in free], cells)
    if found is not None:
        return _of_guess(plan, rows, *found, strict=strict)
    matrix = None if plan.mapping else guess_matrix(plan.columns, rows)
    return None if matrix is None else _as_matrix(plan, matrix, strict=strict)


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


def _guess_spread(
    plan: FilePlan, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> tuple[str, tuple[str, ...]] | None:
    """What each of several columns of labels is, and the columns; a judge of gold labels is their annotator."""
    found = guess_spread(columns, rows, plan.mapping)
    if found is None:
        return None
    what = "annotator" if found[0] == "judge" and plan.kind == "gold" else found[0]
    return (what, found[1]) if what in SPECS[plan.kind].columns else None


def _keys_beside(plan: FilePlan, wide: Sequence[str]) -> dict[str, Guess]:
    """Canonical column → what is guessed of the column beside the wide ones that is it."""
    guessed = guess_columns(plan.kind, [c for c in plan.columns if c not in wide], ())
    return {g.canonical: g for g in guessed if g.canonical != "label" and g.confidence > 0.5}


def _of_guess(
    plan: FilePlan, rows: tuple[Any, ...], what: str, wide: tuple[str, ...], *, strict: bool
) -> FilePlan | None:
    """The plan of a table whose columns look wide; None where one that is needed beside them is missing."""
    keys = _keys_beside(plan, wide)
    own = {c: g.column for c, g in keys.items()}
    if what == "rubric" and is_query(own, wide):
        own["query"] = own.pop("rubric")
    mapping = own | dict(plan.mapping) | {what: wide}
    remarks = list(plan.remarks)
    if what in ("judge", "annotator", "run") and "rubric" not in mapping:
        mapping["rubric"] = "=score"
        remarks.append(told_of_one_rubric("score"))
    within, told = _named_within(what, wide, mapping)
    if plan.kind == "gold":
        within, told = _of_annotators(within, told)
    mapping |= within
    missing = set(SPECS[plan.kind].needed) - set(mapping) - {"label"}
    if missing - ({"system"} if what == "rubric" else set()):
        return None
    problem = _no_system(plan, what, wide, within, own) if missing else plan.problem
    asked = _what_they_are(plan, what, wide, own) if what in ("judge", "annotator") else ""
    if asked and strict:
        problem = f"In {plan.name} {asked}."
    if choices := ticked_among(plan.columns, rows):
        problem = _ticks(plan.name, choices)
    beside = [asked] if asked else _may_be_queries(what, wide, own)
    remarks += [*_told_of_derived(plan, rows, what), *told, *beside]
    return _wide_table(replace(plan, problem=problem, remarks=tuple(remarks)), what, wide, keys, mapping)


def _wide_table(
    plan: FilePlan, what: str, wide: tuple[str, ...], keys: dict[str, Guess], mapping: dict[str, Any]
) -> FilePlan:
    reasons, told = _reasons_beside(plan, wide)
    note = Guess(what, ", ".join(wide)[:200], 0.8, f"{len(wide)} columns hold labels, one {what} each")
    return replace(
        plan,
        title=f"a wide table, one column {'an' if what == 'annotator' else 'a'} {what}",
        mapping=mapping | reasons,
        guesses=(*keys.values(), note),
        reason=f"{len(wide)} columns hold labels and none names the {what}",
        remarks=(*plan.remarks, *told),
    )


def _reasons_beside(plan: FilePlan, wide: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """(the rule that finds the reasons of the labels in wide columns, what is told of it), where nobody gave one."""
    rule = "" if "reason" in plan.mapping else reason_rule(plan.columns, wide)
    if not rule:
        return {}, []
    some = listed([repr(c) for c in reasons_by(rule, plan.columns, wide).values()], 6)
    return {"reason": rule}, [f"the reasons are read from {some}"]


def _named_within(what: str, wide: Sequence[str], mapping: Columns) -> tuple[dict[str, str], Sequence[str]]:
    """(judge or system, where the columns of rubrics name it, too; what is told of judges or draws among the columns).

    Models are the systems where nothing else is, and judges elsewhere.
    """
    names = spread_names([c for c in wide if what != "judge" or not is_truth(c)])
    if "run" not in mapping and (drawn := drawn_names(names)):
        first = names[0].startswith(drawn[0][0])
        own = without_draws(names)
        within, told = _named_within(what, own, {**mapping, "run": "="}) if len(own) > 1 else ({}, ())
        said = f"its columns are numbered draws ({', '.join(dict.fromkeys(run for run, _ in drawn))}) of each {what}"
        told = [
            sentence.partition(": where ")[0] for sentence in told
        ]  # its mapping would be for no such columns
        return {"run": crossing("run", what) if first else crossing(what, "run"), **within}, [said, *told]
    if what == "judge" and not any(re.search(r"[^\W\d_]", c) for c in spread_names(wide)):
        return {}, [f"each is a judge: for repeated draws of one, give {json.dumps({'run': wide})}"]
    if what in ("system", "judge") and (product := _systems_times_judges(what, wide, mapping)):
        return product
    pairs = crossed_names(wide) if what == "rubric" else None
    if pairs is None:
        asked = what == "rubric" and "system" in mapping and "judge" not in mapping
        return {}, (_may_be_crossed(what, wide) or _may_be_judges(wide, mapping)) if asked else ()
    named = tuple(dict.fromkeys(name for name, _ in pairs))
    people = [name for name in named if called_judge(name)]
    who = "system" if "system" not in mapping and not people else "judge"
    if who in mapping or ("system" not in mapping and 0 < len(people) < len(named)):
        return {}, ()
    said = crossing(who, "rubric") if crossed_names(wide, 1) == pairs else crossing("rubric", who)
    told = f"its columns are {who}s ({', '.join(named)}) times criteria"
    if who == "system":
        judged = _given(what, wide, "judge", said.replace("system", "judge"), system="=…")
        told += f": where these are judges, give {judged}"
    return {who: said}, [told]


def _systems_times_judges(
    what: str, wide: Sequence[str], mapping: Columns
) -> tuple[dict[str, str], Sequence[str]] | None:
    """The same of columns that are systems times judges, or may be; None of others."""
    other = "judge" if what == "system" else "system"
    if other in mapping:
        return None
    for order in (1, -1):
        pairs = crossed_names(wide, order) or ()
        judges, systems = ([pair[i if what == "system" else 1 - i] for pair in pairs] for i in (0, 1))
        if pairs and all(map(called_judge, judges)) and (what == "system" or all(map(MODEL.search, systems))):
            said = crossing(other, what) if order == 1 else crossing(what, other)
            return {other: said}, [
                f"its columns are systems times judges ({', '.join(dict.fromkeys(judges))})"
            ]
    asked = what == "system" and all(map(_CROSSED.search, wide))
    return ({}, _may_be_crossed(what, wide)) if asked else None


def _of_annotators(within: dict[str, str], told: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The same of gold labels, whose judges are annotators."""
    named = {c.replace("judge", "annotator"): v.replace("{judge}", "{annotator}") for c, v in within.items()}
    return named, [
        sentence.replace("its columns are judges", "its columns are annotators") for sentence in told
    ]


def _given(what: str, wide: Sequence[str], who: str, said: str, **others: str) -> str:
    """The mapping that says whose names stand in the columns, too."""
    return json.dumps({**others, what: list(wide), who: said}, ensure_ascii=False)


def _told_of_derived(plan: FilePlan, rows: tuple[Any, ...], what: str) -> list[str]:
    """That columns which may hold labels are not used, as their names say that they are derived from others."""
    left = [c for c in plan.columns if is_derived(c)]
    held = {c: profile(cells_at(rows, plan.columns.index(c))).labels for c in left}
    some = [c for c in left if held[c] >= ENOUGH]
    if not some:
        return []
    say = f"give the columns of labels in full ({{{json.dumps(what)}: […]}}) to read them, too"
    return [
        f"{listed([repr(c) for c in some], 6)} sum up or qualify labels by the name, and are not used: {say}"
    ]


def _may_be_crossed(what: str, wide: Sequence[str]) -> list[str]:
    """What is asked where the columns are all of one kind times all of another, and neither is named like judges."""
    found = _either_first(what, wide, "judge")
    if found is None:
        return []
    (first, given), (last, back) = found
    return [
        f"its columns are each of {first} times each of {last}, and are read as {len(wide)} {what}s: where {last} are "
        f"judges, give {back}, where {first} are, {given}"
    ]


def _may_be_judges(wide: Sequence[str], mapping: Columns) -> list[str]:
    """What is told of columns that are read as rubrics, though they are not called like criteria."""
    if called_after_criteria(wide) or "query" not in mapping or len(wide) > _PANEL:
        return []
    judged = {c: v for c, v in mapping.items() if c in ("system", "query")}
    say = json.dumps({**judged, "rubric": "=score", "judge": list(wide)}, ensure_ascii=False)
    return [f"where {listed([repr(c) for c in wide], 3)} are judges of one rubric, give {say}"]


def _may_be_queries(what: str, wide: Sequence[str], keys: Mapping[str, str]) -> list[str]:
    """What is told of columns that are read as judges, though they are not called like any, where no query is named."""
    if what != "judge" or "query" in keys or any(map(names_a_judge, spread_names(wide))):
        return []
    say = json.dumps({**keys, "query": list(wide)}, ensure_ascii=False)
    return [f"where {listed([repr(c) for c in wide], 3)} are queries, give {say}"]


def _either_first(what: str, wide: Sequence[str], who: str) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """(names, the mapping where they are of ``who``): the columns' first parts, and the last; None of no product."""
    pairs = crossed_names(wide, 1)
    if pairs is None:
        return None
    first, last = (listed(list(dict.fromkeys(p[i] for p in pairs)), 3) for i in (0, 1))
    said = (crossing(who, what), crossing(what, who))
    return (first, _given(what, wide, who, said[0])), (last, _given(what, wide, who, said[1]))


def _what_they_are(plan: FilePlan, what: str, wide: Sequence[str], keys: Mapping[str, str]) -> str:
    """What is asked of columns of labels that are taken for judges, where they may be criteria or queries."""
    some, columns = listed([repr(c) for c in wide], 3), list(wide)
    if "query" not in keys and called_after_queries(wide):
        queries = json.dumps({**keys, "query": columns}, ensure_ascii=False)
        return f"{some} hold labels and are named like queries: where each is one, give the mapping {queries}"
    if plan.mapping or not may_be_query(keys, wide):
        return ""
    item, others = keys["rubric"], {c: v for c, v in keys.items() if c != "rubric"}
    ways = [{**others, "query": item, "rubric": columns}, {**others, "rubric": item, what: columns}]
    criteria, judges = (json.dumps(way, ensure_ascii=False) for way in ways)
    return (
        f"{some} hold labels, and nothing says whether they are criteria, or judges: give the mapping {criteria} where "
        f"each is a criterion, or {judges} where each is a judge"
    )


def _ticks(name: str, choices: Sequence[str]) -> str:
    return (
        f"{listed([repr(c) for c in choices], 3)} of {name} are the choices of one question, of which each row ticks "
        "one: write the number that is ticked into one column in place of them, and so for each such question."
    )


def _no_system(
    plan: FilePlan, what: str, wide: Sequence[str], within: Mapping[str, str], own: Mapping[str, str]
) -> str:
    some = listed([repr(c) for c in wide], 3)
    others = [c for c in plan.columns if c not in wide]
    hinted = next((g.column for g in guess_columns(plan.kind, others, ()) if g.canonical == "system"), "=…")
    shown = list(wide if within else wide[:12])
    mapping = json.dumps({"system": hinted, what: shown, **within}, ensure_ascii=False)
    found = None if within else _either_first("rubric", wide, "system")
    if found is not None:
        named = "; where " + ", or where ".join(f"{n} are the systems: {m}" for n, m in found)
    elif within or what != "rubric" or called_after_criteria(wide):
        named = ""
    else:
        keys = {"system": shown, "rubric": "=score"} | {
            c: v for c, v in own.items() if c in ("query", "judge")
        }
        named = f"; or by this one, where each is a system: {json.dumps(keys, ensure_ascii=False)}"
    return (
        f"{plan.name} has no column for system, and {some} hold labels, one column a {what} as it seems: say the "
        f"system, or which column names it, by such a mapping: {mapping}{named}."
    )
