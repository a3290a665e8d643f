"""Temporary folders for files that are being read: deleted afterwards, even if the process was killed."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

DAY = 86_400.0  # seconds; a younger folder may belong to a running process that is not visible from here
_NAME = re.compile(r"crubric-(\d+)-.+")


@contextmanager
def scratch_folder() -> Iterator[str]:
    """A new temporary folder with the id of this process in its name; first deletes old folders of ended processes."""
    sweep(Path(gettempdir()))
    with TemporaryDirectory(prefix=f"crubric-{os.getpid()}-") as folder:
        yield folder


def sweep(temporary: Path, older: float = DAY) -> None:
    """Delete the folders of ended processes that are older than ``older`` seconds."""
    if os.name != "posix":  # on other systems, os.kill(pid, 0) would end the process
        return
    for folder in temporary.glob("crubric-*"):
        named = _NAME.fullmatch(folder.name)
        with suppress(OSError):
            old = time.time() - folder.stat().st_mtime > older
            if named and old and not _lives(int(named[1])):
                shutil.rmtree(folder)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
