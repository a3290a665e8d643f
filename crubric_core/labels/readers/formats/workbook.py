"""Excel workbooks: each sheet that holds a table, written out as CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path

import python_calamine

from ....errors import IngestError
from .archive import guard

_Cell = int | float | str | bool | time | date | datetime | timedelta


def sheets(path: Path, name: str, folder: Path) -> list[tuple[str, Path]]:
    """(name of the sheet, CSV file in ``folder``) of every sheet with a header and a row.

    Raises IngestError where the workbook is damaged, is larger than sane, or has no such sheet.
    """
    guard(path, name)
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    try:
        book = python_calamine.CalamineWorkbook.from_path(str(path))
        for number, sheet in enumerate(book.sheet_names):
            target = folder / f"sheet{number}.csv"
            if _write(book.get_sheet_by_name(sheet).to_python(skip_empty_area=True), target):
                found.append((sheet, target))
    except (python_calamine.CalamineError, ValueError, OSError) as error:
        raise IngestError(f"{name} cannot be read as a workbook ({_words(error)}): save it again.") from error
    if not found:
        raise IngestError(f"No sheet of {name} holds a table: expected a header and at least one row.")
    return found


def _write(rows: Sequence[Sequence[_Cell]], target: Path) -> bool:
    """The rows as CSV; whether there is at least a header and a row."""
    kept = list(_filled(rows))
    if len(kept) < 2:
        return False
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(kept)
    return True


def _filled(rows: Sequence[Sequence[_Cell]]) -> Iterator[list[str]]:
    """Rows as text, without those that are blank and the columns that have neither header nor cells."""
    texts = [[_text(cell) for cell in row] for row in rows]
    used = [i for i in range(max(map(len, texts), default=0)) if any(i < len(t) and t[i] for t in texts)]
    for text in texts:
        if any(text):
            yield [text[i] if i < len(text) else "" for i in used]


def _text(cell: _Cell) -> str:
    """A cell as it is meant: 4.0 is 4, a date is ISO, true and false are words."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, (date, datetime, time)) else str(cell).replace("\0", "\ufffd")


def _words(error: Exception) -> str:
    return re.sub(r"\s+", " ", str(error))[:120].strip(". ") or "damaged"
