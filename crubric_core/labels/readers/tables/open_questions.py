"""Settle from the rows what column names leave open: the label, the system, the ids, and a single rubric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ....errors import IngestError
from ....text import as_json
from ..columns.label_names import PREDICTED, RATERS, called_after_criteria
from ..columns.query_names import NAMES_OF_QUERIES, bare_name
from ..columns.specs import choose_columns, names_of, plain_name, rater_of, synonyms_of
from ..columns.synonyms import INSTEAD_OF_LABEL, INSTEAD_OF_RUBRIC, ITEMS
from ..ground_truth import is_truth
from ..guess import profile
from ..plan import FilePlan
from ..wide.column_names import repeats_among
from ..word_lists import word_set
from ..words import is_abc, is_number, letters_of, levels_of
from .plan_cells import LEAST, cells_of, of_one_system, parts_all, repeats

_OF_RUBRICS = (  # names of columns that describe an item as a rubric
    "weight points importance description item_text item_description item_weight max_score criterion_text "
    "criteria_text rubric_text scale_min scale_max pass_mark polarity severity"
)
_OF_ROWS = ("id", "uid", "uuid", "hash", "index", "idx")  # names that may number rows, not texts or tasks
_RIGHT = frozenset(("correct", "is_correct", "match", "exact_match", "right"))
_POINTS = ("points", "points_given", "pts")
_MOST_POINTS = word_set(
    "max_points max_score max_pts max_point max_marks maximum_points points_possible possible_points "
    "total_points max maximum out_of"
)
_LABELS, _NO_LABELS = 0.8, 0.5  # share of label-like cells: at least this in labels, below this in others


def remarks_on_label(found: Mapping[str, str]) -> list[str]:
    """Remarks on a label that is a prediction beside ground truth, or points beside the highest possible points."""
    label = found.get("label", "")
    if not label:
        return []
    if plain_name(label).startswith(("pred", "y_pred")):
        return [f"the label is its column {label!r}, because ground truth stands beside it"]
    points = plain_name(label) in _POINTS
    return (
        [f"the label is its column {label!r}, because the highest possible points stand beside it"]
        if points
        else []
    )


def label_by_content(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> dict[str, str]:
    """{"label": column} where several columns have names of labels: the only one with cells, or with label-like cells.

    If several order all rows alike (a verdict and its score), it is the first with whole levels. If ``correct`` stands
    beside predictions (``prediction``), or beside labels that are only A, B or C, it is the label, because the other
    column named like a label is the right answer of the task. {} if the rows do not settle it.
    """
    if plan.kind not in ("labels", "gold") or "label" in plan.mapping:
        return {}
    right = [c for c in plan.columns if plain_name(c) in _RIGHT]
    if len(right) == 1 and any(plain_name(c) in PREDICTED for c in plan.columns):
        return {"label": right[0]}
    names = names_of(plan.kind, "label")
    named = [c for c in plan.columns if plain_name(c) in names]
    if not named and (label := _predicted_of_rubrics(plan, rows) or _points_of_rubrics(plan, rows)):
        return {"label": label}
    if len(right) == 1 and named and all(is_abc(letters_of(cells_of(plan, rows, c))) for c in named):
        return {"label": right[0]}
    if len(named) < 2 or any(plain_name(c) == "label" for c in named):
        return {}
    held = {c: found for c in named if (found := profile(cells_of(plan, rows, c))).known}
    if len(held) < 2:
        return {"label": next(iter(held))} if held else {}
    alike = [c for c in held if held[c].labels >= _LABELS]
    if len(alike) == len(held):
        return _first_of_same_order({c: cells_of(plan, rows, c) for c in alike})
    others = [c for c in held if held[c].labels < _NO_LABELS]
    return {"label": alike[0]} if len(alike) == 1 and len(others) == len(held) - 1 else {}


def _predicted_of_rubrics(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> str:
    """The column of a judge's predictions (``predicted_score``) beside ground truth of each rubric; "" if none."""
    predicted = [c for c in plan.columns if plain_name(c) in PREDICTED | {"predicted_score", "y_pred"}]
    truths = [c for c in plan.columns if is_truth(c) and profile(cells_of(plan, rows, c)).labels >= _LABELS]
    return predicted[0] if len(predicted) == 1 and truths and _names_rubrics(plan) else ""


