"""The cells of a plan's columns in the first rows, and tests of how columns relate to each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..plan import FilePlan, Guess

LEAST = 4  # least number of rows from which anything is inferred


def taken(plan: FilePlan, canonical: str, column: str, sure: float, why: str, remark: str) -> FilePlan:
    """The plan with one more column mapped. sure: confidence. why: reason of the guess. remark: "" for no remark."""
    return replace(
        plan,
        mapping={**plan.mapping, canonical: column},
        guesses=(*plan.guesses, Guess(canonical, column, sure, why)),
        unused=tuple(c for c in plan.unused if c != column),
        suspects=tuple(c for c in plan.suspects if c != column),
        remarks=(*plan.remarks, remark) if remark else plan.remarks,
    )


def rows_of_keys(plan: FilePlan, rows: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """The key of each of the first rows: its cells in all mapped columns except label and reason."""
    keys = [v for c, v in plan.mapping.items() if isinstance(v, str) and c not in ("label", "reason")]
    own = [cells_of(plan, rows, column) for column in keys]
    return list(zip(*own, strict=True)) if own else [()] * len(rows)


def repeats(cells: Sequence[Any]) -> bool:
    """Whether any value occurs more than once."""
    return len(set(cells)) < len(cells)


_FOOTER = 0.05  # largest share of rows without a cell


def parts_all(cells: Sequence[Any], before: Sequence[tuple[Any, ...]], spread: bool) -> bool:
    """Whether a column makes all rows unique together with their keys ``before``, and is no mere number of the row.

    A few rows without a cell are ignored: notes and sums below a table. spread: whether a column of unique values is
    accepted if all keys are equal.
    """
    known = [(key, c) for key, c in zip(before, cells, strict=True) if c not in (None, "")]
    if not known or len(cells) - len(known) > max(1, _FOOTER * len(cells)) or repeats(known):
        return False
    cells = [c for _, c in known]
    return repeats(cells) or (spread and len(set(before)) == 1)


def of_one_system(cells: Sequence[Any], systems: Sequence[Any]) -> bool:
    """Whether there are several systems and no value occurs with two of them, as with ids of answers, not queries."""
    return len(set(systems)) > 1 and len(set(zip(cells, systems, strict=True))) == len(set(cells))


def is_shared(cells: Sequence[Any], systems: Sequence[Any]) -> bool:
    """Whether there are several values, and most occur with more than one system each, as queries do."""
    values = Counter(value for value, _ in set(zip(cells, systems, strict=True)))
    return len(values) > 1 and 2 * sum(n > 1 for n in values.values()) > len(values)


def cells_of(plan: FilePlan, rows: Sequence[Sequence[Any]], column: str) -> list[Any]:
    """A column's cells in the first rows; a constant ("=value") in each row; None where a row has no such cell."""
    if column.startswith("=") and column not in plan.columns:
        return [column] * len(rows)
    at = plan.columns.index(column) if column in plan.columns else -1
    return [row[at] if 0 <= at < len(row) else None for row in rows]
