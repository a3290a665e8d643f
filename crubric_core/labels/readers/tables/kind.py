"""What kind of rows a table has: by the names of its columns, and by the rows where these tell more."""

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
    """The kind of a table; labels where its rows, or a mapping for labels, say more than the names of its columns."""
    kind = guess_kind(name, columns)
    plan = FilePlan(name, "", kind=kind, columns=columns, mapping=mapping)
    foreign = not set(mapping) <= set(SPECS[kind].columns)
    wide = kind in ("queries", "rubrics") and named_after_models(columns, rows)
    lists = kind == "rubrics" and _names_are_lists(columns, rows)
    held = kind in _HOLDING and _HOLDING[kind](plan, rows)
    return "labels" if foreign or wide or lists or held else kind


def _with_labels(answers: FilePlan, rows: tuple[Any, ...]) -> bool:
    """Whether a table of answers has labels beside them: a column a criterion, or one score of each answer.

    Or it has them in the place of answers: a judge answers what is asked of each system's text.
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
    """Whether what would be a system's answers look like labels, and several are of one system and query."""
    named, fixed = columns_and_constants(answers.mapping)
    try:
        at = choose_columns("answers", with_fixed(answers.columns, fixed), named, answers.name)
    except IngestError:
        return False
    keys = [tuple(cells_at(rows, i)) for c, i in at.items() if c != "text"]
    repeated = len(set(zip(*keys, strict=True))) < len(rows)
    return repeated and _are_labels(rows, at["text"])


def _repeat_systems(plan: FilePlan, rows: tuple[Any, ...]) -> bool:
    """Whether a ranking, or a table of systems, has several rows of one: these are its labels on several queries."""
    # A ranking is read without the system that a path may name.
    named, _ = columns_and_constants(plan.mapping)
    try:
        at = choose_columns(plan.kind, plan.columns, named, plan.name)["system"]
    except IngestError:
        return False
    return repeats(filled_cells(rows, at))


def _are_of_models(gold: FilePlan, rows: tuple[Any, ...]) -> bool:
    """Whether columns of labels are named after models, whatever the name of the file says of gold labels."""
    return any(MODEL.search(column) for column in label_columns(gold.columns, rows))


def _holds_labels(queries: FilePlan, rows: tuple[Any, ...]) -> bool:
    """Whether a table of queries has answers, whoever gave them, and labels of these; or judges, or labels alone."""

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


# kind of table that names alone tell → whether its rows hold labels all the same
_HOLDING: Mapping[str, Callable[[FilePlan, tuple[Any, ...]], bool]] = {
    "answers": _with_labels,
    "reference": _repeat_systems,
    "systems": _repeat_systems,
    "gold": _are_of_models,
    "queries": _holds_labels,
}


def _names_are_lists(columns: Sequence[str], rows: tuple[Any, ...]) -> bool:
    """Whether what would be the names of rubrics are lists or objects of JSON: several criteria in each row."""
    at = choose_columns("rubrics", columns, None, "")["rubric"]
    cells = filled_cells(rows, at)
    return bool(cells) and all(c.lstrip().startswith(("[", "{")) for c in cells)


def with_fixed(columns: tuple[str, ...], fixed: Columns) -> tuple[str, ...]:
    """The columns, and one more for each that is the same for the whole file, for the choice to count them in."""
    return (*columns, *(canonical for canonical in fixed if canonical not in columns))


def columns_and_constants(mapping: Columns) -> tuple[dict[str, str], dict[str, str | tuple[str, ...]]]:
    """What names one column of the file, and all else: what is the same for the whole file, or spread over columns."""
    named = {c: v for c, v in mapping.items() if isinstance(v, str) and not v.startswith("=")}
    return named, {c: v for c, v in mapping.items() if c not in named}
