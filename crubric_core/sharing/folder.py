"""Files of a views folder: written atomically and durably, by one writer at a time; only plain files are read."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
from filelock import FileLock

from ..errors import SharingError

PARTIAL = ".part"
_READ = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)  # O_NONBLOCK exists on POSIX, O_BINARY on Windows
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def writing(views: Path) -> Iterator[None]:
    """Create the folder if it does not exist, and lock it against other writers (threads and processes).

    An OSError or duckdb.Error in the context becomes a SharingError: the folder cannot be written, or is full. Its
    message says that nothing has changed, so the caller must restore the folder.
    """
    try:
        views.mkdir(mode=0o750, parents=True, exist_ok=True)  # a viewer may be another user of the same group
        with FileLock(views / ".lock"):
            yield
    except (OSError, duckdb.Error) as error:
        if is_full(error):
            raise SharingError(
                f"The views folder {views} has no room (the disk is full): nothing has changed. Make room, or name "
                "another folder with --views or CRUBRIC_VIEWS."
            ) from error
        why = error.strerror if isinstance(error, OSError) else str(error).partition("\n")[0]
        raise SharingError(
            f"The views folder {views} cannot be written ({why}): nothing has changed. Name another with --views or "
            "CRUBRIC_VIEWS, or let this user write to it."
        ) from error


def is_full(error: OSError | duckdb.Error) -> bool:
    """Whether the error means that a disk, a quota or a limit of file size is exhausted."""
    if isinstance(error, OSError):
        return error.errno in _FULL
    return any(os.strerror(number) in str(error) for number in _FULL)


def read_regular(path: Path, most: int) -> bytes | None:
    """The content of a plain file of at most ``most`` bytes; None for anything else, such as a pipe or a device.

    The file is opened without waiting: otherwise a pipe in the folder could block a reader for ever.
    """
    try:
        opened = os.open(path, _READ)
    except OSError:
        return None
    try:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            return None
        with os.fdopen(opened, "rb", closefd=False) as file:
            return file.read()
    except OSError:
        return None
    finally:
        os.close(opened)


def prepare(path: Path, content: bytes) -> Path:
    """Write the content to the disk under a temporary name, and return that path; rename it to ``path`` afterwards.

    If it fails, no file is left.
    """
    partial = path.with_name(path.name + PARTIAL)
    try:
        partial.write_bytes(content)
        _sync(partial)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return partial


def finish(partial: Path, path: Path) -> None:
    """Rename a finished file to its final name: its content is synced to the disk before, its folder after."""
    _sync(partial)
    partial.replace(path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    if (
        os.name == "nt" and path.is_dir()
    ):  # Windows opens no folder; its file system journals the names itself
        return
    opened = os.open(
        path, os.O_RDWR if os.name == "nt" else os.O_RDONLY
    )  # Windows syncs only what is open to write
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
