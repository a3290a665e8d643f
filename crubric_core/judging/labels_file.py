"""The file of labels: one JSON line a label, only appended to, so that a killed run loses no label and can resume."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from contextlib import ExitStack
from io import FileIO
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ..bank.identity import find_token
from ..endpoints.endpoint import Tokens
from ..errors import ExportError, PlacementError
from ..placement.judged_labels import FIELDS
from .calls import Call
from .prompting import Verdict

_Cell = tuple[str, str, str, int]  # rubric, system, judge, run


class LabelsFile:
    """The answers so far, by (rubric, system, judge, run); use it in a ``with`` block.

    write: False to read only; otherwise the file is locked against all other writers until the block ends. repaired:
    whether the last line was incomplete; it is removed when the file is opened for writing. n_verdicts: number of lines
    with a label. Raises ExportError if another run writes the file or it cannot be written, PlacementError if it
    belongs to another bank.
    """

    def __init__(self, path: Path, bank_id: str, *, write: bool = True) -> None:
        self.path = path
        self._hash: dict[_Cell, str] = {}
        if write and not (path.name and path.parent.is_dir() and (path.is_file() or not path.exists())):
            raise ExportError(f"{path} is no file that can be written: name one in a folder that exists.")
        self._lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=0, thread_local=False)
        with ExitStack() as refused:
            refused.callback(self._lock.release)
            try:
                if write:
                    self._lock.acquire()
                self._read(bank_id, write=write)
            except Timeout as error:
                raise ExportError(
                    f"Another run writes {path}: wait until it ends, or start afresh in another file."
                ) from error
            except OSError as error:
                raise ExportError(
                    f"{path} cannot be written ({error.strerror}): name another file."
                ) from error
            refused.pop_all()

    def _read(self, bank_id: str, *, write: bool) -> None:
        content = self.path.read_bytes() if self.path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        self.repaired = len(whole) < len(content)
        rows = [_row(line, self.path, n) for n, line in enumerate(whole.splitlines(), 1) if line.strip()]
        _require_bank(rows, self.path, bank_id)
        if write:
            with self.path.open("ab") as file:
                if self.repaired:
                    file.truncate(len(whole))
        self.n_verdicts = sum(row["label"] is not None for row in rows)
        for row in rows:
            self._hash[row["rubric"], row["system"], row["judge"], row["run"]] = row["prompt_hash"]

    def __enter__(self) -> LabelsFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __len__(self) -> int:
        return len(self._hash)

    def missing(self, call: Call) -> bool:
        """Whether the call still has to be made.

        Raises PlacementError if the file has a label of the same cell from a different prompt.
        """
        had = [self._hash.get(cell) for cell in _cells(call)]
        other = [seen for seen in had if seen not in (None, call.prompt_hash)]
        if other:
            raise PlacementError(
                f"{self.path} has labels of {call.judge.name} on {call.system}, run {call.run}, that were asked "
                "otherwise (another answer, model, instruction or --per): start afresh in another file."
            )
        return None in had

    def add(self, call: Call, verdicts: Sequence[Verdict], tokens: Tokens) -> int:
        """Append the lines of a call that are not in the file yet, in one write, and return their number.

        The first line gets the call's tokens. Raises ExportError if the file cannot be written; it is then unchanged.
        """
        lines: dict[_Cell, str] = {}
        known = 0
        for cell, rubric, verdict in zip(_cells(call), call.rubrics, verdicts, strict=True):
            if cell in self._hash:
                continue
            used = [None if math.isnan(n) else n for n in tokens] if not lines else (0, 0)
            values = (
                *(rubric.token, call.query, call.system, call.judge.name, call.run),
                *(verdict.label, verdict.reason, call.prompt_hash, *used),
            )
            lines[cell] = json.dumps(dict(zip(FIELDS, values, strict=True)), ensure_ascii=False) + "\n"
            known += verdict.label is not None
        try:
            with self.path.open("ab", buffering=0) as file:
                _append(file, "".join(lines.values()).encode("utf-8", "replace"))
        except OSError as error:
            raise ExportError(
                f"{self.path} cannot be written ({error.strerror}): make room and start again."
            ) from error
        self._hash |= dict.fromkeys(lines, call.prompt_hash)
        self.n_verdicts += known
        return len(lines)


def _append(file: FileIO, content: bytes) -> None:
    """Write all of the content, or none of it."""
    before = file.seek(0, os.SEEK_END)
    try:
        while content:
            content = content[file.write(content) :]
    except OSError:
        file.truncate(before)  # shrinking a file needs no free space
        raise


def _cells(call: Call) -> list[_Cell]:
    return [(rubric.token, call.system, call.judge.name, call.run) for rubric in call.rubrics]


def _row(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
        whole = isinstance(row, dict) and set(row) == set(FIELDS) and isinstance(row["run"], int)
    except (ValueError, RecursionError):
        whole = False
    if not whole:
        raise ExportError(
            f"{path}, line {number}, is no label that was written here: start afresh in another file."
        )
    found: dict[str, Any] = row
    return found


def _require_bank(rows: Sequence[dict[str, Any]], path: Path, bank_id: str) -> None:
    for row in rows:
        found = find_token(str(row["rubric"]))
        if found is None or found[1] != bank_id:
            raise PlacementError(
                f"{path} has labels of the bank {found[1] if found else 'of another tool'}, and this is the bank "
                f"{bank_id}: start afresh in another file."
            )
