"""docs/reliability.md: every promise names a test that exists, and every cell of the tables of faults is filled."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "reliability.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL))
FAULTS = ("kill", "full disk", "read-only", "damaged block", "clock going backwards", "two processes")


def named(section: str) -> tuple[list[Path], set[str]]:
    """The test files, and the parts of names of tests, that a section mentions."""
    words = re.findall(r"`([^`]+)`", SECTIONS[section])
    files = [ROOT / word for word in words if word.startswith("tests/")]
    return files, {word for word in words if re.fullmatch(r"[a-z]+(_[a-z]+){2,}", word)}


def names_in(path: Path) -> set[str]:
    found = ast.walk(ast.parse(path.read_text("utf-8")))
    return {
        node.name for node in found if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("section", SECTIONS)
def test_every_test_that_is_named_is_there(section: str) -> None:
    files, parts = named(section)
    there = set().union(*map(names_in, files))
    assert len(parts) > 3
    for part in parts:
        assert any(part in name for name in there), part


@pytest.mark.parametrize("section", ["The workspace", "Published views"])
def test_every_fault_has_its_row_and_every_cell_its_promise(section: str) -> None:
    rows = [line.strip("|").split(" | ") for line in SECTIONS[section].splitlines() if line.startswith("| ")]
    header, _, *faults = rows
    assert tuple(row[0].strip() for row in faults) == FAULTS
    for row in faults:
        assert len(row) == len(header)
        assert all(cell.strip(" |-") for cell in row), row[0]
