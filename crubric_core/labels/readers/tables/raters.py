"""Find the judge if no column is called judge: columns named after raters, respondents of a survey, or a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ....text import as_json
from ..columns.label_names import (
    ENDINGS,
    NOTED,
    RATERS,
    RATERS_OR_LABELS,
    is_date,
    is_measured,
    is_setting,
    may_hold_labels,
)
from ..columns.query_names import bare_name, is_written
from ..columns.specs import rater_of
from ..guess import ENOUGH, profile
from ..plan import FilePlan
from ..wide.column_names import is_crossing
from .plan_cells import LEAST, cells_of, repeats, rows_of_keys, taken
from .query_column import (
    with_query,
    with_remark_on_own_queries,
    with_remark_on_own_rubrics,
    with_texts_as_queries,
)

_RESPONSE = "response_id"  # the respondent in Qualtrics or LimeSurvey; elsewhere perhaps a system's response
_NUMBERED = {"ID", "Start time", "Completion time"}  # columns of Microsoft Forms, which numbers the responses
_LONGEST = 60  # largest mean number of characters in a column of names


def settled(plan: FilePlan, rows: Sequence[Sequence[Any]], *, strict: bool) -> FilePlan:
    """The plan with judge and query found if no column has their names, and a remark or ``apart`` on repeated keys."""
    if plan.kind not in ("labels", "gold") or plan.problem:
        return plan
    named = with_query(with_texts_as_queries(_with_rater(plan, rows), rows), rows, strict=strict)
    if named.problem:
        return named
    remarked = with_remark_on_own_rubrics(with_remark_on_own_queries(named, rows), rows)
    complete = with_distinguishing_column(_with_respondent(remarked, rows), rows)
    asked = "" if complete.apart else _several_answers(complete, rows)
    if asked and strict:
        return replace(complete, problem=f"In {plan.name} {asked}.")
    return complete.with_remarks(asked) if asked else complete


def _with_rater(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> FilePlan:
    """The plan with a column named after raters (``rated_by``) as the judge, if there is no judge yet and no gold."""
    if rater_of(plan.kind) in plan.mapping or plan.gold:
        return plan
    words = (*RATERS, *RATERS_OR_LABELS)
    named = [c for c in plan.unused if bare_name(c) in words and _may_rate(c, cells_of(plan, rows, c))]
    named = [c for c in named if bare_name(c) in RATERS or not _names_rubrics(plan, rows, c)]
    if not named and set(plan.columns) >= _NUMBERED and "ID" in plan.unused:
        return _as_judge(plan, "ID")
    return _as_judge(plan, min(named, key=lambda c: words.index(bare_name(c)))) if named else plan


def _names_rubrics(plan: FilePlan, rows: Sequence[Sequence[Any]], column: str) -> bool:
    """Whether each rubric has one value of a column of its own: the id of a check (``verifier``), and no judge."""
    rubrics, ids = (cells_of(plan, rows, c) for c in (str(plan.mapping.get("rubric", "")), column))
    return len(set(zip(rubrics, ids, strict=False))) == len(set(rubrics)) == len(set(ids)) > 1


def _may_rate(column: str, cells: Sequence[Any]) -> bool:
    """Whether a column named after raters holds their names, not their labels or only "anonymous"."""
    named = {str(c).lower() for c in cells if c} != {"anonymous"}  # as Microsoft Forms writes of all
    return named and _may_be_names(cells) and (bare_name(column) in RATERS or not profile(cells).labels)


def _with_respondent(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> FilePlan:
    """The plan of a survey with its respondents as judges, if keys repeat or some respondent has several rows."""
    if rater_of(plan.kind) in plan.mapping or len(NOTED.intersection(plan.columns)) < 2:
        return plan
    for column in plan.unused:
        cells = cells_of(plan, rows, column)
        several = repeats(cells) or repeats(rows_of_keys(plan, rows))
        if bare_name(column) == _RESPONSE and several and _are_names(cells):
            return _as_judge(plan, column)
    return plan


def _as_judge(plan: FilePlan, column: str) -> FilePlan:
    remark = f"the judge is its column {column!r}"
    return taken(plan, rater_of(plan.kind), column, 0.75, "its name, and no column is called judge", remark)


def with_distinguishing_column(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> FilePlan:
    """The plan with ``apart``: the unused column that distinguishes most of the rows with the same key."""
    before = rows_of_keys(plan, rows)
    if len(rows) < LEAST or not repeats(before):
        return plan
    keys = len(set(before))
    parted: dict[str, int] = {}
    for column in plan.unused:
        named = column in plan.columns and not is_measured(column) and not is_date(column)
        cells = cells_of(plan, rows, column) if named and not is_written(column) else []
        if (
            _are_names(cells)
            and not _holds_scores(plan, column, cells)
            and 1 < len(set(cells)) <= max(2, len(rows) // 2)
        ):
            parted[column] = len(set(zip(before, cells, strict=True)))
    best = max(parted, key=lambda c: (parted[c], -len(set(cells_of(plan, rows, c)))), default="")
    return replace(plan, apart=best) if parted.get(best, 0) > keys else plan


def _holds_scores(plan: FilePlan, column: str, cells: Sequence[Any]) -> bool:
    """Whether a column's cells are scores, or labels by its name, or labels beside columns of judges times criteria."""
    held = profile(cells)
    scores = held.scores >= ENOUGH or (held.labels >= ENOUGH and any("." in cell for cell in cells))
    named = bare_name(column).rpartition("_")[2] in ENDINGS
    crossed = any(isinstance(rule, str) and is_crossing(rule) for rule in plan.mapping.values())
    alike = held.labels >= ENOUGH and (named or (crossed and may_hold_labels(column)))
    return (scores or alike) and not is_setting(column)


