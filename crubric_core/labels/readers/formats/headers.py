"""Find the header of a table from a spreadsheet or a pivot table.

It may be below titles, have two rows (groups of columns, and the columns), or have a row with the columns' scales.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..values import SCALE_BEHIND

_JOINT = " - "


def joined_header(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], int]:
    """(column names, number of header rows), by a table's first rows; ((), 0) if the header is a single row.

    Two rows are the header if the upper one has names for several columns, each with a text below it, and every other
    column has a name in only one of the two rows, or the same in both (a merged cell). The third row of a data frame,
    with the names of its index, belongs to the header too, as does a row of scales, ``(1-5)``, appended to the names.
    """
    if len(rows) < 3:
        return (), 0
    scaled, data = ({i for i, c in enumerate(row) if re.match(SCALE_BEHIND, c.strip())} for row in rows[1:3])
    if scaled - data:
        return _with_scales(*rows[:2]), 2
    width = max(map(len, rows[:3]))
    upper, lower, third = ([*(c.strip() for c in row), *[""] * (width - len(row))] for row in rows[:3])
    leading = next((i for i, cell in enumerate(third) if not cell), 0)
    if leading and not any(third[leading:]) and width - leading > 1:
        keys, heads = third[:leading], 3
    else:
        leading = next((i for i in range(width) if upper[i] and lower[i] and upper[i] != lower[i]), width)
        if not all(upper[i] or lower[i] for i in range(leading)):
            return (), 0
        keys, heads = [upper[i] or lower[i] for i in range(leading)], 2
    names = _named(upper[leading:], lower[leading:])
    whole = (*keys, *names)
    return (whole, heads) if names and keys and len(set(whole)) == len(whole) else ((), 0)


def _with_scales(names: Sequence[str], scales: Sequence[str]) -> tuple[str, ...]:
    """The names, each followed by the text in brackets below it: ``tone (1-5)``."""
    below = [*(cell.strip() for cell in scales), *[""] * (len(names) - len(scales))]
    return tuple(
        f"{name} {cell}" if re.fullmatch(r"[(\[].*[)\]]", cell) else name
        for name, cell in zip(names, below, strict=False)
    )


def rows_above(records: Sequence[Sequence[str]]) -> int:
    """The number of records above the header: blank ones, or titles in the first cell; 0 in case of doubt.

    Saved from a sheet, they are as wide as the header. A title that was typed above is one cell, and all records below
    the header are as wide as it.
    """
    filled = [sum(bool(cell.strip()) for cell in record) for record in records]
    first = next((i for i, cells in enumerate(filled) if cells > 1), 0)
    if not first:
        return 0
    width = len(records[first])
    padded = all(len(record) == width for record in records[:first])
    below = records[first + 1 : -1]  # the last may be cut off
    typed = bool(below) and all(len(record) == width for record in below)
    titles = all(not any(map(str.strip, record[1:])) for record in records[:first])
    named = not any(_is_number(cell) for cell in records[first])  # else it may be data below one name
    return first if width > 2 and (padded or typed) and titles and named else 0


def _named(upper: Sequence[str], lower: Sequence[str]) -> list[str]:
    """The names of grouped columns, ``group - column``, and of ungrouped ones after them; [] if there are no groups.

    If there is only one group, its name is left out.
    """
    groups: list[str] = []
    names: list[str] = []
    for above, below in zip(upper, lower, strict=True):
        group = above or (groups[-1] if groups and below else "")
        if _is_number(below) or not (group or below):
            return []
        groups.append(group if below else "")
        names.append(f"{group}{_JOINT}{below}" if group and below else group or below)
    spread = [g for g in groups if g]
    if len(set(spread)) == len(spread):
        return []
    if len(set(spread)) == 1:
        return [name.removeprefix(spread[0] + _JOINT) for name in names]
    return names


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", ".").rstrip("%"))
    except ValueError:
        return False
    return True
