"""Find, in tables that describe queries, rubrics or systems, the column that matches the key of the labels."""

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
_ENOUGH = 0.5  # least share of the labels' first names that the key column must have

Look = Callable[[int, Overrides], Found]


@dataclass(frozen=True)
class _Keys:
    """The keys of the labels of all files.

    columns: "query" or "rubric" → its column, if all tables agree on it. values: key → the names in the first rows.
    ``columns`` has no "system", because such a column in a table of rubrics may be the model that wrote them.
    """

    columns: Mapping[str, str]
    values: Mapping[str, frozenset[str]]


def with_shared_keys(
    found: Sequence[Found], look: Look, overrides: Overrides, decided: Mapping[str, FilePlan]
) -> list[Found]:
    """The files, with descriptions of queries, rubrics, systems or answers keyed by the names that the labels use.

    The key is the column of the same name as in the labels, or an id column with the same names. look: inspects a file
    again, given its position and new overrides. decided: earlier plans by file name; these files stay unchanged.
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
    """The names of systems, queries or rubrics in the first rows of a table of labels, or in its columns' names."""
    held = labels.plan.mapping.get(canonical)
    if isinstance(held, tuple):
        return frozenset(spread_names(held))
    return (
        frozenset(map(str, filter(None, cells_of(labels.plan, labels.rows, held)))) if held else frozenset()
    )


def _own_keys(found: Found, keys: _Keys) -> Columns:
    """Canonical key → the column of a table that holds it, for keys that the plan does not map to that column."""
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
    """Whether a column has at least half of these names."""
    if column not in found.plan.columns or not names:
        return False
    return len(names.intersection(map(str, cells_of(found.plan, found.rows, column)))) >= _ENOUGH * len(names)
