"""The audit trail: one line for each change that took place, and on the disk before anybody can see the change.

A line is written when all is ready but the last step, which needs no room: the renaming of a file. If that step
fails the line is withdrawn; if the process is killed in between, the next writer adds a line that says so.
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
    """A line of the trail. when: the moment of the change, ISO 8601 in UTC. what: publish, replace, expiry, revoke,
    or ``undone`` for one that was announced and did not take place. id: the view.
    """

    when: str
    who: str
    what: str
    id: str
    detail: str = ""


def audit(views: str | Path) -> pd.DataFrame:
    """Who did what to which view and when, oldest first: columns COLUMNS. Never a token."""
    require_editor("read the audit trail")
    lines = (read_regular(_path(Path(views)), MOST) or b"").splitlines()
    rows = [vars(entry) for entry in map(_entry, lines) if entry is not None]
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=str)


@contextmanager
def recorded(views: Path, entry: Entry) -> Iterator[None]:
    """Write the line, then let the caller take the last step; without that step there is no line."""
    with _path(views).open("ab+") as file:
        before = file.tell()
        try:
            _append(file.fileno(), before, entry)
            yield
        except BaseException:
            os.ftruncate(file.fileno(), before)  # a file that shrinks needs no room
            raise


def last_entry(views: Path) -> Entry | None:
    """The last whole line; None where there is none."""
    lines = (read_regular(_path(views), MOST) or b"").splitlines()
    return _entry(lines[-1]) if lines else None


def moment(when: datetime) -> str:
    """As a line writes it."""
    return when.isoformat()


def this_user() -> str:
    """The name of the user who runs this process."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in some containers
        return f"uid {os.getuid()}"


def _append(file: int, end: int, entry: Entry) -> None:
    """The line, in one go, when the disk has all of it."""
    line = json.dumps(vars(entry)).encode() + b"\n"
    os.lseek(file, max(end - 1, 0), os.SEEK_SET)  # what is written goes to the end from wherever
    if end and os.read(file, 1) != b"\n":
        line = b"\n" + line  # a line cut off by a crash stays by itself
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
