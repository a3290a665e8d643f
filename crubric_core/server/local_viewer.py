"""Run the server of shared views beside the dashboard: for this machine only, and as long as the dashboard runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ..environment import APP
from .sign_in import listed_people
from .viewer_check import Check, check_viewer, is_here
from .views_folder import viewer_base, views_folder

PATIENCE = 20.0  # seconds until the viewer answers
STEP = 0.25
_UNTIL_EOF = (
    "import os, sys, threading\n"
    "threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()\n"
    "from crubric_core.__main__ import main\n"
    "sys.exit(main(sys.argv[1:]))\n"
)
"""Program of the viewer's process. It ends when its standard input closes, so it never outlives the dashboard."""
_OF_THE_SYSTEM = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TMPDIR",
    "SYSTEMROOT",
    "USERPROFILE",
    "TEMP",
    "TMP",
)
_GIVEN = ("CRUBRIC_VIEWS", "CRUBRIC_VIEWER_URL", "PYTHONPATH", *_OF_THE_SYSTEM)
"""The environment variables that the viewer receives. Others may name the workspace or hold keys."""


@dataclass(frozen=True)
class LocalViewer:
    """A viewer that this process started."""

    process: subprocess.Popen[bytes]

    @property
    def running(self) -> bool:
        """Whether the process has not ended."""
        return self.process.poll() is None

    def stop(self) -> None:
        """End the process: terminate it, and kill it after 10 seconds. Harmless if it has ended."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def can_start(check: Check) -> bool:
    """Whether the dashboard may start a viewer: links lead to this machine, nothing answers there, no login is used."""
    return check.answer == "silent" and is_here(check.base) and listed_people() is None


def start_viewer() -> LocalViewer:
    """Start a viewer of the views folder, on the loopback address and the port of the links."""
    port = urlsplit(viewer_base()).port or 8502
    folder = views_folder().absolute()
    folder.mkdir(parents=True, exist_ok=True)
    given = {name: os.environ[name] for name in _GIVEN if name in os.environ}
    command = [sys.executable, "-c", _UNTIL_EOF, "viewer", "--views", str(folder), "--port", str(port)]
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and command
        [*command, "--", "--server.address", "localhost"],
        cwd=APP,
        env={**given, "PYTHONPATH": os.pathsep.join(filter(None, [_package(), given.get("PYTHONPATH", "")]))},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return LocalViewer(process)


def wait_for(viewer: LocalViewer, patience: float = PATIENCE) -> Check:
    """Check the viewer until something answers, its process ends, or ``patience`` (seconds) is over; the last check."""
    until = time.monotonic() + patience
    while (check := check_viewer()).answer == "silent" and viewer.process.poll() is None:
        if time.monotonic() > until:
            break
        time.sleep(STEP)
    return check


def _package() -> str:
    return str(Path(__file__).resolve().parents[2])
