"""Simulated faults: a full disk, a process that is killed at a chosen step, a read-only folder, a small disk."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def no_room(beyond: int = 0) -> Iterator[None]:
    """Simulate a full disk: no file of this process can grow beyond ``beyond`` bytes; existing files can shrink."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (beyond, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def killed(work: Callable[[], object]) -> None:
    """Run ``work`` in a fork of this process, and assert that it kills itself (``die``) before it ends."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # 3.12 warns of threads
        child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "it was not killed"


def die(*_: object, **__: object) -> None:
    """Kill this process like ``kill -9``: no handler runs."""
    os.kill(os.getpid(), signal.SIGKILL)


def read_only(folder: Path, script: str, *arguments: object) -> str:
    """Run a Python script while ``folder`` is mounted read-only, even for root, and return what it prints."""
    return _mounted(
        f"mount --bind {folder} {folder} && mount -o remount,ro,bind {folder}", script, *arguments
    )


def on_a_small_disk(script: str, *arguments: object, folder: Path, megabytes: int = 2) -> str:
    """Run a Python script while ``folder`` is a separate disk of that size, and return what it prints."""
    return _mounted(f"mount -t tmpfs -o size={megabytes}m tmpfs {folder}", script, *arguments)


def _mounted(mount: str, script: str, *arguments: object) -> str:
    unshare = shutil.which("unshare")
    if (
        unshare is None
        or subprocess.run([unshare, "--mount", "sh", "-c", mount], capture_output=True).returncode
    ):
        pytest.skip("this machine does not let a test mount a disk of its own")
    command = [sys.executable, "-c", script, *map(str, arguments)]
    inside = f'{mount} && exec "$@"'
    done = subprocess.run(
        [unshare, "--mount", "sh", "-c", inside, "sh", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
