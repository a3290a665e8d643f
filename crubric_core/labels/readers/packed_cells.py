"""Read cells that hold JSON lists or objects as text, also in a fenced block or within the text of a judge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .columns.query_names import bare_name, is_answer
from .formats.records import reply_values, unpacked
from .guess import filled_cells

_JUDGING = re.compile(r"(?i)judg|grader|grading|evaluat|(^|_)eval(_|$)|verdict|critique")
_MOST = 0.8  # least share of lists or objects among the cells of a column that is unpacked


def held_in(column: str, cell: Any) -> Any:
    """The JSON list or object in a cell, else the cell. In columns of judges, JSON within other text counts, too."""
    found = unpacked(cell)
    if not isinstance(found, str) or not _JUDGING.search(column):
        return found
    objects = [value for value in reply_values(found) if isinstance(value, dict)]
    return objects[0] if objects and all(value == objects[0] for value in objects) else cell


def is_answer_field(column: str) -> bool:
    """Whether a field has the name of a system's answer (``response``), which stays text even if it holds JSON."""
    return is_answer(bare_name(column).rpartition("_")[2]) and not _JUDGING.search(column)


def holds_packed(column: str, rows: Sequence[Sequence[Any]], at: int) -> bool:
    """Whether at least 80 % of the non-empty cells of a column hold lists or objects. at: position of the column."""
    cells = filled_cells(rows, at)
    held = sum(isinstance(held_in(column, cell), (list, dict)) for cell in cells)
    return bool(cells) and held >= _MOST * len(cells)
