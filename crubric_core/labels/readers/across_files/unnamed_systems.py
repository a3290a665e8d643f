"""Find tables that look like queries or rubrics but hold labels of these, one table for each system or judge."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ....text import listed
from ..columns.label_names import called_after_criteria
from ..columns.query_names import is_written
from ..columns.specs import plain_name
from ..describing import Found
from ..formats.native import NATIVE
from ..guess import MODEL
from ..sources import SHEET
from ..tables.plan_cells import cells_of, rows_of_keys
from ..wide.column_names import spread_names
from ..wide.label_columns import label_columns

_DESCRIBING = re.compile(
    r"(?i)quer|question|prompt|rubric|criteri|item|task|meta|dataset|feature|attribute|info|flag|topic|propert|tag"
    r"|cluster|difficult|type"
)


def hold_labels(found: Sequence[Found | None]) -> tuple[set[int], dict[int, str]]:
    """(positions of tables that hold labels, position → question for tables that may hold labels).

    A table holds labels if its label columns differ from those of another table for the same keys, or it describes
    nothing and shares label columns with another table, or it is named after a model. found: None for a decided file.
    """
    held = {i: wide for i, f in enumerate(found) if f and (wide := _labels_of(f))}
    tables = {i: f for i, f in enumerate(found) if f and i in held}
    of_models = {i for i, f in tables.items() if MODEL.search(_file_of(f)) and not _is_written(f)}
    describing = {i for i, f in tables.items() if _DESCRIBING.search(_file_of(f))}
    bare = {i for i, f in tables.items() if set(f.plan.mapping) <= {"query", "rubric"}} - describing
    known = _rubrics_of([f for f in found if f])
    alike = {
        i for i in bare if held[i].keys() <= known or any(_share(tables, held, i, j) for j in bare - {i})
    }
    sure, named = _differing(tables, held) | alike, any(f and _names_systems(f) for f in found)
    sure |= (
        set() if named else of_models - describing
    )  # beside a column of systems files are named after none
    like = {i for i in bare - sure if called_after_criteria(tuple(held[i].values()))}
    asked = like if named else like | {i for i in bare - sure if len(held[i]) > 1}
    return sure, {i: _question(tables[i], tuple(held[i].values())) for i in asked}


def _names_systems(found: Found) -> bool:
    """Whether a table holds labels, has no problem, and has a column of systems."""
    plan = found.plan
    return plan.kind == "labels" and not plan.problem and plan.mapping.get("system") in plan.columns


def with_question(found: Found, question: str) -> Found:
    """The table with the question as its problem; unchanged if it is ""."""
    return found.changed(problem=question) if question else found


def _labels_of(found: Found) -> Mapping[str, str]:
    """Plain name → label column, in a table that looks like queries or rubrics; {} for other files."""
    plan = found.plan
    if plan.kind not in ("queries", "rubrics") or plan.format in NATIVE or plan.problem:
        return {}
    wide = label_columns(plan.columns, found.rows, scores=True)
    return {plain_name(c): c for c in wide if c not in plan.mapping.values()}


def _file_of(found: Found) -> str:
    """The name of the file or sheet, without folders."""
    return found.plan.name.rpartition(SHEET)[2].rpartition("/")[2]


def _is_written(found: Found) -> bool:
    return any(map(is_written, found.plan.columns))


def _rubrics_of(found: Sequence[Found]) -> set[str]:
    """The names of the rubrics in tables of labels."""
    rubrics: set[str] = set()
    for f in found:
        held = f.plan.mapping.get("rubric")
        if f.plan.kind == "labels" and f.plan.format not in NATIVE and held:
            wide = spread_names(held) if isinstance(held, tuple) else cells_of(f.plan, f.rows, held)
            rubrics |= {plain_name(str(name)) for name in wide if name}
    return rubrics


def _share(tables: Mapping[int, Found], held: Mapping[int, Mapping[str, str]], one: int, other: int) -> bool:
    return tables[one].plan.kind == tables[other].plan.kind and bool(held[one].keys() & held[other].keys())


def _differing(tables: Mapping[int, Found], held: Mapping[int, Mapping[str, str]]) -> set[int]:
    """Positions of the tables that share a label column in which some tables have different values for the same key."""
    seen: dict[tuple[object, ...], str | None] = {}
    differing: set[tuple[str, str]] = set()
    for i, f in tables.items():
        keys = rows_of_keys(replace(f.plan, mapping=_keys_of(f)), f.rows)
        for name, column in held[i].items():
            cells = zip(keys, cells_of(f.plan, f.rows, column), strict=True)
            if any(seen.setdefault((f.plan.kind, name, key), cell) != cell for key, cell in cells if cell):
                differing.add((f.plan.kind, name))
    return {i for i, f in tables.items() if any((f.plan.kind, name) in differing for name in held[i])}


def _keys_of(found: Found) -> dict[str, str]:
    return {c: v for c, v in found.plan.mapping.items() if c in ("query", "rubric") and isinstance(v, str)}


def _question(found: Found, wide: Sequence[str]) -> str:
    some, plan = listed([repr(c) for c in wide], 3), found.plan
    return (
        f"{plan.name} names {plan.kind} but does not describe them, and {some} may hold labels: if they are labels, "
        "add a column that names the system, or name the file after it; otherwise leave the file out."
    )
