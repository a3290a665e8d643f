"""Merge columns of which each row ticks one, a column for each number of a question: radio buttons, ratings.

MTurk (``Answer.fluency.1``: true, false) and Potato (``clarity:::scale_4``: 4 or blank) export such tables; others have
the columns ``1`` to ``5``. One column with the number that is ticked replaces them.
"""

# ruff: noqa: S608 - every identifier in the SQL is this program's own, every value is bound
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .base import STAGING, Reader, Staged

if TYPE_CHECKING:
    import duckdb

_CHOICE = re.compile(
    r"(?:(?P<question>.*?[^\W\d_].*?)[\W_]+(?:scale[\W_]+)?)?(?P<number>\d{1,2})", re.IGNORECASE
)
_NAMELESS = "label"  # name of a question whose columns are only numbers
_TICKED, _LEFT = ("true", "1", "yes", "on", "x", "checked"), ("", "false", "0", "no", "off", "unchecked")
_FEWEST, _ROWS, _LOOKED_AT = (
    3,
    8,
    200,
)  # fewest choices of a question; fewest rows, and number of first rows, in which questions are searched

Question = tuple[tuple[int, int], ...]  # (number, position of its column) of each choice


def with_ticked(reader: Reader) -> Reader:
    """The reader with one column for each question whose choices have columns; unchanged if there is none."""
    questions = _questions(reader.columns, reader.head(_LOOKED_AT))
    return TickedReader(reader, questions) if questions else reader


def _questions(columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> dict[str, Question]:
    """Question → its choices, for questions of which each row ticks one choice, or leaves all blank."""
    groups: dict[str, list[tuple[int, int]]] = {}
    for place, column in enumerate(columns):
        if found := _CHOICE.fullmatch(column.strip()):
            groups.setdefault(found["question"] or _NAMELESS, []).append((int(found["number"]), place))
    whole = [row for row in rows if len(row) == len(columns)]
    return {
        question: tuple(choices)
        for question, choices in groups.items()
        if question not in columns and len(whole) >= _ROWS and _is_question(choices, whole)
    }


def _is_question(choices: Sequence[tuple[int, int]], rows: Sequence[Sequence[str | None]]) -> bool:
    numbers = sorted(number for number, _ in choices)
    if len(numbers) < _FEWEST or numbers not in (list(range(len(numbers))), list(range(1, len(numbers) + 1))):
        return False
    chosen = set()
    for row in rows:
        cells = {number: (row[place] or "").strip().lower() for number, place in choices}
        ticked = [n for n, cell in cells.items() if cell in _marks(n)]
        if any(cell not in (*_LEFT, *_marks(n)) for n, cell in cells.items()):
            return False
        if len(ticked) != 1 and any(cells.values()):
            return False
        chosen.update(ticked)
    return len(chosen) > 1


def _marks(number: int) -> tuple[str, ...]:
    """The texts in the cell of a ticked choice: "true", "x", …, and its number, except 0, which means not ticked."""
    return (*_TICKED, str(number)) if number else _TICKED


class TickedReader:
    """A reader in which a question has one column with its ticked number, at the place of its first choice's column."""

    nested = False  # no JSON

    def __init__(self, reader: Reader, questions: Mapping[str, Question]) -> None:
        self._reader, self.questions = reader, questions
        first = {min(place for _, place in own): question for question, own in questions.items()}
        taken = {place for own in questions.values() for _, place in own}
        self._kept: tuple[int | str, ...] = tuple(
            first.get(place, place)
            for place in range(len(reader.columns))
            if place in first or place not in taken
        )
        self.columns = tuple(c if isinstance(c, str) else reader.columns[c] for c in self._kept)
        self.decoded = getattr(reader, "decoded", "")

    def head(self, rows: int) -> list[tuple[str | None, ...]]:
        """The first rows, with the numbers that are ticked."""
        width = len(self._reader.columns)
        even = [(*row[:width], *(None,) * (width - len(row))) for row in self._reader.head(rows)]
        return [
            tuple(row[c] if isinstance(c, int) else _number(self.questions[c], row) for c in self._kept)
            for row in even
        ]

    def stage(self, cursor: duckdb.DuckDBPyConnection, picks: Mapping[str, int]) -> Staged:
        """Create ``incoming``; a question's cell is the ticked number, or "2, 3" if several are ticked."""
        kept = {name: self._kept[place] for name, place in picks.items()}
        own = {name: place for name, place in kept.items() if isinstance(place, int)}
        asked = {
            name: self.questions[question] for name, question in kept.items() if isinstance(question, str)
        }
        places = {f"tick{place}": place for choices in asked.values() for _, place in choices}
        staged = self._reader.stage(cursor, own | places)
        for name, choices in asked.items():
            cases = ", ".join(
                f"CASE WHEN {_is_ticked(number, place)} THEN '{number}' END" for number, place in choices
            )
            cursor.execute(f'ALTER TABLE {STAGING} ADD COLUMN "{name}" VARCHAR')
            cursor.execute(f"UPDATE {STAGING} SET \"{name}\" = nullif(concat_ws(', ', {cases}), '')")
        for column in places:
            cursor.execute(f"ALTER TABLE {STAGING} DROP COLUMN {column}")
        return staged


def _number(choices: Question, row: Sequence[str | None]) -> str | None:
    """The ticked number of one row, as in ``stage``; None if no choice is ticked."""
    return ", ".join(str(n) for n, p in choices if (row[p] or "").strip().lower() in _marks(n)) or None


def _is_ticked(number: int, place: int) -> str:
    words = ", ".join(f"'{word}'" for word in _marks(number))
    return f"lower(trim(tick{place})) IN ({words})"
