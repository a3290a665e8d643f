"""Plan how a wide table is read: which columns hold labels, and what their names contain."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ....text import as_json, listed
from ..columns.specs import SPECS
from ..ground_truth import is_truth
from ..guess import MODEL, guess_columns
from ..plan import Columns, FilePlan, Guess, remark_on_one_rubric
from .called_otherwise import criteria_called_otherwise, criteria_called_reasons, remarks_on_other_names
from .column_names import (
    called_judge,
    crossed_names,
    crossing,
    drawn_names,
    names_a_system,
    spread_names,
    without_draws,
    without_queries,
)
from .label_columns import ticked_among
from .matrix import Matrix, guess_matrix
from .questions import (
    asked_of_one_system,
    asked_of_scores,
    mapping_of,
    may_be_crossed,
    may_be_judges,
    may_be_queries,
    no_system,
    remarks_on_derived,
    remarks_on_facts,
    remarks_on_left_out,
    remarks_on_others,
    remarks_on_overall,
    remarks_on_repeated,
    ticks,
    what_they_are,
)
from .reasons import reason_rule, reasons_by
from .spread import guess_spread, is_query

_CROSSED = re.compile(r"__|[/|:(]| - ")  # separators that do not occur within names of models
_WAYS = (
    ("system", "rubric"),
    ("rubric", "system"),
)  # (rows, columns) of a response matrix
SURE = 0.7  # least confidence of a response matrix that is read without a question


def spread_of(plan: FilePlan, rows: tuple[Any, ...], *, strict: bool) -> FilePlan | None:
    """The plan of a wide table, from the mapping or guessed from the rows; None if the table is not wide."""
    if plan.kind not in ("labels", "gold"):
        return None
    given = next(((c, v) for c, v in plan.mapping.items() if isinstance(v, tuple)), None)
    if given is not None:
        keys = _keys_beside(plan, rows, given[1])
        none = {"reason": ""} if criteria_called_reasons(plan.columns, rows) else {}  # not by its name
        own = none | {c: g.column for c, g in keys.items()}
        return _wide_table(plan, *given, keys, own | dict(plan.mapping))
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
    """The plan of a response matrix; if strict and not sure, the problem asks whether rows or columns are systems."""
    other = matrix.rows_are
    guess = Guess(other, matrix.key, matrix.confidence, matrix.reason)
    rows, columns = (as_json({c: matrix.key, o: ["*"]}) for c, o in _WAYS)
    problem = (
        f"{plan.name} looks like a response matrix, {len(matrix.columns):,} columns wide, and does not say whether its "
        f"rows or its columns are the systems: say {rows} or {columns} (mapping)."
    )
    return replace(
        plan,
        title=f"a response matrix, one column for each {matrix.what}",
        mapping={other: matrix.key, matrix.what: matrix.columns},
        guesses=(guess,),
        reason=matrix.reason,
        problem=problem if strict and matrix.confidence < SURE else None,
    )


def _guess_spread(
    plan: FilePlan, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> tuple[str, tuple[str, ...]] | None:
    """(canonical column that each label column is, the label columns), with "annotator" for judges of gold; or None."""
    found = guess_spread(columns, rows, plan.mapping)
    if found is None:
        return None
    what = "annotator" if found[0] == "judge" and plan.kind == "gold" else found[0]
    return (what, found[1]) if what in SPECS[plan.kind].columns else None


def _keys_beside(plan: FilePlan, rows: tuple[Any, ...], wide: Sequence[str]) -> dict[str, Guess]:
    """Canonical column → guess, for the columns beside the wide ones."""
    labels = {*wide, *criteria_called_otherwise(plan.columns, rows)}
    guessed = guess_columns(plan.kind, [c for c in plan.columns if c not in labels], ())
    return {g.canonical: g for g in guessed if g.canonical != "label" and g.confidence > 0.5}


def _of_guess(
    plan: FilePlan, rows: tuple[Any, ...], what: str, wide: tuple[str, ...], *, strict: bool
) -> FilePlan | None:
    """The plan of a table whose label columns were guessed, with remarks and questions; None if a key is missing.

    what: the canonical column that each of the ``wide`` columns is. If only the system is missing beside rubrics, the
    problem asks for it.
    """
    keys = _keys_beside(plan, rows, wide)
    own = {c: g.column for c, g in keys.items()}
    if what == "rubric" and is_query(own, wide):
        own["query"] = own.pop("rubric")
    mapping = own | dict(plan.mapping) | {what: wide}
    remarks = list(plan.remarks)
    if what in ("judge", "annotator", "run") and "rubric" not in mapping:
        mapping["rubric"] = "=score"
        remarks.append(remark_on_one_rubric("score"))
    within, told = _named_within(what, wide, mapping)
    if plan.kind == "gold":
        within, told = _of_annotators(within, told)
    mapping |= within
    missing = set(SPECS[plan.kind].needed) - set(mapping) - {"label"}
    if missing - ({"system"} if what == "rubric" else set()):
        return None
    problem = no_system(plan, what, wide, within, own) if missing else plan.problem
    asked = what_they_are(plan, what, wide, own) if what in ("judge", "annotator") else ""
    if asked and strict:
        problem = f"In {plan.name} {asked}."
    asks = (asked_of_one_system, asked_of_scores)
    for doubt in filter(None, (ask(plan, rows, what, wide, mapping) for ask in asks)):
        problem = f"In {plan.name} {doubt}." if strict else problem
        remarks.append(doubt)
    if choices := ticked_among(plan.columns, rows):
        problem = ticks(plan.name, choices)
    beside = [asked] if asked else may_be_queries(what, wide, own | within)
    facts = remarks_on_facts(plan, rows, wide, mapping) if what == "rubric" else []
    others = remarks_on_others(plan, rows, what, wide, mapping) + remarks_on_left_out(plan, rows, what, wide)
    overall = remarks_on_overall(wide) if what == "rubric" else []
    overall += remarks_on_other_names(plan.columns, wide, rows) + remarks_on_repeated(plan, rows, what, wide)
    remarks += [*remarks_on_derived(plan, rows, what), *others, *told, *beside, *facts, *overall]
    return _wide_table(replace(plan, problem=problem, remarks=tuple(remarks)), what, wide, keys, mapping)


def _wide_table(
    plan: FilePlan, what: str, wide: tuple[str, ...], keys: dict[str, Guess], mapping: dict[str, Any]
) -> FilePlan:
    reasons, told = _reasons_beside(plan, wide)
    note = Guess(what, ", ".join(wide)[:200], 0.8, f"{len(wide)} columns hold labels, one {what} each")
    return replace(
        plan,
        title=f"a wide table, one column for each {what}",
        mapping=mapping | reasons,
        guesses=(*keys.values(), note),
        reason=f"{len(wide)} columns hold labels and none names the {what}",
        remarks=(*plan.remarks, *told),
    )


def _reasons_beside(plan: FilePlan, wide: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """({"reason": rule}, remarks) if columns of reasons (``clarity_reason``) are found, none mapped; or ({}, [])."""
    rule = "" if "reason" in plan.mapping else reason_rule(plan.columns, wide)
    if not rule:
        return {}, []
    some = listed([repr(c) for c in reasons_by(rule, plan.columns, wide).values()], 6)
    return {"reason": rule}, [f"the reasons are read from {some}"]


def _named_within(what: str, wide: Sequence[str], mapping: Columns) -> tuple[dict[str, str], Sequence[str]]:
    """(canonical column → crossing rule for further names in the wide columns' names, remarks).

    The names may also contain runs, queries, and judges or systems, such as ``gpt-4_tone``. Models are the systems if
    nothing else is, otherwise the judges.
    """
    names = spread_names([c for c in wide if what != "judge" or not is_truth(c)])
    if "run" not in mapping and (drawn := drawn_names(names)):
        own, first = without_draws(names), names[0].startswith(drawn[0][0])
        said = f"its columns are numbered draws ({', '.join(dict.fromkeys(run for run, _ in drawn))}) of each {what}"
        return _and_within(what, own, mapping, "run", said, first=first)
    if what == "judge" and not any(re.search(r"[^\W\d_]", c) for c in spread_names(wide)):
        return {}, [
            f"each is a judge: if they are repeated draws of one, give the mapping {json.dumps({'run': wide})}"
        ]
    if what != "run" and "query" not in mapping and (found := without_queries(wide)):
        queries, own, order = found
        named_queries = f"its columns name queries ({listed(queries, 6)})"
        within, others = _and_within(what, own, mapping, "query", named_queries, first=order == 1)
        asked = what == "rubric" and "system" in mapping and "judge" not in {*mapping, *within}
        beside = {**mapping, "query": within["query"].replace(what, "judge")}
        return within, [*others, *(may_be_judges(own, wide, beside) if asked else ())]
    if what in ("system", "judge") and (product := systems_times_judges(what, wide, mapping)):
        return product
    pairs = crossed_names(wide) if what == "rubric" else None
    if pairs is None:
        asked = what == "rubric" and "system" in mapping and "judge" not in mapping
        return {}, (may_be_crossed(what, wide) or may_be_judges(wide, wide, mapping)) if asked else ()
    named = tuple(dict.fromkeys(name for name, _ in pairs))
    people = [name for name in named if called_judge(name)]
    who = "system" if "system" not in mapping and not people else "judge"
    if who in mapping or ("system" not in mapping and 0 < len(people) < len(named)):
        return {}, ()
    if who == "judge" and all(map(names_a_system, named)):
        return {}, ()
    said = crossing(who, "rubric") if crossed_names(wide, 1) == pairs else crossing("rubric", who)
    told = f"its columns are {who}s ({', '.join(named)}) times criteria"
    if all(map(names_a_system, named)):
        told += "; if one stands for different systems in different queries, replace it by their names"
    elif who == "system":
        judged = mapping_of(what, wide, "judge", said.replace("system", "judge"), system="=…")
        told += f": if these are judges, give the mapping {judged}"
    return {who: said}, [told]


def _and_within(
    what: str, own: tuple[str, ...], mapping: Columns, other: str, said: str, *, first: bool
) -> tuple[dict[str, str], list[str]]:
    """``_named_within`` for columns whose names also contain ``other``, at their beginning if ``first``.

    own: the names without ``other``. said: the remark on ``other``.
    """
    within, told = _named_within(what, own, {**mapping, other: "="}) if len(own) > 1 else ({}, ())
    whole = [sentence for sentence in told if not sentence.startswith("if ")]
    told = [sentence.partition(": if ")[0] for sentence in whole]  # the offered mapping would not fit here
    return {other: crossing(other, what) if first else crossing(what, other), **within}, [said, *told]


def systems_times_judges(
    what: str, wide: Sequence[str], mapping: Columns
) -> tuple[dict[str, str], Sequence[str]] | None:
    """``_named_within`` for columns that are, or may be, systems times judges (``gpt-4_rater1``); None for others."""
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
    return ({}, may_be_crossed(what, wide)) if asked else None


def _of_annotators(within: dict[str, str], told: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The result of ``_named_within`` with annotators in place of judges, for gold labels."""
    named = {c.replace("judge", "annotator"): v.replace("{judge}", "{annotator}") for c, v in within.items()}
    return named, [
        sentence.replace("its columns are judges", "its columns are annotators") for sentence in told
    ]
