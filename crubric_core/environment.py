"""Where this process keeps its files, and the command line as a person can type it where they are."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
_INSTALLED = PACKAGE / "_app"
#: The folder that holds app.py and pages/: part of an installed package, beside the package in a checkout.
APP = _INSTALLED if _INSTALLED.is_dir() else PACKAGE.parent
#: The environment of a process whose matrix products use one thread each. Ours are small: a second thread takes a whole
#: processor from the browser and from other sessions, and saves no time. The last digits of a sum then do not depend on
#: how many processors a machine has.
ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
_STARTED_AS = sys.argv[0]  # Streamlit writes its own arguments over sys.argv


def workspace_path() -> Path:
    """The workspace file: CRUBRIC_WORKSPACE, or crubric.duckdb in the working folder (a checkout: data/demo.duckdb)."""
    return Path(os.environ.get("CRUBRIC_WORKSPACE") or _default("crubric.duckdb", "data/demo.duckdb"))


def views_folder() -> Path:
    """The folder of published views: CRUBRIC_VIEWS, or crubric-views in the working folder (a checkout: data/views)."""
    return Path(os.environ.get("CRUBRIC_VIEWS") or _default("crubric-views", "data/views"))


def use_one_thread() -> None:
    """``ONE_THREAD`` for this process, unless its environment names a number; before NumPy is loaded."""
    for name, threads in ONE_THREAD.items():
        os.environ.setdefault(name, threads)


def _default(installed: str, checkout: str) -> Path:
    return Path(installed) if APP == _INSTALLED else APP / checkout


def typed(*words: str | Path) -> str:
    """A command of ours as one line for the user's shell, which may be in another folder: give files as whole paths."""
    line = [*program(), *map(str, words)]
    return subprocess.list2cmdline(line) if os.name == "nt" else shlex.join(line)


def recorded(*words: str) -> str:
    """A command of ours as one line for a document that goes to others: no folder of this machine is part of it."""
    return shlex.join(["crubric", *words])


def program(started_as: str = "") -> list[str]:
    """The words that start the command line: the installed command, or this interpreter with the module."""
    command = Path(started_as or _STARTED_AS)
    if command.stem == "crubric":
        return [_name(command)]
    return [_name(Path(sys.executable)), "-m", "crubric_core"]


def _name(command: Path) -> str:
    """The bare name where the shell finds this very file by it, else the whole path."""
    found = shutil.which(command.name)
    here = command.absolute()
    return command.name if found is not None and Path(found).absolute() == here else str(here)
