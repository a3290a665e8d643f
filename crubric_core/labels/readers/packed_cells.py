"""Cells that hold lists or objects of JSON as text, fenced or among a judge's words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .columns.query_names import bare_name, is_answer
from .formats.records import reply_values, unpacked
from .guess import filled_cells

_JUDGING = re.compile(r"(?i)judg|grader|grading|evaluat|(^|_)eval(_|$)|verdict|critique")
_MOST = 0.8  # share of a column's cells that are lists or objects, from which it is looked into


def held_in(column: str, cell: Any) -> Any:
    """What a cell holds: the list or object that was written to it; of a judge's reply also the one among its words."""
    found = unpacked(cell)
    if not isinstance(found, str) or not _JUDGING.search(column):
        return found
    objects = [value for value in reply_values(found) if isinstance(value, dict)]
    return objects[0] if objects and all(value == objects[0] for value in objects) else cell


def is_answer_field(column: str) -> bool:
    """Whether a field is named after a system's answer, which is text whatever it holds."""
    return is_answer(bare_name(column).rpartition("_")[2]) and not _JUDGING.search(column)


def holds_packed(column: str, rows: Sequence[Sequence[Any]], at: int) -> bool:
    """Whether most cells of a column hold lists or objects, as far as it holds any text."""
    cells = filled_cells(rows, at)
    held = sum(isinstance(held_in(column, cell), (list, dict)) for cell in cells)
    return bool(cells) and held >= _MOST * len(cells)
