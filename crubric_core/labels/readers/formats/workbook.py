"""Read Excel workbooks: a separate process with limits writes each sheet that holds a table as CSV."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from ....errors import IngestError
from .archive import guard

MEGABYTES = 3072  # of memory that reading a workbook may take
SECONDS = 120
_CHILD = Path(__file__).with_name("sheets_child.py")


def sheets(path: Path, name: str, folder: Path) -> tuple[list[tuple[str, Path]], int]:
    """([(sheet's name, CSV file in ``folder``)], number of formulas without a stored value) of a workbook.

    Only sheets with a header and at least one row are included. The cells of such formulas are empty.

    Raises IngestError if the workbook is damaged or too large, or has no such sheet.
    """
    guard(path, name)
    folder.mkdir(parents=True, exist_ok=True)
    tables, blank = _read_apart(path, name, folder)
    found = [(sheet, Path(file)) for sheet, file in tables]
    if not found:
        raise IngestError(f"No sheet of {name} holds a table: expected a header and at least one row.")
    return found, blank


def _read_apart(path: Path, name: str, folder: Path) -> tuple[list[tuple[str, str]], int]:
    command = [
        sys.executable,
        "-I",
        str(_CHILD),
        str(path.resolve()),
        str(folder),
        str(MEGABYTES),
        str(SECONDS),
    ]
    try:
        done = subprocess.run(  # noqa: S603 - a program of this package; the file's name is only an argument
            command, capture_output=True, timeout=2 * SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise _refused(name, f"it takes longer than {2 * SECONDS} s") from error
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        why = f"it needs more than {MEGABYTES // 1024} GiB of memory or {SECONDS} s"
        raise _refused(name, f"{why}; a stray cell far from the table can cause this") from None
    if "error" in answer:
        raise _refused(name, answer["error"])
    return [(sheet, file) for sheet, file in answer["sheets"]], int(answer["blank"])


def _refused(name: str, why: str) -> IngestError:
    return IngestError(
        f"{name} cannot be read as a workbook ({why}): delete what is empty around the table, and save it again."
    )
