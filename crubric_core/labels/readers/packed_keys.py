"""Find the name within key columns (system, query, rubric, judge) whose cells are JSON lists or objects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ...text import as_json
from .columns.specs import plain_name
from .formats.records import unpacked
from .guess import filled_cells
from .nested.field_names import OWN_NAMES
from .paths import escaped
from .plan import Columns, FilePlan

_TEXTS_OF_RUBRICS = ("text", "description")  # used if a rubric has no other name


def is_packed(rows: Sequence[Sequence[Any]], at: int) -> bool:
    """Whether all non-empty cells of a column are JSON lists or objects. at: position of the column."""
    cells = filled_cells(rows, at)
    return bool(cells) and all(isinstance(unpacked(cell), (list, dict)) for cell in cells)


def packed_keys(plan: FilePlan, rows: Sequence[Sequence[Any]], asked: Columns) -> dict[str, str]:
    """Canonical column → the column of lists or objects that was guessed for it, not given by the user (``asked``)."""
    places = {column: at for at, column in enumerate(plan.columns)}
    return {
        c: column
        for c, column in plan.mapping.items()
        if c in OWN_NAMES and c not in asked and isinstance(column, str)
        if column in places and is_packed(rows, places[column])
    }


def own_names(plan: FilePlan, rows: Sequence[Sequence[Any]], keys: dict[str, str]) -> dict[str, str]:
    """Canonical column → path of the field that names its objects, such as ``model.name``; none if some lack it."""
    found = {}
    for canonical, column in keys.items():
        objects = _held(plan, rows, column)
        texts = _TEXTS_OF_RUBRICS if canonical == "rubric" else ()
        fields = [key for o in objects[:1] if isinstance(o, dict) for key in o]
        named = [f for name in (*OWN_NAMES[canonical], *texts) for f in fields if plain_name(f) == name]
        if canonical == "query":  # two different objects must not get the same name
            named = [f for f in named if _apart(objects, f)]
        if own := next((f for f in named if all(_is_name(o, f) for o in objects)), None):
            found[canonical] = f"{escaped(column)}.{escaped(own)}"
    return found


def _apart(objects: Sequence[Any], field: str) -> bool:
    """Whether a field has as many different values as there are different objects."""
    names = {str(o.get(field)) for o in objects if isinstance(o, dict)}
    return len(names) == len({json.dumps(o, sort_keys=True, default=str) for o in objects})


def question_of(plan: FilePlan, rows: Sequence[Sequence[Any]], canonical: str, column: str) -> str:
    """The question, with a mapping, for a system or judge column of lists, or of objects without a name."""
    listed = any(isinstance(held, list) for held in _held(plan, rows, column))
    within = own_names(plan, rows, {canonical: column}).get(
        canonical, f"{escaped(column)}[]" if listed else "=…"
    )
    say = as_json({canonical: within})
    without = "" if canonical == "system" else f", or {json.dumps({canonical: ''})} to read it without"
    return (
        f"In {plan.name} the {canonical} would be {column!r}, whose cells are lists or objects that no name tells "
        f"apart: say what names it (mapping), such as {say}{without}."
    )


def _held(plan: FilePlan, rows: Sequence[Sequence[Any]], column: str) -> list[Any]:
    return [unpacked(cell) for cell in filled_cells(rows, plan.columns.index(column))]


def _is_name(held: Any, field: str) -> bool:
    value = held.get(field) if isinstance(held, dict) else None
    return isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip() != ""
