"""Modules of the pages are loaded once, and no collection of garbage looks through them again."""

from __future__ import annotations

import gc
import subprocess
import sys

from crubric_core.ui.loading import MODULES

SCRIPT = """
import gc, sys
from crubric_core.ui import loading
loading._load()
print(gc.get_freeze_count() > 50_000, len(gc.get_objects()) < 1_000)
print(*(name in sys.modules for name in loading.MODULES))
"""


def test_loaded_modules_are_no_part_of_later_collections() -> None:
    assert gc.isenabled()
    said = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["True"] * (2 + len(MODULES))
