"""Files of a views folder: each written whole and lasting, one writer at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from ..errors import SharingError

PARTIAL = ".part"


@contextmanager
def writing(views: Path) -> Iterator[None]:
    """The folder, made if it is new, while no other thread or process writes to it; SharingError if it cannot be."""
    try:
        views.mkdir(mode=0o750, parents=True, exist_ok=True)  # a viewer may be another user of the same group
        with FileLock(views / ".lock"):
            yield
    except OSError as error:
        raise SharingError(
            f"The views folder {views} cannot be written ({error.strerror}): name another with --views or "
            "CRUBRIC_VIEWS, or make room."
        ) from error


def write_lasting(path: Path, content: bytes) -> None:
    """Under another name first, then renamed: after a crash or a power cut there is the old file or the new one."""
    partial = path.with_name(path.name + PARTIAL)
    with partial.open("wb") as file:
        file.write(content)
    settle(partial, path)


def settle(partial: Path, path: Path) -> None:
    """Give a finished file its name, with all of it on the disk before and the name after."""
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
