"""Write the canonical rows of native files as CSV files, one for each kind, from which the database reads them."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from ..records import Fault, as_text
from .base import COLUMNS, Cell, Row

LONGEST = 500_000  # characters of a text that are kept
_ONCE = ("queries", "rubrics", "reference", "answers")  # repeated by every graded run; kept once


@dataclass
class Written:
    """The rows of one kind so far: their file, how many there are, and the descriptions already seen."""

    path: Path
    writer: Any
    rows: int
    seen: set[tuple[Cell, ...]]


class Tables:
    """Writes rows as they arrive; a context manager. Rows are numbered from 2, as in a table with a header.

    written: kind → its file and rows. faults: (place, fault) of each record that could not be read.
    """

    def __init__(self, folder: Path, *, several: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._several = folder, several
        self._stack = ExitStack()
        self.written: dict[str, Written] = {}
        self.faults: list[tuple[str, Fault]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def add(self, name: str, rows: Iterable[tuple[int, Row | Fault]], kind: str) -> None:
        """Write the rows of one file that ``kind`` asks for (see ``_target``). rows: (record's line, row)."""
        for line, row in rows:
            place = f"{name}, record {line}" if self._several else f"record {line}"
            if isinstance(row, Fault):
                self.faults.append((place, row))
                continue
            target = _target(row[0], kind)
            if target:
                self._write(target, _as_kind(row, target), place)

    def _write(self, kind: str, cells: tuple[Cell, ...], place: str) -> None:
        found = self.written.get(kind) or self._open(kind)
        clean = tuple(map(_clean, cells))
        if kind in _ONCE:
            if clean in found.seen:
                return
            found.seen.add(clean)
        found.writer.writerow([found.rows + 2, *clean, _clean(place)])
        found.rows += 1

    def _open(self, kind: str) -> Written:
        path = self._folder / f"{kind}.csv"
        file: IO[str] = self._stack.enter_context(path.open("w", encoding="utf-8", newline=""))
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        self.written[kind] = Written(path, writer, 0, set())
        return self.written[kind]


def columns_of(kind: str) -> tuple[str, ...]:
    """The columns of the CSV file of a kind."""
    return ("row", *COLUMNS[kind], "place")


def _target(found: str, asked: str) -> str | None:
    """The kind as which a row of kind ``found`` is written; None to leave it out.

    asked: for "labels", all rows are written; for "gold", too, but labels as gold; else only rows of that kind.
    """
    if asked == "labels":
        return found
    if asked == "gold":
        return "gold" if found == "labels" else found
    return found if found == asked else None


def _as_kind(row: Row, target: str) -> tuple[Cell, ...]:
    """The cells of a row for the kind ``target``; for gold labels the judge becomes the annotator, without the run."""
    if row[0] == target:
        return row[1]
    cells = dict(zip(COLUMNS[row[0]], row[1], strict=True))
    cells["annotator"] = cells.pop("judge")
    return tuple(cells[name] for name in COLUMNS[target])


def _clean(cell: Any) -> Cell:
    """A cell that a database accepts: no list or object, no NUL, no lone surrogate; long text is cut, with a note."""
    if isinstance(cell, (dict, list)):
        cell = as_text(cell)
    if not isinstance(cell, str):
        return cell
    if len(cell) > LONGEST:
        cell = f"{cell[:LONGEST]} … ({len(cell) - LONGEST:,} more characters, in the file alone)"
    if not cell.isascii():
        cell = cell.encode("utf-8", "replace").decode("utf-8")
    return cell.replace("\0", "\ufffd")
