"""The glossary defines each term once, and the names of code that it gives exist."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLANNED = {"theta_se", "comparisons", "design_effect", "answers", "run"}
"""Names in the glossary whose code may not exist yet."""


def rows() -> list[list[str]]:
    """[term, meaning, symbol, synonyms, code] of every row of the glossary."""
    lines = (ROOT / "docs/glossary.md").read_text("utf-8").splitlines()
    cells = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines if line[:2] == "| "]
    return [row for row in cells if row[0] not in ("term", "---")]


def test_every_row_has_a_term_and_a_meaning() -> None:
    table = rows()
    assert len(table) > 80
    assert {len(row) for row in table} == {5}
    assert all(row[0] and row[1].endswith(".") for row in table)


def test_no_term_is_defined_twice() -> None:
    assert max(Counter(row[0] for row in rows()).values()) == 1


def test_no_term_is_what_another_one_is_not_called() -> None:
    table = rows()
    synonyms = {word.strip() for row in table for word in row[3].split(",")}
    assert {row[0] for row in table} & synonyms == {"threshold"}, "the gate's, never a rubric's"


def test_the_names_in_the_code_exist() -> None:
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "crubric_core").rglob("*.py"))
    words = set(re.findall(r"\w+", source))
    named = {
        word
        for row in rows()
        for code in re.findall(r"`([^`]+)`", row[4])
        for word in re.findall(r"\w+", code)
    }
    assert named - words - PLANNED == set()
