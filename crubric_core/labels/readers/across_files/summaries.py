"""Skip tables that only sum up the labels of other tables for each system, such as a sheet called Summary."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..columns.query_names import NAMES_OF_QUERIES, bare_name
from ..columns.specs import names_of, plain_name
from ..describing import Found
from ..guess import cells_at
from ..plan import FilePlan
from ..words import is_number

_CALLED = re.compile(
    r"(?i)(?<![^\W_])(summary|summaries|overview|averages?|means?|aggregated?|aggregates|totals?|leaderboard)(?![^\W_])"
)
_REASON = "it sums up the labels of the other tables for each system"


def without_summaries(found: Sequence[Found]) -> list[Found]:
    """The files, with those skipped that by their names and rows only sum up the labels of other files."""
    whole = [f for f in found if _holds_queries(f.plan)]
    return [
        f.changed(skip=True, problem=None, reason=_REASON)
        if whole and f not in whole and _sums_up(f, whole)
        else f
        for f in found
    ]


_QUERIES = frozenset((*names_of("labels", "query"), *NAMES_OF_QUERIES))


def _holds_queries(file: FilePlan) -> bool:
    """Whether a file holds labels and a query column, even if its system is not known yet."""
    labels = file.kind == "labels" and not file.skip and file.format != "unknown"
    return labels and ("query" in file.mapping or any(bare_name(c) in _QUERIES for c in file.columns))


def _sums_up(found: Found, others: Sequence[Found]) -> bool:
    """Whether a table is called a summary, and has one row with numbers for each system, some known from others."""
    file = found.plan
    name = re.split(r"[/\\]| › ", file.name)[-1]
    if file.skip or file.kind != "labels" or not _CALLED.search(name) or not found.rows:
        return False
    system = _system_of(file)
    if not system or any(bare_name(c) in _QUERIES for c in file.columns):
        return False
    systems = [cell for cell in cells_at(found.rows, file.columns.index(system)) if cell]
    numbers = [
        cell
        for i, c in enumerate(file.columns)
        if c != system
        for cell in cells_at(found.rows, i)
        if cell and is_number(cell)
    ]
    known = {cell for other in others for cell in _systems_of(other)}
    one_each = len(systems) == len(set(systems)) > 0
    return one_each and bool(numbers) and (not known or bool(known & set(systems)))


def _system_of(file: FilePlan) -> str:
    names = names_of("labels", "system")
    return next((c for c in file.columns if plain_name(c) in names), "")


def _systems_of(found: Found) -> set[str]:
    """The systems in the first rows; an empty set if no column names them."""
    column = found.plan.mapping.get("system")
    if column not in found.plan.columns or not isinstance(column, str):
        return set()
    return {cell for cell in cells_at(found.rows, found.plan.columns.index(column)) if cell}
