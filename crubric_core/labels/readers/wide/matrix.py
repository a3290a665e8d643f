"""Recognise response matrices: one column of names, and labels in all others, one column for each system or item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..columns.label_names import is_measured
from ..columns.specs import plain_name
from ..guess import ENOUGH, MODEL, Sample, cells_at, profile
from .spread import Spread


@dataclass(frozen=True)
class Matrix:
    """A response matrix: systems in the rows and rubrics in the columns, or the reverse.

    what: "system" or "rubric", what each column is. columns: the label columns. key: the column with the rows' names.
    confidence: of ``what``, 0 to 1.
    """

    what: Spread
    columns: tuple[str, ...]
    key: str
    confidence: float
    reason: str

    @property
    def rows_are(self) -> Spread:
        """What each row is: "system" or "rubric"."""
        return "rubric" if self.what == "system" else "system"


_NAMELESS = frozenset(["column_1", "id", "name", "index", "unnamed:_0", "row"])


def guess_matrix(columns: Sequence[str], sample: Sample) -> Matrix | None:
    """The response matrix of a table whose first column holds unique names and all others labels; None for others."""
    if len(columns) < 4 or plain_name(columns[0]) not in _NAMELESS:
        return None
    cells = [cells_at(sample, i) for i in range(len(columns))]
    names = [c for c in cells[0] if c]
    at = [i for i, c in enumerate(columns) if i and not is_measured(c)]
    wide = tuple(columns[i] for i in at)
    alike = len(wide) > 1 and all(profile(cells[i]).labels >= ENOUGH for i in at)
    if len(set(names)) < max(2, len(sample)) or not alike:
        return None
    rows, heads = (sum(bool(MODEL.search(n)) for n in part) / len(part) for part in (names, wide))
    if max(rows, heads) >= 0.5 and abs(rows - heads) >= 0.3:
        what: Spread = "rubric" if rows > heads else "system"
        return Matrix(
            what, wide, columns[0], 0.75, f"its {'rows' if rows > heads else 'columns'} are named like models"
        )
    what = "rubric" if len(names) <= len(wide) else "system"
    return Matrix(what, wide, columns[0], 0.5, "one column of names, and labels in all others")