def _points_of_rubrics(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> str:
    """The column ``points`` beside ``max_points`` if it looks like labels and no other column is the label; or ""."""
    points = [c for c in plan.columns if plain_name(c) in _POINTS]
    most = any(plain_name(c) in _MOST_POINTS for c in plan.columns)
    others = any(plain_name(c) in INSTEAD_OF_LABEL for c in plan.columns)
    if len(points) != 1 or not most or others or not _names_rubrics(plan):
        return ""
    return points[0] if profile(cells_of(plan, rows, points[0])).labels >= _LABELS else ""


def _names_rubrics(plan: FilePlan) -> bool:
    names = (*names_of(plan.kind, "rubric"), *INSTEAD_OF_RUBRIC)
    return any(plain_name(c) in names for c in plan.columns)


def rubrics_called_judges(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> tuple[dict[str, str], list[str]]:
    """({"rubric": column}, remarks) if a column called like judges (``evaluator``) holds criteria; else ({}, []).

    Only in tables with a label but without a column named after rubrics.
    """
    if plan.kind not in ("labels", "gold") or {"rubric", "judge", "annotator"} & set(plan.mapping):
        return {}, []
    judges = (*names_of("labels", "judge"), *RATERS)
    label = any(plain_name(c) in names_of("labels", "label") for c in plan.columns)
    for column in plan.columns if label and not _names_rubrics(plan) else ():
        names = {str(cell) for cell in cells_of(plan, rows, column) if cell}
        if plain_name(column) in judges and called_after_criteria(list(names)):
            who = rater_of(plan.kind)
            say = as_json({who: column, "rubric": "=score"})
            asked = f"if it names judges, give the mapping {say}"
            return {"rubric": column}, [f"the rubric is its column {column!r}, which names criteria: {asked}"]
    return {}, []


def _first_of_same_order(given: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """{"label": column} of the first column with whole levels, if all columns order the rows alike; else {}.

    given: column → its cells.
    """
    levels = {}
    for column, cells in given.items():
        words = levels_of(str(c) for c in cells if c)
        levels[column] = [float(c) if c and is_number(c) else words.get(c) for c in cells]
    first, *others = levels.values()
    for other in others:
        pairs = set(zip(first, other, strict=True))
        ordered = sorted((a, b) for a, b in pairs if a is not None and b is not None)
        if len(ordered) < max(2, len(pairs)) or any(a >= c or b >= d for (a, b), (c, d) in pairwise(ordered)):
            return {}
    whole = [c for c, own in levels.items() if all(x is None or float(x).is_integer() for x in own)]
    return {"label": whole[0]} if whole else {}


def runs_as_systems(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> dict[str, str]:
    """{"system": column} of the runs, if no column is called a system and the runs have names, as in TREC; else {}."""
    if plan.kind not in ("labels", "gold") or "system" in plan.mapping:
        return {}
    systems = names_of("labels", "system")
    runs = [c for c in plan.columns if plain_name(c) in ("run", "run_id")]
    if len(runs) != 1 or any(plain_name(c) in systems for c in plan.columns):
        return {}
    return {"system": runs[0]} if names_runs(cells_of(plan, rows, runs[0])) else {}


def names_runs(values: Sequence[Any]) -> bool:
    """Whether runs have names, not numbers, and each occurs in at least two records on average: they are systems."""
    names = {str(v) for v in values if v not in (None, "")}
    numbered = repeats_among(tuple(names)) or any(name.isdigit() for name in names)
    return bool(names) and 2 * len(names) <= len(values) and not numbered


def ids_of_labels(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> dict[str, str]:
    """Query and rubric as their text columns, if the ids beside them never occur with two systems; else {}.

    Such ids belong to single answers or labels. With texts of a query that map one to one to its id, the id is used.
    """
    system = next((c for c in plan.columns if plain_name(c) in names_of("labels", "system")), None)
    if plan.kind not in ("labels", "gold") or len(rows) < LEAST:
        return {}
    if system is None:
        return _ids_of_texts(plan, rows)
    systems = cells_of(plan, rows, system)
    found: dict[str, str] = {}
    for canonical in {"query", "rubric"} - set(plan.mapping):
        names = {plain_name(c): c for c in plan.columns if plain_name(c) in synonyms_of("labels", canonical)}
        for name, column in names.items():
            text = names.get(name.removesuffix("_id"), column)
            if of_one_system(cells_of(plan, rows, column), systems) and not of_one_system(
                cells_of(plan, rows, text), systems
            ):
                found[canonical] = text
    return _ids_of_texts(plan, rows) | found


def mapped_one_to_one(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> dict[str, str]:
    """System and judge if two columns map one to one: ``judge_id`` for ``judge_id`` beside ``judge_model``."""
    found: dict[str, str] = {}
    if plan.kind not in ("labels", "gold"):
        return found
    for canonical in {"system", rater_of(plan.kind)} - set(plan.mapping):
        names = names_of(plan.kind, canonical)
        called = [c for c in plan.columns if plain_name(c) in names]
        columns = sorted(called, key=lambda c: names.index(plain_name(c)))
        cells = [cells_of(plan, rows, c) for c in columns]
        distinct = {len(set(own)) for own in cells} | {len(set(zip(*cells, strict=True)))}
        of_one = len({plain_name(c).partition("_")[0] for c in columns}) == 1
        if len(columns) > 1 and of_one and len(distinct) == 1 and all(map(all, cells)):
            found[canonical] = columns[0]
    return found


def _ids_of_texts(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> dict[str, str]:
    """{"query": id column} if several columns named like queries map one to one: ``task_id`` and ``question``."""
    named = [c for c in plan.columns if plain_name(c) in names_of("labels", "query")]
    ids = [c for c in named if plain_name(c).endswith("_id")]
    if "query" in plan.mapping or len(named) < 2 or len(ids) != 1:
        return {}
    cells = [cells_of(plan, rows, c) for c in named]
    distinct = {len(set(own)) for own in cells} | {len(set(zip(*cells, strict=True)))}
    return {"query": ids[0]} if len(distinct) == 1 and all(map(all, cells)) else {}


def one_rubric(
    plan: FilePlan, rows: Sequence[Sequence[Any]], named: Mapping[str, str], fixed: Mapping[str, Any]
) -> str | None:
    """The name (the label's column) of the only rubric of a table with one score for each system, query and judge.

    None for any other table. named: canonical column → column. fixed: constants and tuples of columns in the mapping.
    """
    if plan.kind not in ("labels", "gold") or "rubric" in {*named, *fixed} or not rows:
        return None
    columns = (*plan.columns, *fixed)
    try:
        choose_columns(plan.kind, columns, named, plan.name)
    except IngestError:
        pass
    else:
        return None
    try:
        chosen = choose_columns(plan.kind, (*columns, "rubric"), named, plan.name)
    except IngestError:
        return None
    keys = [i for c, i in chosen.items() if c not in ("label", "reason", "rubric") and i < len(plan.columns)]
    own = [tuple(row[i] if i < len(row) else None for i in keys) for row in rows]
    label = chosen["label"]
    if label >= len(plan.columns):
        return None
    if "query" in chosen:
        return plan.columns[label] if len(set(own)) == len(own) else None
    free = [
        c for i, c in enumerate(plan.columns) if i not in chosen.values() and bare_name(c) in NAMES_OF_QUERIES
    ]
    spread_known = len(own) >= LEAST and any(
        parts_all(cells_of(plan, rows, c), own, spread=False) for c in free
    )
    return plan.columns[label] if spread_known else None


def items_alone(
    plan: FilePlan, rows: Sequence[Sequence[Any]], named: Mapping[str, str], fixed: Mapping[str, Any]
) -> tuple[dict[str, str], str]:
    """({"query": column, "rubric": constant} if ``item_id`` is the only name of what is labelled, a remark on it).

    If the column is called ``item``, another column may be the query, or rubrics are described, it stays the rubric and
    the mapping is {}. Both readings are possible, so the remark offers the other one. ({}, "") for other tables.
    """
    if plan.kind not in ("labels", "gold") or {"rubric", "query"} & {*named, *fixed}:
        return {}, ""
    lent = () if "system" in {*named, *fixed} else ("system",)
    for columns in ((*plan.columns, *fixed), (*plan.columns, *fixed, *lent)):
        try:
            chosen = choose_columns(plan.kind, columns, named, plan.name)
        except IngestError:
            continue
        item, label = (columns[chosen[c]] for c in ("rubric", "label"))
        if plain_name(item) not in ITEMS or any(plain_name(c) in INSTEAD_OF_RUBRIC for c in columns):
            return {}, ""
        as_queries = {"query": item, "rubric": f"={label}"}
        keys = [columns[i] for name, i in chosen.items() if name not in ("label", "reason")]
        about = list(zip(*(cells_of(plan, rows, c) for c in keys), strict=True))
        if repeats(about):  # another question asks how these rows differ
            return {}, ""
        others = {bare_name(c) for c in plan.columns if c != item}.difference(_OF_ROWS)
        stays = others.intersection((*NAMES_OF_QUERIES, *_OF_RUBRICS.split()))
        if plain_name(item) == "item" or "query" in chosen or stays:
            say = as_json(as_queries)
            return {}, f"the rubric is its column {item!r}: if each item is a query, give the mapping {say}"
        say = as_json({"rubric": item})
        return as_queries, (
            f"the query is its column {item!r}, and {label!r} is taken as the only rubric of each: if each item is a "
            f"rubric, give the mapping {say}"
        )
    return {}, ""


def asked_of_predictions(plan: FilePlan, label: str) -> str:
    """The question on a column ``label`` beside predictions, which may be the right answer of a task; "" elsewhere."""
    predicted = [c for c in plan.columns if plain_name(c) in PREDICTED]
    if plain_name(label) != "label" or not predicted or "label" in plan.mapping:
        return ""
    say = as_json({"label": label})
    return (
        f"{predicted[0]!r} stands beside {label!r}: if {label!r} is the right answer of a task, write whether each "
        f"prediction is right into a column called correct; if it says how good an answer is, give the mapping {say}"
    )


def asked_of_key(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> str:
    """The question on a label (``correct``) that may be the right choice of each query; "" elsewhere.

    The label is the same for all systems of each query, and its values are among those of another column, in which the
    systems differ: their choices.
    """
    label, query = plan.mapping.get("label"), plan.mapping.get("query")
    if label not in plan.columns or query not in plan.columns or plain_name(label) not in _RIGHT:
        return ""
    right, queries = cells_of(plan, rows, label), cells_of(plan, rows, query)
    about = len(set(queries))
    few = about < LEAST and not letters_of(right)  # it may be a coincidence
    if few or len(set(right)) < 2 or len(set(zip(queries, right, strict=True))) > about:
        return ""
    for column in plan.columns:
        chosen = cells_of(plan, rows, column)
        several = len(set(zip(queries, chosen, strict=True))) > about
        if column not in plan.mapping.values() and several and set(right) <= set(chosen):
            say = as_json({"label": label})
            return (
                f"{label!r} is the same for all systems of each query, and a value of {column!r}: if it is the "
                "right choice of each question, replace it by whether each answer is right (1 or 0); if it says how "
                f"good an answer is, give the mapping {say}"
            )
    return ""
