"""Find the rubrics that a JSON file describes in a separate list, while its labels refer to them by their ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from .columns.specs import SPECS
from .nested.field_names import is_called, last_name
from .paths import parts_of, unescaped
from .plan import FilePlan
from .tables.plan_cells import cells_of

_SHARE = 0.5  # least share of the shorter of two lists of names in common, if they are of the same rubrics
# Fields that may name an item of a list of rubrics, besides the synonyms of "rubric".
_NAMES = ("id", "key", "name", "title", "text")


def with_listed(
    plan: FilePlan, rows: Sequence[Sequence[Any]], fields: Mapping[str, Sequence[Any]]
) -> FilePlan:
    """The plan of nested labels, with ``described`` from another list or object of the file that describes the rubrics.

    fields: path → values in the first records, as ``paths.fields_of_records`` returns them.
    """
    named = {str(c) for c in cells_of(plan, rows, str(plan.mapping.get("rubric", ""))) if c}
    if plan.kind != "labels" or plan.problem or not named:
        return plan
    left = [f for f in plan.unused if f in fields]
    found = _in_list(fields, left, named) or _by_key(left, named)
    if not found:
        return plan
    taken = {f for f in left if any(_leads(path, f) for path in found.values())}
    return replace(
        plan,
        described={**plan.described, "rubrics": found},
        tables=(*plan.tables, "rubrics"),
        unused=tuple(f for f in plan.unused if f not in taken),
        suspects=tuple(f for f in plan.suspects if f not in taken),
    )


def _in_list(fields: Mapping[str, Sequence[Any]], left: Sequence[str], named: Set[str]) -> dict[str, str]:
    """Canonical column → path in a list with an item for each rubric: ``rubrics[].id`` and ``rubrics[].weight``.

    left: unused fields. named: names of the rubrics that the labels refer to. Empty if there is no such list.
    """
    homes = dict.fromkeys(f.rpartition(".")[0] for f in left if f.rpartition(".")[0].endswith("[]"))
    for home in homes:
        own = [f for f in left if f.rpartition(".")[0] == home]
        keys = [f for f in own if _names_rubrics(f) and _are_same({str(v) for v in fields[f]}, named)]
        said = _named_columns([f for f in own if not f.endswith("[]")], keys[:1])
        if keys and said:
            return {"rubric": keys[0], **said}
    return {}


def _by_key(left: Sequence[str], named: Set[str]) -> dict[str, str]:
    """Canonical column → path in an object whose keys are the rubrics: ``rubrics.r1.weight`` or ``weights.r1``."""
    groups: dict[str, list[str]] = {}
    for field in left:
        parts = parts_of(field)
        if len(parts) in (2, 3) and "[]" not in field:
            groups.setdefault(parts[0], []).append(field)
    for home, own in groups.items():
        keys = {unescaped(parts_of(f)[1]) for f in own}
        tails = dict.fromkeys(f"{home}{{}}.{parts_of(f)[2]}" for f in own if len(parts_of(f)) == 3)
        said = _named_columns(list(tails), ()) if tails else _named_columns([home.removesuffix("s")], ())
        if said and _are_same(keys, named):
            return {"rubric": f"{home}{{}}.#", **(said if tails else dict.fromkeys(said, f"{home}{{}}"))}
    return {}


def _named_columns(fields: Sequence[str], keys: Sequence[str]) -> dict[str, str]:
    """Canonical column of a table of rubrics → the field that has this name or a synonym, except ``keys``."""
    found: dict[str, str] = {}
    for canonical in SPECS["rubrics"].values:
        free = (f for f in fields if f not in keys and f not in found.values())
        field = next((f for f in free if is_called("rubrics", canonical, f)), None)
        found |= {canonical: field} if field else {}
    return found


def _names_rubrics(field: str) -> bool:
    return last_name(field) in _NAMES or is_called("rubrics", "rubric", field)


def _are_same(listed: Set[str], named: Set[str]) -> bool:
    return len(listed & named) >= _SHARE * min(len(listed), len(named))


def _leads(path: str, field: str) -> bool:
    """Whether a path leads to a field of the records: ``rubrics{}.weight`` to ``rubrics.r1.weight``."""
    ways = [part.removesuffix("{}") for part in parts_of(path)]
    if "{}" not in path:
        return path == field
    parts = parts_of(field)
    return parts[0] == ways[0] and ways[1:] in ([], ["#"], parts[2:])
