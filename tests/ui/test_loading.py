"""Modules of the pages are loaded once, and no collection of garbage looks through them again."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from crubric_core.ui.loading import MODULES, OF_VIEWS

SCRIPT = """
import gc, sys
from crubric_core.ui import loading
loading._load(sys.argv[1:])
print(gc.get_freeze_count() > 50_000, len(gc.get_objects()) < 1_000)
print(*(name in sys.modules for name in sys.argv[1:]))
"""


@pytest.mark.parametrize("modules", [MODULES, OF_VIEWS], ids=["pages", "views"])
def test_loaded_modules_are_no_part_of_later_collections(modules: tuple[str, ...]) -> None:
    assert gc.isenabled()
    command = [sys.executable, "-c", SCRIPT, *modules]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.split() == ["True"] * (2 + len(modules))
