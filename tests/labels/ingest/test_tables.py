"""The list of temporary tables in docs/architecture.md is that of the source."""

from __future__ import annotations

import re
from pathlib import Path

import crubric_core.labels as labels

HOME = Path(labels.__file__).parent
PAGE = HOME.parents[1] / "docs" / "architecture.md"
MADE = re.compile(r"CREATE (?:OR REPLACE )?TEMP TABLE ([a-z_]+|\{column\}_names)\b")
ROW = re.compile(
    r"^\| ((?:`[a-z_]+`(?:, )?)+) \| [^|]+ \| ((?:`ingest/[a-z_]+\.py`(?:, )?)+) \|$", re.MULTILINE
)
NAMED = {"system_names", "judge_names", "annotator_names", "run_names"}  # made by one statement
BY_READERS = {"incoming", "rejected"}  # made by readers, and of several files by more modules


def test_every_temporary_table_of_an_ingest_is_listed_with_the_modules_that_make_it() -> None:
    made: dict[str, set[str]] = {}
    for path in (HOME / "ingest").glob("*.py"):
        for name in MADE.findall(path.read_text("utf-8")):
            for one in NAMED if "{" in name else {name}:
                made.setdefault(one, set()).add(f"ingest/{path.name}")
    listed: dict[str, set[str]] = {}
    for names, modules in ROW.findall(PAGE.read_text("utf-8")):
        for name in re.findall(r"`([^`]+)`", names):
            listed[name] = set(re.findall(r"`([^`]+)`", modules))
    assert {name: of for name, of in made.items() if name not in BY_READERS} == {
        name: of for name, of in listed.items() if name not in BY_READERS
    }
