"""Find the query's column in a table of labels, from its rows, if no column is called query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..columns.label_names import is_measured
from ..columns.query_names import IDS_OF_ANSWERS, NAMES_OF_QUERIES, TURNS, bare_name, is_written
from ..columns.specs import names_of, plain_name
from ..columns.synonyms import INSTEAD_OF_RUBRIC, ITEMS
from ..plan import FilePlan
from .plan_cells import LEAST, cells_of, is_shared, of_one_system, parts_all, repeats, rows_of_keys, taken


def with_query(plan: FilePlan, rows: Sequence[Sequence[Any]], *, strict: bool) -> FilePlan:
    """The plan with the query's column if no column is called query: preferably one with a name of texts or tasks.

    If keys repeat without it, it must make all rows unique. If several columns do, but none by name, ``strict`` makes
    this a problem. If no column does, a query shared by the systems may be taken, else the plan is unchanged.
    """
    if plan.kind not in ("labels", "gold") or plan.problem or "query" in plan.mapping or len(rows) < LEAST:
        return plan
    before = rows_of_keys(plan, rows)
    if len(set(before)) == len(before):
        return _with_named_query(plan, rows)
    spread = bool(plan.wide)
    free = [c for c in plan.unused if c in plan.columns and not is_written(c)]
    free = [c for c in free if bare_name(c) in NAMES_OF_QUERIES or not is_measured(c)]
    sure = {c for c in free if bare_name(c) in NAMES_OF_QUERIES and bare_name(c) not in IDS_OF_ANSWERS}
    offers = [c for c in free if parts_all(cells_of(plan, rows, c), before, spread or c in sure)]
    systems = (
        cells_of(plan, rows, str(plan.mapping["system"]))
        if plan.mapping.get("system") in plan.columns
        else []
    )
    alone = {c: bool(systems) and of_one_system(cells_of(plan, rows, c), systems) for c in offers}
    offers.sort(key=lambda c: alone[c])
    named = sorted(
        (c for c in offers if bare_name(c) in NAMES_OF_QUERIES),
        key=lambda c: (alone[c], NAMES_OF_QUERIES.index(bare_name(c))),
    )
    criteria = [c for c in offers if plain_name(c) in INSTEAD_OF_RUBRIC]
    if criteria and not named and plain_name(str(plan.mapping.get("rubric", ""))) in ITEMS:
        return _with_items_as_queries(plan, criteria[0])
    if named or (offers and not strict):
        column = _id_of(named[0] if named else offers[0], offers, plan, rows)
        return _taken(plan, column, 0.75 if named else 0.4)
    if not offers:
        return _with_shared_query(plan, rows, before, systems)
    some = " or ".join(repr(c) for c in offers[:3])
    problem = (
        f"Rows of {plan.name} repeat the same system, rubric and judge, and no column is called query: say which "
        f'column says what each row is about, perhaps {some} ({{"query": "{offers[0]}"}} in the mapping).'
    )
    return replace(plan, problem=problem)


def with_texts_as_queries(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> FilePlan:
    """The plan with the text as the query and the question as the rubric (``doc_id``, ``question``), if this is better.

    It is better if keys repeat without the text, and no longer repeat with it. Otherwise the plan is unchanged.
    """
    question = plan.mapping.get("query")
    if plan.kind not in ("labels", "gold") or question not in plan.columns or len(rows) < LEAST:
        return plan
    before = rows_of_keys(plan, rows)
    if plain_name(str(question)) != "question" or len(set(before)) == len(before):
        return plan
    texts = (c for c in plan.unused if bare_name(c) in NAMES_OF_QUERIES)
    for text in sorted(texts, key=lambda c: NAMES_OF_QUERIES.index(bare_name(c))):
        asked = replace(plan, mapping={**plan.mapping, "rubric": question})
        after = rows_of_keys(replace(asked, mapping={**asked.mapping, "query": text}), rows)
        if repeats(after) or not all(cells_of(plan, rows, text)):
            continue
        kept = tuple(g for g in plan.guesses if g.canonical not in ("query", "rubric"))
        spare = [c for c in (plan.mapping.get("rubric"),) if c in plan.columns]
        asked = replace(asked, guesses=kept, unused=(*plan.unused, *spare))
        asked = taken(asked, "rubric", str(question), 0.75, f"it is asked of each {text!r}", "")
        remark = f"the query is its column {text!r}, because each {question!r}, which is the rubric, is asked of it"
        return taken(
            asked, "query", text, 0.75, "without it several rows would be about the same cell", remark
        )
    return plan


def turns_as_queries(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> str:
    """The rule that makes each turn of a conversation a query, such as "conversation_id + turn"; "" if not needed.

    It is needed if keys repeat without the turn, and no longer repeat with it.
    """
    turn = next((c for c in plan.unused if bare_name(c) in TURNS), None)
    if turn is None or plan.kind not in ("labels", "gold") or plan.problem or len(rows) < LEAST:
        return ""
    named = str(plan.mapping.get("query", ""))
    free = [c for c in plan.unused if c in plan.columns and bare_name(c) in NAMES_OF_QUERIES]
    free.sort(key=lambda c: NAMES_OF_QUERIES.index(bare_name(c)))
    turns = cells_of(plan, rows, turn)
    for whole in [named] if named in plan.columns else free:
        before = list(zip(rows_of_keys(plan, rows), cells_of(plan, rows, whole), strict=True))
        if len(set(before)) < len(rows) == len(set(zip(before, turns, strict=True))) and all(turns):
            return f"{whole} + {turn}"
    return ""


def _with_items_as_queries(plan: FilePlan, criterion: str) -> FilePlan:
    """The plan with the item as the query and ``criterion`` as the rubric: each item is rated on several criteria."""
    item = str(plan.mapping["rubric"])
    kept = tuple(g for g in plan.guesses if g.canonical != "rubric")
    moved = replace(plan, mapping={**plan.mapping, "query": item}, guesses=kept)
    remark = f"the query is its column {item!r}, because each has several values of {criterion!r}, which is the rubric"
    return taken(moved, "rubric", criterion, 0.75, f"each {item!r} has several of them", remark)


def _with_shared_query(
    plan: FilePlan,
    rows: Sequence[Sequence[Any]],
    before: Sequence[tuple[Any, ...]],
    systems: Sequence[Any],
) -> FilePlan:
    """The plan with a query column that is named like texts and shared by systems, although keys repeat with it."""
    for column in sorted(
        (c for c in plan.unused if c in plan.columns and bare_name(c) in NAMES_OF_QUERIES),
        key=lambda c: NAMES_OF_QUERIES.index(bare_name(c)),
    ):
        cells = cells_of(plan, rows, column)
        more = len(set(zip(before, cells, strict=True))) > len(set(before))
        if (
            bare_name(column) not in IDS_OF_ANSWERS
            and all(cells)
            and repeats(cells)
            and more
            and not of_one_system(cells, systems)
        ):
            remark = f"the query is its column {column!r}, because no column is called query"
            return taken(plan, "query", column, 0.75, f"{column!r} names what is answered", remark)
    return plan


def _with_named_query(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> FilePlan:
    """The plan with the query's column found by its name, if all rows have a value and systems share these values.

    Without it, the rubrics of different texts would belong to one query, and results for new queries would look too
    precise.
    """
    systems, rubrics = (cells_of(plan, rows, str(plan.mapping.get(c, ""))) for c in ("system", "rubric"))
    named = [c for c in plan.unused if c in plan.columns and bare_name(c) in NAMES_OF_QUERIES]
    for column in sorted(named, key=lambda c: NAMES_OF_QUERIES.index(bare_name(c))):
        cells = cells_of(plan, rows, column)
        if any(c in (None, "") for c in cells) or of_one_system(cells, systems):
            continue
        pairs = len(set(zip(rubrics, cells, strict=True)))
        groups = 1 < len(set(cells)) < len(set(rubrics)) == pairs
        shared = is_shared(cells, systems) and not 1 < len(set(rubrics)) <= pairs == len(set(cells))
        # Files of one system each may share running numbers.
        several = len(set(systems)) > 1 or all(str(c).isdigit() for c in cells)
        if bare_name(column) not in IDS_OF_ANSWERS or shared or (groups and several):
            remark = f"the query is its column {column!r}, because no column is called query"
            return taken(plan, "query", column, 0.75, f"{column!r} names what is answered", remark)
    return plan


def with_remark_on_own_queries(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> FilePlan:
    """The plan with a remark if no two systems share a query, but they share values of an unused column."""
    query, system = (str(plan.mapping.get(c, "")) for c in ("query", "system"))
    if query not in plan.columns or system not in plan.columns or len(rows) < LEAST:
        return plan
    systems = cells_of(plan, rows, system)
    if not of_one_system(cells_of(plan, rows, query), systems):
        return plan
    names = (*names_of("labels", "query"), *NAMES_OF_QUERIES)
    for column in sorted(
        (c for c in plan.unused if bare_name(c) in names), key=lambda c: names.index(bare_name(c))
    ):
        cells = cells_of(plan, rows, column)
        if all(cells) and len(set(cells)) > 1 and not of_one_system(cells, systems):
            remark = (
                f"no two systems share a value of its column {query!r}, which is taken as the query, but they share "
                f'those of {column!r}: if that is what each row is about, map it ({{"query": "{column}"}})'
            )
            return plan.with_remarks(remark)
    return plan


def with_remark_on_own_rubrics(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> FilePlan:
    """The plan with a remark if no two systems share a rubric, although some rubric has several rows.

    The column of the rubric then probably names answers, such as ``item_id`` of each model's answers.
    """
    rubric, system, label = (str(plan.mapping.get(c, "")) for c in ("rubric", "system", "label"))
    if rubric not in plan.columns or system not in plan.columns or len(rows) < LEAST:
        return plan
    systems, rubrics = cells_of(plan, rows, system), cells_of(plan, rows, rubric)
    several = len(set(systems)) > 1 and repeats(rubrics)
    if not several or not all(rubrics) or not of_one_system(rubrics, systems):
        return plan
    remark = (
        f"no two systems share a value of its column {rubric!r}, which is taken as the rubric: if it distinguishes "
        "answers or queries, give the mapping "
        f'{{"query": "{rubric}", "rubric": "={plain_name(label) or "score"}"}}'
    )
    return plan.with_remarks(remark)


def _id_of(text: str, offers: Sequence[str], plan: FilePlan, rows: Sequence[Sequence[Any]]) -> str:
    """The id column that maps one to one to a text column: ``item_id`` for ``context``; else the text column."""
    cells = cells_of(plan, rows, text)
    if bare_name(text).endswith("id"):
        return text
    for column in (c for c in offers if bare_name(c).endswith("id")):
        own = cells_of(plan, rows, column)
        if len(set(own)) == len(set(cells)) == len(set(zip(own, cells, strict=True))):
            return column
    return text


def _taken(plan: FilePlan, column: str, sure: float) -> FilePlan:
    why = "without it several rows would be about the same cell"
    remark = f"the query is its column {column!r}; without it several rows would be about the same cell"
    return taken(plan, "query", column, sure, why, remark)
