"""Tables that describe what labels are about: which of their columns is the labels' query, rubric or system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..columns.specs import SPECS, plain_name
from ..describing import Found
from ..formats.native import NATIVE
from ..guess import guess_kind
from ..plan import Columns, FilePlan, Overrides
from ..tables.plan_cells import cells_of
from ..wide.column_names import spread_names

_KEYS = ("query", "rubric", "system")
_IDS = ("id", "name", "key", "code", "title")
_ENOUGH = 0.5  # share of the labels' first names that a column must have, to hold their key

Look = Callable[[int, Overrides], Found]


@dataclass(frozen=True)
class _Keys:
    """The keys of the labels of all files.

    columns: query or rubric → its one column. values: key → the names in the first rows.
    A column of systems is no key of its own: a table of rubrics may say which model wrote them.
    """

    columns: Mapping[str, str]
    values: Mapping[str, frozenset[str]]


def with_shared_keys(
    found: Sequence[Found], look: Look, overrides: Overrides, decided: Mapping[str, FilePlan]
) -> list[Found]:
    """Tables that describe queries, rubrics, systems or answers, keyed as the labels are.

    By the labels' own column, or by an id that holds the same names. look: a file, by its place, looked into again.
    """
    labels = [f for f in found if _is_table(f) and _are_labels(f)]
    keys = _Keys(
        {c: columns.pop() for c in ("query", "rubric") if len(columns := _columns_of(labels, c)) == 1},
        {c: frozenset[str]().union(*(_names_of(f, c) for f in labels)) for c in _KEYS},
    )
    named = list(found)
    for i, f in enumerate(found):
        if f.plan.name in decided or not _is_table(f) or _are_labels(f):
            continue
        own = _own_keys(f, keys)
        renamed = [next((c for c, v in own.items() if v == n), n) for n in f.plan.columns]
        kind = guess_kind(f.plan.name, renamed)
        if own and kind not in ("labels", "gold") and set(own) <= set(SPECS[kind].keys):
            again = look(i, replace(overrides, kind=kind, mapping={**own, **overrides.mapping}))
            named[i] = f if again.plan.problem else again
    return named


def _is_table(found: Found) -> bool:
    return found.plan.format not in NATIVE and found.plan.format != "unknown"


def _are_labels(found: Found) -> bool:
    return found.plan.kind in ("labels", "gold") and not found.plan.problem


def _columns_of(labels: Sequence[Found], canonical: str) -> set[str]:
    found = {str(v) for f in labels if (v := f.plan.mapping.get(canonical)) in f.plan.columns}
    return found - {canonical}


def _names_of(labels: Found, canonical: str) -> frozenset[str]:
    """What a table of labels names in its first rows, or in the names of its columns."""
    held = labels.plan.mapping.get(canonical)
    if isinstance(held, tuple):
        return frozenset(spread_names(held))
    return (
        frozenset(map(str, filter(None, cells_of(labels.plan, labels.rows, held)))) if held else frozenset()
    )


def _own_keys(found: Found, keys: _Keys) -> Columns:
    """Canonical key → the column of a table that holds it, where its name alone does not tell."""
    plan = found.plan
    own = {c: v for c, v in keys.columns.items() if v in plan.columns and plan.mapping.get(c) != v}
    ids = [n for n in plan.columns if plain_name(n) in _IDS and n not in own.values()]
    for canonical, names in keys.values.items():
        same = [n for n in ids if _holds(found, n, names)]
        if same and canonical not in own and not _holds(found, str(plan.mapping.get(canonical)), names):
            own[canonical] = same[0]
            ids.remove(same[0])
    return own


def _holds(found: Found, column: str, names: frozenset[str]) -> bool:
    """Whether a column has most of these names."""
    if column not in found.plan.columns or not names:
        return False
    return len(names.intersection(map(str, cells_of(found.plan, found.rows, column)))) >= _ENOUGH * len(names)
