"""Recognise the kind of a table (labels, rubrics, queries, ...) from its column names and, if needed, its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ....errors import IngestError
from ..columns.query_names import is_written
from ..columns.specs import SPECS, Kind, choose_columns, names_of, plain_name
from ..guess import ENOUGH, MODEL, cells_at, filled_cells, guess_kind, profile
from ..plan import Columns, FilePlan
from ..wide.label_columns import label_columns, named_after_models, only_criterion
from ..wide.spread import guess_spread
from .open_questions import one_rubric
from .plan_cells import repeats


def kind_of_table(name: str, columns: tuple[str, ...], rows: tuple[Any, ...], mapping: Columns) -> Kind:
    """The kind of a table by its column names; "labels" if its rows or the mapping show that it holds labels."""
    kind = guess_kind(name, columns)
    plan = FilePlan(name, "", kind=kind, columns=columns, mapping=mapping)
    foreign = not set(mapping) <= set(SPECS[kind].columns)
    wide = kind in ("queries", "rubrics") and named_after_models(columns, rows)
    lists = kind == "rubrics" and _names_are_lists(columns, rows)
    held = kind in _HOLDING and _HOLDING[kind](plan, rows)
    return "labels" if foreign or wide or lists or held else kind


def _with_labels(answers: FilePlan, rows: tuple[Any, ...]) -> bool:
    """Whether a table of answers also has labels: one column for each criterion, or one score for each answer.

    Or the answers are the labels: answers of a judge to questions on each system's text.
    """
    if _are_verdicts(answers, rows):
        return True
    if guess_spread(answers.columns, rows, answers.mapping):
        return True
    labels = replace(answers, kind="labels")
    named, fixed = columns_and_constants(answers.mapping)
    named |= only_criterion(labels, rows, named, fixed)
    return one_rubric(labels, rows, named, fixed) is not None


def _are_verdicts(answers: FilePlan, rows: tuple[Any, ...]) -> bool:
    """Whether the column of answers looks like labels, and a system has several of them for one query."""
    named, fixed = columns_and_constants(answers.mapping)
    try:
        at = choose_columns("answers", with_fixed(answers.columns, fixed), named, answers.name)
    except IngestError:
        return False
    keys = [tuple(cells_at(rows, i)) for c, i in at.items() if c != "text"]
    repeated = len(set(zip(*keys, strict=True))) < len(rows)
    return repeated and _are_labels(rows, at["text"])


def _repeat_systems(plan: FilePlan, rows: tuple[Any, ...]) -> bool:
    """Whether a ranking or a table of systems has several rows for one system, so that they are its labels."""
    # For a ranking, a system from the file's path is ignored.
    named, _ = columns_and_constants(plan.mapping)
    try:
        at = choose_columns(plan.kind, plan.columns, named, plan.name)["system"]
    except IngestError:
        return False
    return repeats(filled_cells(rows, at))


def _are_of_models(gold: FilePlan, rows: tuple[Any, ...]) -> bool:
    """Whether columns of labels are named after models, so that a file named "gold" holds ordinary labels."""
    return any(MODEL.search(column) for column in label_columns(gold.columns, rows))


def _holds_labels(queries: FilePlan, rows: tuple[Any, ...]) -> bool:
    """Whether a table of queries also holds labels: beside a column of answers or judges, or without descriptions."""

    def named(kind: Kind, canonical: str) -> set[str]:
        names = names_of(kind, canonical)
        return {c for c in queries.columns if plain_name(c) in names}

    label = {c for c in named("labels", "label") if _are_labels(rows, queries.columns.index(c))}
    if any(map(is_written, queries.columns)):
        return bool(label) or len(label_columns(queries.columns, rows)) > 1
    described = {c for canonical in SPECS["queries"].values for c in named("queries", canonical)} - label
    return bool(label) and (not described or bool(named("labels", "judge")))


def _are_labels(rows: tuple[Any, ...], at: int) -> bool:
    return profile(cells_at(rows, at)).labels >= ENOUGH


# kind of table by its column names → test whether its rows hold labels nevertheless
_HOLDING: Mapping[str, Callable[[FilePlan, tuple[Any, ...]], bool]] = {
    "answers": _with_labels,
    "reference": _repeat_systems,
    "systems": _repeat_systems,
    "gold": _are_of_models,
    "queries": _holds_labels,
}


def _names_are_lists(columns: Sequence[str], rows: tuple[Any, ...]) -> bool:
    """Whether the column of rubric names holds JSON lists or objects: several criteria in each row."""
    at = choose_columns("rubrics", columns, None, "")["rubric"]
    cells = filled_cells(rows, at)
    return bool(cells) and all(c.lstrip().startswith(("[", "{")) for c in cells)


def with_fixed(columns: tuple[str, ...], fixed: Columns) -> tuple[str, ...]:
    """The columns, and an additional one for each canonical column that is constant, for ``choose_columns``."""
    return (*columns, *(canonical for canonical in fixed if canonical not in columns))


def columns_and_constants(mapping: Columns) -> tuple[dict[str, str], dict[str, str | tuple[str, ...]]]:
    """(the part of a mapping that names single columns, the rest: constants "=value" and tuples of columns)."""
    named = {c: v for c, v in mapping.items() if isinstance(v, str) and not v.startswith("=")}
    return named, {c: v for c, v in mapping.items() if c not in named}
