"""The files of this process, and its command line as a user can type it."""

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
#: Environment variables that limit matrix products to one thread. Our matrices are small: a second thread saves no time
#: but takes a processor from the browser and from other sessions. With one thread, the last digits of a sum do not
#: depend on the number of processors.
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
    """Set ``ONE_THREAD`` for this process, except variables that are set already. Call it before NumPy is loaded."""
    for name, threads in ONE_THREAD.items():
        os.environ.setdefault(name, threads)


def _default(installed: str, checkout: str) -> Path:
    return Path(installed) if APP == _INSTALLED else APP / checkout


def typed(*words: str | Path) -> str:
    """A crubric command as one line for the user's shell, which may be in another folder: pass files as full paths."""
    line = [*program(), *map(str, words)]
    return subprocess.list2cmdline(line) if os.name == "nt" else shlex.join(line)


def recorded(*words: str) -> str:
    """A crubric command as one line for a document that others read; it does not contain a folder of this machine."""
    return shlex.join(["crubric", *words])


def program(started_as: str = "") -> list[str]:
    """The words that start the command line: the installed command, or this interpreter with the module.

    started_as: path of the running program; by default sys.argv[0].
    """
    command = Path(started_as or _STARTED_AS)
    if command.stem == "crubric":
        return [_name(command)]
    return [_name(Path(sys.executable)), "-m", "crubric_core"]


def _name(command: Path) -> str:
    """The bare name if the shell finds this file by it, else the full path."""
    found = shutil.which(command.name)
    here = command.absolute()
    return command.name if found is not None and Path(found).absolute() == here else str(here)
