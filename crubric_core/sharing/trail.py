"""The audit trail: one line for each change that took place, on the disk before the change becomes visible.

A line is written just before the last step of a change, the renaming of a file, which needs no room on the disk. If
that step fails, the line is removed; if the process is killed in between, the next writer adds a line that says so.
"""

from __future__ import annotations

import getpass
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pandas as pd

from ..access import require_editor
from .folder import read_regular

COLUMNS = ("when", "who", "what", "id", "detail")
UNDONE = "undone"
MOST = 256 << 20  # bytes that are read


@dataclass(frozen=True)
class Entry:
    """A line of the trail.

    when: time of the change, ISO 8601 in UTC. who: name of the user. what: publish, replace, expiry, revoke, or
    ``undone`` for a change that was recorded but did not take place. id: the view. detail: further text, or "".
    """

    when: str
    who: str
    what: str
    id: str
    detail: str = ""


def audit(views: str | Path) -> pd.DataFrame:
    """All changes of the views in a folder, oldest first, with the columns COLUMNS (strings). It contains no token."""
    require_editor("read the audit trail")
    lines = (read_regular(_path(Path(views)), MOST) or b"").splitlines()
    rows = [vars(entry) for entry in map(_entry, lines) if entry is not None]
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=str)


@contextmanager
def recorded(views: Path, entry: Entry) -> Iterator[None]:
    """Write the line, then run the caller's last step; if that raises, remove the line again."""
    with _path(views).open("ab+") as file:
        before = file.tell()
        try:
            _append(file.fileno(), before, entry)
            yield
        except BaseException:
            os.ftruncate(file.fileno(), before)  # a file that shrinks needs no room
            raise


def last_entry(views: Path) -> Entry | None:
    """The last line of the trail; None if there is no line or the last one cannot be parsed."""
    lines = (read_regular(_path(views), MOST) or b"").splitlines()
    return _entry(lines[-1]) if lines else None


def moment(when: datetime) -> str:
    """The time as a string in ISO 8601, as a line of the trail has it."""
    return when.isoformat()


def this_user() -> str:
    """The name of the user who runs this process; "uid N" for an account without a name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in some containers
        return f"uid {os.getuid()}"


def _append(file: int, end: int, entry: Entry) -> None:
    """Append the line to the file (descriptor ``file``, ``end`` bytes long) and sync it to the disk."""
    line = json.dumps(vars(entry)).encode() + b"\n"
    os.lseek(file, max(end - 1, 0), os.SEEK_SET)  # to read the last byte; writing appends from any position
    if end and os.read(file, 1) != b"\n":
        line = b"\n" + line  # a line cut off by a crash stays a separate line
    while line:
        line = line[os.write(file, line) :]
    os.fsync(file)


def _path(views: Path) -> Path:
    return views / "audit.jsonl"


def _entry(line: bytes) -> Entry | None:
    try:
        found = json.loads(line)
        return Entry(*(str(found[name]) for name in COLUMNS))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
