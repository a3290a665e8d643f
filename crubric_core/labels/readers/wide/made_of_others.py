"""Find columns that follow from another column of labels: ``tone_passed`` from ``tone_score``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ....text import listed
from ..columns.query_names import parted_name
from ..columns.specs import plain_name
from ..guess import Sample, cells_at
from ..words import comparable

_MADE = "pass|passed|success|successful|result|label|verdict|outcome"
_SAID = rf"{_MADE}|rating|grade|level"  # names that may be derived from a score or points
_NUMBERS = "score|points"
# name of a derived column, names of the columns that it may be derived from
_PAIRS = (
    (re.compile(rf"(?P<of>.+)_(?:{_MADE})"), ("{}",)),
    (re.compile(rf"(?P<of>.+)_(?:{_SAID})"), tuple(f"{{}}_{number}" for number in _NUMBERS.split("|"))),
    (re.compile(rf"(?:{_SAID})_(?P<of>.+)"), tuple(f"{number}_{{}}" for number in _NUMBERS.split("|"))),
)
_OF_ONE_DRAW = re.compile(r"(\w+_)?pass(@|\^|_at_)1")  # repeats the label of a single run
_MANY = 12  # least number of rows in which equal columns are no coincidence
_LEAST = 4  # least number of rows in which one column is seen to follow another
WORDS_OF_LABELS = frozenset(f"{_SAID}|{_NUMBERS}|scores|ratings|value".split("|"))


def made_of_others(labels: Sequence[str], columns: Sequence[str], sample: Sample) -> Mapping[str, str]:
    """Column → the column of labels that it is derived from: by their names, and by the cells of all rows."""
    named = {parted_name(c): c for c in labels}
    found = {}
    for name, column in named.items():
        again = [c for c in labels if c != column] if _OF_ONE_DRAW.fullmatch(plain_name(column)) else []
        if same := _equivalent_column(column, again, columns, sample):
            found[column] = same
            continue
        bases = [named[b] for b in _bases(name) if b in named and named[b] != column]
        if not bases:
            continue
        cells = {
            c: [comparable(cell) for cell in cells_at(sample, columns.index(c))] for c in (column, *bases)
        }
        base = next((b for b in bases if _follows(cells[column], cells[b])), None)
        if base is not None:
            found[column] = base
    return found


def _equivalent_column(column: str, others: Sequence[str], columns: Sequence[str], sample: Sample) -> str:
    """The first of the other columns whose values map one to one to the column's in all rows; "" if none does."""
    own = [comparable(cell) for cell in cells_at(sample, columns.index(column))]
    for other in others:
        cells = [comparable(cell) for cell in cells_at(sample, columns.index(other))]
        if _follows(own, cells) and _follows(cells, own) and len(set(own)) > 1:
            return other
    return ""


def repeated_among(labels: Sequence[str], columns: Sequence[str], sample: Sample) -> list[tuple[str, str]]:
    """(column, earlier column with equal cells in all rows), if at least 12 cells are filled, with several values."""
    cells = {c: [comparable(cell) for cell in cells_at(sample, columns.index(c))] for c in labels}
    pairs = []
    for at, column in enumerate(labels):
        own = cells[column]
        several = len([cell for cell in own if cell]) >= _MANY and len(set(own)) > 1
        same = next((c for c in labels[:at] if cells[c] == own), None) if several else None
        pairs += [(column, same)] if same else []
    return pairs


def remarks_on_made(made: Mapping[str, str]) -> list[str]:
    """A remark on the derived columns, as ``made_of_others`` returns them; [] if there are none."""
    if not made:
        return []
    some, one = listed([repr(c) for c in made], 6), len(made) == 1
    bases = listed([repr(c) for c in dict.fromkeys(made.values())], 6)
    verb, used = ("follows", "is") if one else ("follow", "are")
    return [f"{some} {verb} from {bases} in all of the first rows, and {used} not used"]


def _bases(name: str) -> list[str]:
    matches = ((pattern.fullmatch(name), bases) for pattern, bases in _PAIRS)
    return [base.format(match["of"]) for match, bases in matches if match for base in bases]


def _follows(own: Sequence[str], base: Sequence[str]) -> bool:
    """Whether the base's cell determines the column's cell in all filled rows, and some values of the base repeat.

    No filled cell may stand beside a blank cell of the base.
    """
    pairs = [(b, a) for a, b in zip(own, base, strict=True) if a]
    values = {b for b, _ in pairs}
    return len(pairs) >= _LEAST and "" not in values and len(set(pairs)) == len(values) < len(pairs)
