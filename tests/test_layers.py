"""Linters keep the packages apart: the code passes, and an import that is not allowed would be found."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE_THE_LAYERS = {"__init__", "types"}
HOUSE_LIBRARIES = {"streamlit", "plotly", "duckdb"}
ALLOWED = {
    "labels": {"duckdb"},
    "sharing": {"duckdb"},
    "figures": {"plotly"},
    "reports": {"plotly"},
    "ui": {"streamlit", "plotly"},
    "server": {"streamlit"},
}


def imported(path: Path) -> set[str]:
    """Top-level names of all packages that a module imports, also inside functions."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    from_ = {
        node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level
    }
    return {name.split(".")[0] for name in plain | from_}


def ruff(path: str, source: str) -> subprocess.CompletedProcess[str]:
    """Lint ``source`` as the file ``path``, for misplaced imports only."""
    command = [sys.executable, "-m", "ruff", "check", "--select", "TID251", "--stdin-filename", path, "-"]
    return subprocess.run(command, cwd=ROOT, input=source, capture_output=True, text=True, check=False)


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the package in ``folder``."""
    call = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", call, "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("path", "statement"),
    [
        ("crubric_core/irt/x.py", "import streamlit"),
        ("crubric_core/analysis/pipeline.py", "from streamlit import cache_data"),
        ("crubric_core/sharing.py", "import plotly.graph_objects as go"),
        ("pages/../crubric_core/bank/x.py", "from plotly import express"),
        ("crubric_core/judges/x.py", "import duckdb"),
        ("crubric_core/ui/../demo/x.py", "from duckdb import connect"),
    ],
)
def test_a_library_outside_its_rooms_is_refused(path: str, statement: str) -> None:
    done = ruff(path, f"{statement}\n")
    assert done.returncode == 1
    assert "TID251" in done.stdout


@pytest.mark.parametrize(
    ("path", "statement"),
    [
        ("app.py", "import streamlit"),
        ("pages/bank.py", "import streamlit"),
        ("crubric_core/ui/x.py", "import streamlit"),
        ("crubric_core/figures/x.py", "import plotly.graph_objects as go"),
        ("crubric_core/labels/x.py", "import duckdb"),
        ("crubric_core/irt/x.py", "import scipy"),
    ],
)
def test_a_library_in_its_room_is_accepted(path: str, statement: str) -> None:
    assert ruff(path, f"{statement}\n").returncode == 0


def test_rooms_with_a_library_of_their_own_leave_the_others_alone() -> None:
    for path in sorted((ROOT / "crubric_core").glob("**/*.py")):
        room = path.relative_to(ROOT / "crubric_core").parts[0]
        assert imported(path) & HOUSE_LIBRARIES <= ALLOWED.get(room, set()), path


def test_nothing_is_imported_that_only_unix_has() -> None:
    """The package has to import on macOS and Windows too."""
    for path in sorted((ROOT / "crubric_core").glob("**/*.py")):
        assert imported(path).isdisjoint({"fcntl", "grp", "pwd", "resource", "termios"}), path


def test_no_room_imports_a_higher_one() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("path", "statement"),
    [
        ("labels/offence.py", "from ..irt import fit"),
        ("settings.py", "from .labels import store"),
        ("bank/offence.py", "import crubric_core.leaderboard"),
        ("demo/offence.py", "from ..analysis import pipeline"),
    ],
)
def test_an_import_of_a_higher_room_is_refused(tmp_path: Path, path: str, statement: str) -> None:
    shutil.copytree(
        ROOT / "crubric_core", tmp_path / "crubric_core", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / "crubric_core" / path).open("a") as module:
        module.write(f"\n{statement}\n")
    done = lint_imports(tmp_path)
    assert done.returncode == 1
    assert "Data enters on the left and never walks back BROKEN" in done.stdout


def test_every_room_has_its_layer() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    layers = {layer.strip("()").removeprefix("crubric_core.") for layer in contract["layers"]}
    modules = {path.stem for path in (ROOT / "crubric_core").glob("*.py")}
    packages = {path.parent.name for path in (ROOT / "crubric_core").glob("*/__init__.py")}
    assert (modules | packages) - OUTSIDE_THE_LAYERS <= layers


def test_no_two_public_types_share_a_name() -> None:
    homes: dict[str, list[str]] = {}
    for path in sorted((ROOT / "crubric_core").rglob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(path.relative_to(ROOT).as_posix())
    assert len(homes) > 300
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}
