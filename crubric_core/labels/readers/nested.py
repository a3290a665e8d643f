"""Labels that lie within nested JSON: which paths hold them, from the names of the fields."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .columns import SPECS, Kind
from .nested_beside import beside
from .nested_lists import in_lists, side_by_side
from .nested_objects import in_objects, in_tree
from .paths import is_path, parts_of, shape_of
from .plan import Columns, FilePlan
from .rules import source_of
from .unused import MOST, is_verdict_field


@dataclass(frozen=True)
class Nested:
    """Canonical column → path; sure: whether names alone tell it; missing: what the labels still lack."""

    mapping: Columns
    sure: bool
    missing: tuple[str, ...]

    def question(self, name: str, mapping: Columns) -> str:
        """What to ask of a file whose labels may lie there."""
        shown = json.dumps(mapping, ensure_ascii=False)
        lacking = f", and say its {' and '.join(self.missing)}" if self.missing else ""
        return f"{name} seems to hold labels within its records: if so, read it with the mapping {shown}{lacking}."


def find_nested(kind: Kind, fields: Mapping[str, Sequence[Any]]) -> Nested | None:
    """The paths to the labels of nested records; None where no list or object within them holds any.

    fields: path → values, as ``paths.fields_of_records`` gathers them.
    """
    if kind not in ("labels", "gold"):
        return None
    found: Columns | None = (
        in_lists(kind, fields)
        or in_objects(kind, fields)
        or beside(kind, fields)
        or side_by_side(kind, fields)
        or in_tree(fields)
    )
    if found is None:
        return None
    wide = any(isinstance(path, tuple) for path in found.values())
    lacking = tuple(c for c in SPECS[kind].needed if c not in found and not (wide and c == "label"))
    whole = all(re.fullmatch(r"\{\}\.[^#]+", str(found.get(c, ""))) for c in ("system", "rubric"))
    within = str(found.get("label", "")).startswith("{}") and not whole
    by_place = str(found.get("rubric", "")).endswith("[].#") or within
    return Nested(found, set(lacking) <= {"system"} and not by_place, lacking)


def with_nested_unused(plan: FilePlan, fields: Mapping[str, Sequence[Any]]) -> FilePlan:
    """The plan with the fields within records that nothing is taken from, in place of the columns that hold them."""
    used = {c for v in plan.mapping.values() for c in (v if isinstance(v, tuple) else (v,))}
    used |= {source_of(c) or c for c in used}
    shapes = {shape_of(c) for c in used}
    ends = [
        parts_of(c)[1:] for c in used if c.startswith("{}")
    ]  # of the records of one object, whatever its keys
    inner = {
        f: v
        for f, v in fields.items()
        if is_path(f)
        and not any(_covers(s, f) for s in shapes)
        and parts_of(f)[1:] not in ends
        and [] not in ends
    }
    tops = {_top(f) for f in fields if is_path(f)}
    suspects = [f for f, v in inner.items() if is_verdict_field(f, v)]
    return replace(
        plan,
        unused=(*(c for c in plan.unused if c not in tops), *inner)[:MOST],
        suspects=tuple(dict.fromkeys([*plan.suspects, *suspects])),
    )


def _covers(shape: str, field: str) -> bool:
    return field == shape or (field.startswith((f"{shape}.", f"{shape}[")) and bool(shape))


def _top(field: str) -> str:
    return field.partition(".")[0].partition("[")[0]
