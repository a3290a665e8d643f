"""Folders for files that are needed while they are read: gone afterwards, also after a process that was killed."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

DAY = 86_400.0  # seconds; a folder that is younger may belong to a process that cannot be seen from here
_NAME = re.compile(r"crubric-(\d+)-.+")


@contextmanager
def scratch_folder() -> Iterator[str]:
    """A new folder with the number of this process in its name."""
    sweep(Path(gettempdir()))
    with TemporaryDirectory(prefix=f"crubric-{os.getpid()}-") as folder:
        yield folder


def sweep(temporary: Path, older: float = DAY) -> None:
    """Delete the folders of processes that are gone, those of the last ``older`` seconds left alone."""
    if os.name != "posix":  # elsewhere nobody can be asked without being ended
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
