"""Read columns whose numbers have a decimal comma (3,5), as spreadsheets write them in much of Europe."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from ....text import listed
from ..guess import cells_at
from ..plan import FilePlan
from ..values import DECIMAL_COMMA, EITHER_COMMA
from ..words import UNKNOWN, is_number, plain

_DECIMAL, _EITHER = re.compile(DECIMAL_COMMA), re.compile(EITHER_COMMA)


def with_points(rows: Sequence[Sequence[Any]], width: int) -> tuple[tuple[Any, ...], dict[int, str]]:
    """(rows with decimal points in columns of decimal commas, position of each such column → an example from it).

    All known cells of such a column are numbers, and at least one can only be read with a decimal comma.
    """
    found: dict[int, str] = {}
    for at in range(width):
        if cells := _with_commas(cells_at(rows, at)):
            decimal = next((c for c in cells if _DECIMAL.fullmatch(c)), None)
            found |= {at: decimal} if decimal else {}
    if not found:
        return tuple(rows), found
    return tuple(
        tuple(c.replace(",", ".") if i in found and c else c for i, c in enumerate(row)) for row in rows
    ), found


def _with_commas(cells: Sequence[str | None]) -> list[str]:
    """The cells with a comma, if all known cells of the column are numbers; else []."""
    known = [c.strip() for c in cells if c and plain(c) not in UNKNOWN]
    commas = [c for c in known if _DECIMAL.fullmatch(c) or _EITHER.fullmatch(c)]
    return commas if all(is_number(c) for c in known if c not in set(commas)) else []


def with_remark_on_commas(plan: FilePlan, rows: Sequence[Sequence[Any]], found: dict[int, str]) -> FilePlan:
    """The plan with a remark on the decimal commas that are read, or a problem if the commas in labels are ambiguous.

    rows: the first rows as in the file. found: as returned by ``with_points``.
    """
    used = set(plan.used)
    commas = {plan.columns[at]: number for at, number in found.items() if plan.columns[at] in used}
    if commas:
        number = next(iter(commas.values()))
        has = "has decimal commas" if len(commas) == 1 else "have decimal commas"
        remark = f"{_named(commas)} {has}: {number} is read as {number.replace(',', '.')}"
        return plan.with_remarks(remark)
    if plan.problem is None or plan.kind not in ("labels", "gold"):
        return plan
    left = ((c, _with_commas(cells_at(rows, at))) for at, c in enumerate(plan.columns) if at not in found)
    either = {column: cells[0] for column, cells in left if cells}
    if not either:
        return plan
    number = next(iter(either.values()))
    problem = (
        f"{plan.name} has numbers such as {number} in {_named(either)}, whose comma may be a decimal comma or a "
        "thousands separator: write them with a decimal point, or without the comma."
    )
    return replace(plan, problem=problem)


def _named(columns: Collection[str]) -> str:
    return f"{'its column' if len(columns) == 1 else 'its columns'} {listed([repr(c) for c in columns], 4)}"
