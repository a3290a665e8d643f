"""Read archives and large JSON or nested Parquet files in a separate process, with limits of memory and time.

A record of hundreds of megabytes blocks the interpreter while it is parsed, and may need many times its size. A few
bytes of an archive may unpack to any number. In a separate process, neither can freeze or end the dashboard. One
process unpacks the archives of an upload, another inspects all its files, a third writes their rows. Small files, CSV
and flat Parquet are read in this process, which is faster.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeVar, cast

from ...environment import ONE_THREAD, PACKAGE
from ...errors import IngestError
from ...text import some
from .formats import archive
from .formats.compression import compression_of, is_tar
from .formats.parquet import ParquetReader
from .formats.sheets_child import limit

SMALL = (
    8 << 20
)  # bytes of JSON and Inspect logs, all files together, up to which they are read in this process
PACKED = 1 << 16  # bytes of an archive up to which it is unpacked in this process
_UNPACKED = 1 << 24  # and bytes that it declares
MEGABYTES = 6144  # of memory that the process may take
SECONDS = 600
_INSIDE = "CRUBRIC_READS_APART"  # set in the process itself
_HEAD = 1 << 12

T = TypeVar("T")


class File(Protocol):
    """An object with the path of a local file."""

    @property
    def path(self) -> Path:
        """The path of the file."""


def is_heavy(files: Iterable[File]) -> bool:
    """Whether files hold more than SMALL bytes of JSON or nested Parquet; always False in the separate process."""
    if _INSIDE in os.environ:
        return False
    left: float = SMALL
    for file in files:
        left -= _records_of(file.path)
    return left < 0


def _records_of(path: Path) -> float:
    """Bytes of JSON, nested Parquet or ZIP content in a file, unpacked; 0 for any other format."""
    if archive.is_zip(path):
        return max(archive.declared_size(path), path.stat().st_size)
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if head.startswith(b"PAR1"):
        with suppress(IngestError):  # the reader reports a broken file later
            reader = ParquetReader(path, path.name)
            return reader.unpacked_size() if reader.nested else 0
    is_json = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
    return path.stat().st_size if is_json else 0


def is_packed(path: Path, name: str) -> bool:
    """Whether a file is an archive that must be unpacked in the separate process; always False in that process.

    Raises IngestError where the entries of the archive show that it cannot be read.
    """
    if _INSIDE in os.environ:
        return False
    small = path.stat().st_size <= PACKED
    if archive.is_zip(path):
        declared = archive.declared_size(path)
        if small and declared <= _UNPACKED:
            return False
        return declared == float("inf") or not _has_reader(path, name)
    kind = compression_of(path)
    return (kind is not None or is_tar(path)) and (kind == "xz" or not small)


def _has_reader(path: Path, name: str) -> bool:
    """Whether a ZIP archive is a workbook or an Inspect log, which has a reader of its own."""
    entries = archive.entry_names(path, name)
    return any(entry in entries for entry in (*archive.LOG, *archive.WORKBOOK))


def apart(names: Iterable[str], function: Callable[..., T], *arguments: Any) -> T:
    """Return ``function(*arguments)``, computed in a separate process. function: must be importable from its module.

    names: the files that it reads, for messages. Raises the IngestError that the function raises, or one if the limit
    of memory or time is exceeded. Raises RuntimeError, with the traceback, for any other error of the function.
    """
    with TemporaryDirectory(prefix=f"crubric-{os.getpid()}-") as folder:
        task, answer = Path(folder) / "task", Path(folder) / "answer"
        task.write_bytes(pickle.dumps((function, arguments)))
        command = [sys.executable, "-m", __name__, str(task), str(answer)]
        environment = os.environ | ONE_THREAD | {_INSIDE: "1"}
        try:
            ended = subprocess.run(  # noqa: S603 - a module of this package; the files' names are in the task
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
            said = ended.stderr.decode("utf-8", "replace").rstrip()
            fault = said.rpartition("\n")[2]
            if ended.returncode > 0 and "Traceback" in said and "memory" not in fault.casefold():
                raise RuntimeError(f"Reading {some(names)} failed: {said}")
            raise _too_much(names)
        found, sentence = pickle.loads(answer.read_bytes())  # noqa: S301 - this package's own process wrote it
    if sentence is not None:
        raise IngestError(sentence)
    return cast("T", found)


def _too_much(names: Iterable[str]) -> IngestError:
    return IngestError(
        f"Reading {some(names)} takes more than {MEGABYTES // 1024} GiB of memory or {SECONDS // 60} minutes: "
        "split the file, or write it as JSON Lines or CSV."
    )


def main(task: Path, answer: Path) -> None:
    """Run one pickled task under limits and write its result to ``answer``; no file if the memory is exhausted."""
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
