"""The file of labels that judges write, one JSON line a label; the last line is incomplete if a run was killed."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ..labels.readers.sources import Named, Source, Sources

FIELDS = (
    *("rubric", "query", "system", "judge", "run", "label", "reason"),
    *("prompt_hash", "tokens_in", "tokens_out"),
)


def without_torn_lines(sources: Sources) -> tuple[Sources, tuple[str, ...]]:
    """The sources, with incomplete last lines of judges' files removed, and a note about each such file."""
    if isinstance(sources, list):
        found = [_whole(source) for source in sources]
        return [source for source, _ in found], tuple(note for _, notes in found for note in notes)
    return _whole(sources) if isinstance(sources, str | Path) else (sources, ())


def _whole(source: Source | Named) -> tuple[Source | Named, tuple[str, ...]]:
    path = Path(source) if isinstance(source, str | Path) else None
    if path is None or not path.is_file() or not _is_torn(path):
        return source, ()
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    note = f"The last line of {path.name} is incomplete, because its run was stopped: it does not count."
    return (path.name, whole), (note,)


def _is_torn(path: Path) -> bool:
    """Whether the file was written by judges and its last line is incomplete."""
    with path.open("rb") as file:
        first = file.readline(1 << 20)
        if not first.endswith(b"\n"):
            return False
        file.seek(-1, os.SEEK_END)
        if file.read() == b"\n":
            return False
    try:
        return tuple(json.loads(first)) == FIELDS
    except (ValueError, TypeError, RecursionError):
        return False
