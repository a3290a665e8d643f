"""Large files of foreign formats are read by a process of its own, under limits of memory and time.

A record of hundreds of megabytes holds the interpreter while it is parsed, and may need many times its size: apart, it
neither freezes the dashboard nor ends it. One process looks into all files of an upload, another writes their rows.
Small files, CSV and Parquet stay in this process, which is faster.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, cast

from ...environment import PACKAGE
from ...errors import IngestError
from .formats.sheets_child import limit
from .sources import Piece

SMALL = (
    8 << 20
)  # bytes of JSON and Inspect logs, all files together, up to which they are read in this process
MEGABYTES = 6144  # of memory that the process may take
SECONDS = 600
_INSIDE = "CRUBRIC_READS_APART"  # set in the process itself
_HEAD = 1 << 12
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")

T = TypeVar("T")


def is_heavy(pieces: Iterable[Piece]) -> bool:
    """Whether files have more JSON than may be parsed in this process; False in the process that reads apart."""
    if _INSIDE in os.environ:
        return False
    left = SMALL
    for piece in pieces:
        size = piece.path.stat().st_size
        if size and _is_record_format(piece.path):
            left -= size
    return left < 0


def _is_record_format(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(_HEAD)
    return head.startswith(b"PK") or head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")


def apart(names: Iterable[str], function: Callable[..., T], *arguments: Any) -> T:
    """``function(*arguments)``, a function of a module, in a process of its own; ``names``: of the files that it reads.

    Raises the IngestError that the function raises, or one that says that it took too much.
    """
    with TemporaryDirectory(prefix=f"crubric-{os.getpid()}-") as folder:
        task, answer = Path(folder) / "task", Path(folder) / "answer"
        task.write_bytes(pickle.dumps((function, arguments)))
        command = [sys.executable, "-m", __name__, str(task), str(answer)]
        environment = os.environ | _ONE_THREAD | {_INSIDE: "1"}
        try:
            subprocess.run(  # noqa: S603 - a module of this package; the files' names are in the task
                command,
                cwd=PACKAGE.parent,
                env=environment,
                capture_output=True,
                timeout=2 * SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise _too_much(names) from error
        if not answer.is_file():
            raise _too_much(names)
        found, sentence = pickle.loads(answer.read_bytes())  # noqa: S301 - this package's own process wrote it
    if sentence is not None:
        raise IngestError(sentence)
    return cast("T", found)


def _too_much(names: Iterable[str]) -> IngestError:
    listed = list(names)
    some = ", ".join(listed[:3]) + (f" and {len(listed) - 3:,} more" if len(listed) > 3 else "")
    return IngestError(
        f"Reading {some} takes more than {MEGABYTES // 1024} GiB of memory or {SECONDS // 60} minutes: split the file, "
        "or write it as JSON Lines or CSV."
    )


def main(task: Path, answer: Path) -> None:
    """Carry out one task under limits; without an answer where it takes too much."""
    limit(MEGABYTES, SECONDS)
    function, arguments = pickle.loads(task.read_bytes())  # noqa: S301 - the parent of this process wrote it
    said: tuple[Any, str | None]
    try:
        said = (function(*arguments), None)
    except IngestError as error:
        said = (None, str(error))
    except MemoryError:
        return
    part = answer.with_suffix(".part")
    part.write_bytes(pickle.dumps(said))
    part.rename(answer)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
