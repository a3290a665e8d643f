"""The audit trail: a line is on the disk before the change it tells of, and none is ever rewritten."""

from __future__ import annotations

import getpass
import json
import os
from datetime import datetime
from pathlib import Path

import pandas as pd

from ..access import require_editor

COLUMNS = ("when", "who", "what", "id", "detail")


def audit(views: str | Path) -> pd.DataFrame:
    """Who did what to which view and when, oldest first: columns COLUMNS. Never a token."""
    require_editor("read the audit trail")
    path = Path(views) / "audit.jsonl"
    lines = path.read_bytes().splitlines() if path.is_file() else []
    rows = [row for row in map(_row, lines) if row is not None]
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=str)


def record(views: Path, now: datetime, who: str | None, what: str, view: str, detail: str = "") -> None:
    """Append one line and wait until the disk has it; ``who`` None is the user of this process."""
    line = dict(zip(COLUMNS, (now.isoformat(), who or this_user(), what, view, detail), strict=True))
    with (views / "audit.jsonl").open("ab+") as file:
        if file.tell() and os.pread(file.fileno(), 1, file.tell() - 1) != b"\n":
            file.write(b"\n")  # a line cut off by a crash stays by itself
        file.write(json.dumps(line).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def this_user() -> str:
    """The name of the user who runs this process."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in some containers
        return f"uid {os.getuid()}"


def _row(line: bytes) -> list[str] | None:
    try:
        found = json.loads(line)
        return [str(found[name]) for name in COLUMNS]
    except (ValueError, KeyError, TypeError):
        return None