def _are_names(cells: Sequence[Any]) -> bool:
    """Whether all cells are filled, with short texts."""
    return all(cells) and _may_be_names(cells)


def _may_be_names(cells: Sequence[Any]) -> bool:
    """Whether the filled cells are short texts; rows with an empty cell are rejected when the file is read."""
    known = [c for c in cells if c]
    return bool(known) and sum(map(len, known)) <= _LONGEST * len(known)


def _several_answers(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> str:
    """The question if, by an unused id, a system has several answers to one query; "" elsewhere.

    Repeated keys do not reveal these answers, because different judges rated each of them.
    """
    keys = [plan.mapping.get(c) for c in ("system", "query", rater_of(plan.kind))]
    if len(rows) < LEAST or "run" in plan.mapping or not all(k in plan.columns for k in keys):
        return ""
    *about_cells, judges = (cells_of(plan, rows, str(k)) for k in keys)
    about = list(zip(*about_cells, strict=True))
    for column in plan.unused:
        if bare_name(column) not in _IDS or column not in plan.columns:
            continue
        ids = cells_of(plan, rows, column)
        several, of_one = len(set(zip(about, ids, strict=True))), len(set(ids))
        shared = len(set(zip(ids, judges, strict=True))) > of_one  # else it is the id of a single judgement
        if not all(ids) or not shared or several > of_one or several < 2 * len(set(about)):
            continue
        beside = next(
            (c for c in plan.unused if c != column and _groups_answers(plan, rows, c, about, ids)), ""
        )
        query = as_json({"query": f"{keys[1]} + {beside or column}"})
        run = as_json({"run": column})
        return (
            f"by its column {column!r}, a system has several answers to one query: if they answer different queries, "
            f"give the mapping {query}; if they are repeated draws, give {run}"
        )
    return ""


_IDS = frozenset(("response_id", "answer_id", "output_id", "completion_id", "generation_id", "summary_id"))


def _groups_answers(
    plan: FilePlan, rows: Sequence[Sequence[Any]], column: str, about: Sequence[Any], ids: Sequence[Any]
) -> bool:
    """Whether a column has fewer values than there are answers (``ids``) and, within each key, maps to them."""
    cells = cells_of(plan, rows, column)
    names = _are_names(cells) and len(set(cells)) < len(set(ids))
    pairs = set(zip(about, cells, strict=True))
    return names and len(pairs) == len(set(zip(about, cells, ids, strict=True))) == len(set(ids))


def question(plan: FilePlan) -> str:
    """The question if rows with the same key differ in the unused column ``plan.apart``; "" if there is none."""
    if not plan.apart or plan.apart in plan.mapping.values():
        return ""
    judged = any(c in plan.mapping for c in ("judge", "annotator"))
    judge = "" if judged or is_setting(plan.apart) else f'{{"{rater_of(plan.kind)}": "{plan.apart}"}}'
    run = f'{{"run": "{plan.apart}"}}' if plan.kind == "labels" and "run" not in plan.mapping else ""
    fixed = str(plan.mapping.get("system", "")).startswith("=")
    system = f'{{"system": "{plan.apart}"}}' if fixed else ""
    meanings = {"which system was judged": system, "who judged": judge, "which draw it is": run}
    whose = " or ".join(meaning for meaning, way in meanings.items() if way)
    ways = " or ".join(way for way in meanings.values() if way)
    remedy = f"if it says {whose}, map it ({ways}); " if ways else ""
    apart = "queries" if fixed else "systems or queries"
    return (
        f"rows of the same cell differ in its column {plan.apart!r}, which is not used: {remedy}if it distinguishes "
        f"{apart}, add it to their names{_joined(plan)}"
    )


def _joined(plan: FilePlan) -> str:
    """The mappings that add ``plan.apart`` to the names of systems or queries, or make it the query; in brackets."""
    named = {c: plan.mapping.get(c) for c in ("system", "query")}
    ways = [f'{{"{c}": "{v} + {plan.apart}"}}' for c, v in named.items() if v in plan.columns]
    ways += [] if "query" in plan.mapping else [as_json({"query": plan.apart})]
    return f" ({' or '.join(ways)})" if ways else ""
