"""Keys of a table that are lists or objects in place of names: what within them is the name."""

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

_TEXTS_OF_RUBRICS = ("text", "description")  # where it has no other name


def is_packed(rows: Sequence[Sequence[Any]], at: int) -> bool:
    """Whether the cells of a column are lists or objects of JSON."""
    cells = filled_cells(rows, at)
    return bool(cells) and all(isinstance(unpacked(cell), (list, dict)) for cell in cells)


def packed_keys(plan: FilePlan, rows: Sequence[Sequence[Any]], asked: Columns) -> dict[str, str]:
    """Canonical column → the column of lists or objects that was taken for it, as far as nobody asked for it."""
    places = {column: at for at, column in enumerate(plan.columns)}
    return {
        c: column
        for c, column in plan.mapping.items()
        if c in OWN_NAMES and c not in asked and isinstance(column, str)
        if column in places and is_packed(rows, places[column])
    }


def own_names(plan: FilePlan, rows: Sequence[Sequence[Any]], keys: dict[str, str]) -> dict[str, str]:
    """Canonical column → the path to the name that all of its objects have."""
    found = {}
    for canonical, column in keys.items():
        objects = _held(plan, rows, column)
        texts = _TEXTS_OF_RUBRICS if canonical == "rubric" else ()
        fields = [key for o in objects[:1] if isinstance(o, dict) for key in o]
        named = [f for name in (*OWN_NAMES[canonical], *texts) for f in fields if plain_name(f) == name]
        if canonical == "query":  # another one is another query, whatever they are called
            named = [f for f in named if _apart(objects, f)]
        if own := next((f for f in named if all(_is_name(o, f) for o in objects)), None):
            found[canonical] = f"{escaped(column)}.{escaped(own)}"
    return found


def _apart(objects: Sequence[Any], field: str) -> bool:
    """Whether a field of objects tells as many apart as there are different ones."""
    names = {str(o.get(field)) for o in objects if isinstance(o, dict)}
    return len(names) == len({json.dumps(o, sort_keys=True, default=str) for o in objects})


def question_of(plan: FilePlan, rows: Sequence[Sequence[Any]], canonical: str, column: str) -> str:
    """What to ask of a system or judge that is a list, or an object that no name tells from others."""
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
