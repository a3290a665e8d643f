"""A separate program that reads one workbook and writes each sheet that holds a table as CSV.

    python -I sheets_child.py WORKBOOK FOLDER MEGABYTES SECONDS

It has its own process because a small damaged workbook can make the reader ask for more memory than there is, which
ends the process. It imports nothing of this package and prints one JSON object: {"sheets": [[name, file], …],
"blank": the number of formulas without a stored value}, or {"error": why}.
"""

from __future__ import annotations

import csv
import json
import re
import sys
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from importlib import import_module
from pathlib import Path
from typing import Any

_MOST_CELLS = 5_000_000  # in a sheet's extent
_SPARSE = 50  # cells in the extent for each filled one; with more, a stray cell is far from the table
_AT = re.compile(rb'<c [^>]*?\br="([A-Z]{1,3})([0-9]{1,7})"')
_FORMULA = re.compile(rb"<c\b([^>]*)>\s*<f\b(?:[^>]*/>|[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
_TEXT = re.compile(rb"\bt=\"str\"")  # of a formula whose value is the empty text
_LONGEST = 1 << 16  # bytes of a cell with a formula, of at most 8,192 characters
_LOOKED_AT = 20  # rows in which the header is looked for
_BLOCK = 1 << 20

Span = tuple[int, int, int, int]  # top, left, bottom, right, counted from the first row and column


def limit(megabytes: int, seconds: int) -> None:
    """Bound the process's memory and time, where the platform can."""
    try:
        resource = import_module("resource")
    except ImportError:
        return  # no such limits on Windows; the parent keeps the time
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def extent_problem(path: Path) -> str | None:
    """Why a workbook is refused: a sheet with a huge, nearly empty extent, by its cells' addresses; else None."""
    return next((problem for name, blocks in _xml(path) if (problem := _extent(blocks, name))), None)


def blank_formulas(path: Path) -> int:
    """The number of formulas without a stored value, as some programs write them; they are read as empty."""
    found = 0
    for _, blocks in _xml(path):
        rest = b""
        for block in blocks:
            text, end = rest + block, 0
            for cell in _FORMULA.finditer(text):
                found += not _TEXT.search(cell[1])
                end = cell.end()
            rest = text[max(end, len(text) - _LONGEST) :]
    return found


def _xml(path: Path) -> Iterator[tuple[str, Iterator[bytes]]]:
    """(name, blocks of its bytes) of each sheet's XML in an .xlsx workbook; other kinds yield no sheets."""
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if re.fullmatch(r"xl/worksheets/[^/]+\.xml", name):
                with archive.open(name) as file:
                    yield name, iter(lambda file=file: file.read(_BLOCK), b"")  # type: ignore[misc]


def _extent(blocks: Iterator[bytes], name: str) -> str | None:
    cells = rows = columns = 0
    rest = b""
    for block in blocks:
        text = rest + block
        end = 0
        for found in _AT.finditer(text):
            cells += 1
            rows, columns = max(rows, int(found[2])), max(columns, _column(found[1]))
            end = found.end()
        rest = text[max(end, len(text) - 200) :]
    if rows * columns > _MOST_CELLS and rows * columns > _SPARSE * cells:
        return (
            f"{name.rsplit('/', 1)[-1]} goes to row {rows:,}, column {columns:,}, with {cells:,} cells filled"
        )
    return None


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def write_sheets(path: Path, folder: Path) -> list[tuple[str, str]]:
    """Write each sheet with a header and at least one row to ``folder``; return their (name, CSV file)."""
    import python_calamine

    found = []
    book = python_calamine.CalamineWorkbook.from_path(str(path))
    for number, name in enumerate(book.sheet_names):
        sheet = book.get_sheet_by_name(name)
        rows = sheet.to_python(skip_empty_area=True)
        table = table_of(rows, _merges(sheet))
        if len(table) > 1:
            target = folder / f"sheet{number}.csv"
            with target.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(table)
            found.append((name, str(target)))
    return found


def _merges(sheet: Any) -> list[Span]:
    """Merged cells, counted from the first filled row and column."""
    start = sheet.start or (0, 0)
    ranges = sheet.merged_cell_ranges or []
    return [
        (top - start[0], left - start[1], bottom - start[0], right - start[1])
        for (top, left), (bottom, right) in ranges
        if top >= start[0] and left >= start[1]
    ]


def table_of(rows: Sequence[Sequence[Any]], merges: Sequence[Span]) -> list[list[str]]:
    """The header and rows of a sheet as text, without titles above the header; merged cells are filled.

    Blank rows and columns without header or cells are dropped.
    """
    texts = [[_text(cell) for cell in row] for row in rows]
    width = max(map(len, texts), default=0)
    texts = [row + [""] * (width - len(row)) for row in texts]
    bare = [list(row) for row in texts]
    for top, left, bottom, right in merges:
        if bottom < len(texts) and right < width:
            for r in range(top, bottom + 1):
                texts[r][left : right + 1] = [texts[top][left]] * (right + 1 - left)
    table = texts[_header_at(bare) :]
    used = [i for i in range(width) if any(row[i] for row in table)]
    return [[row[i] for i in used] for row in table if any(row)]


def _header_at(rows: Sequence[Sequence[str]]) -> int:
    """The position of the header: the first row with about as many cells as those below, as titles have one or two.

    If names are repeated in that row, as below groups of columns, it is the row above, which has the groups.
    """
    filled = [sum(map(bool, row)) for row in rows]
    seen = [n for n in filled[: 10 * _LOOKED_AT] if n]
    usual = sorted(seen)[len(seen) // 2] if seen else 0
    first = next(
        (number for number, n in enumerate(filled[:_LOOKED_AT]) if n and (n >= 0.6 * usual or n > 2)), 0
    )
    names = [cell for row in rows[first : first + 1] for cell in row if cell]
    grouped = first > 0 and filled[first - 1] > 1 and len(set(names)) < len(names)
    return first - grouped


def _text(cell: Any) -> str:
    """A cell as text: 4.0 as "4", dates in ISO format, booleans as "true" and "false"."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, (date, datetime, time)):
        return cell.isoformat()
    return str(cell).replace("\0", "\ufffd")


def main(arguments: Sequence[str]) -> None:
    """Read one workbook under limits, and print the result as JSON."""
    path, folder, megabytes, seconds = (
        Path(arguments[0]),
        Path(arguments[1]),
        int(arguments[2]),
        int(arguments[3]),
    )
    limit(megabytes, seconds)
    try:
        problem = extent_problem(path)
        answer: dict[str, Any] = {"error": problem} if problem else {"sheets": write_sheets(path, folder)}
        answer["blank"] = 0 if problem else blank_formulas(path)
    except MemoryError:
        answer = {"error": "it needs more memory than it may have"}
    except Exception as error:  # noqa: BLE001 - whatever a stranger's file makes the reader raise is the file's fault
        answer = {"error": re.sub(r"\s+", " ", str(error))[:120].strip(". ") or "damaged"}
    print(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1:])
