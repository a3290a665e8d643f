"""Tasks for the tests of workers, in a module that a new process can import quickly."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from threading import get_ident

from crubric_core.errors import FitError
from crubric_core.workers import current_workers


def times(factor: int, number: int) -> int:
    return factor * number


def where(number: int) -> tuple[int, bool]:
    """Id of the process that runs the task, and whether tasks that it starts would run in the same process."""
    return os.getpid(), current_workers().here


def thread(number: int) -> int:
    return get_ident()


def fail(number: int) -> int:
    if number == 2:
        raise FitError("task 2 cannot be fitted")
    return number


def die_once(folder: Path, number: int) -> int:
    """Task 1 kills its process the first time that it runs; later runs and other tasks return ``number``."""
    mark = folder / "died"
    if number == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def slowly(number: int) -> tuple[int, int]:
    time.sleep(0.2)
    return number, os.getpid()
