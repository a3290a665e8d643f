"""Modules of the pages are loaded once, and no collection of garbage looks through them again."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from crubric_core.environment import PACKAGE
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


def test_the_first_page_does_not_wait_for_scipy_stats() -> None:
    """A quarter of a second of every start; scipy.special has the same distributions."""
    command = [sys.executable, "-c", SCRIPT + "print('scipy.stats' in sys.modules)", *MODULES]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.split()[-1] == "False"


WAITING = """
import sys, threading, time
from crubric_core.ui import loading
held = threading.Event()
sys.meta_path.insert(0, type("Slow", (), {"find_spec": staticmethod(lambda name, *_: held.wait() and None)}))
loading._LOADED.clear()
threading.Thread(target=loading._load, args=(sys.argv[1:],)).start()
visitor = threading.Thread(target=loading.wait_for_modules)
visitor.start()
visitor.join(0.3)
print(visitor.is_alive())
held.set()
visitor.join()
print(all(name in sys.modules for name in sys.argv[1:]))
"""


@pytest.mark.parametrize(
    "modules", [["crubric_core.labels.store.judge_sums"], ["no_such_module"]], ids=["loaded", "failed"]
)
def test_a_visitor_waits_until_the_modules_are_loaded_or_failed(modules: list[str]) -> None:
    """Two threads that import a package and its submodule at once were locked out by each other now and then."""
    command = [sys.executable, "-c", WAITING, *modules]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    assert said.split() == ["True", str(modules[0].startswith("crubric"))]


def test_every_script_waits_before_it_imports_the_rest() -> None:
    for name in ("main.py", "viewer_main.py"):
        lines = (PACKAGE / "ui" / name).read_text("utf-8").splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith("from crubric_core"))
        assert "wait_for_modules" in lines[first]
        assert next(line for line in lines[first + 1 :] if line) == "wait_for_modules()"
