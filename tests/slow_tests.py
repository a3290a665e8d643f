"""The list of slow tests, tests/slow.txt, which ``make slow-list`` measures.

Lines are test functions (``tests/x/test_y.py::test_z``) or whole files. It is written so that all other tests without a
marker take a given number of seconds together.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

LIST = Path(__file__).with_name("slow.txt")
HEAD = "# The slowest test functions, left out by `make test`. Written by `make slow-list`.\n"


def function_of(nodeid: str) -> str:
    """The test function of a test case: its node id without parameters."""
    return nodeid.split("[", 1)[0]


def listed() -> frozenset[str]:
    """The functions and files in tests/slow.txt."""
    lines = LIST.read_text("utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def is_slow(nodeid: str, names: frozenset[str]) -> bool:
    """Whether ``names`` has the function of a test case, or its file."""
    return function_of(nodeid) in names or nodeid.split("::", 1)[0] in names


def slowest(seconds: Counter[str], budget: float) -> list[str]:
    """The slowest functions, sorted by name; all others together take at most ``budget`` seconds."""
    kept, slow = 0.0, []
    for name, took in sorted(seconds.items(), key=lambda item: item[1]):
        kept += took
        if kept > budget:
            slow.append(name)
    return sorted(slow)


class Stopwatch:
    """Add up the seconds of each test function, with set-up and all its cases, and write tests/slow.txt at the end."""

    def __init__(self, budget: float) -> None:
        self.budget, self.seconds = budget, Counter[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the duration of a phase of a test; with xdist this gets the reports of all workers."""
        self.seconds[function_of(report.nodeid)] += report.duration

    def pytest_sessionfinish(self) -> None:
        LIST.write_text(HEAD + "".join(f"{name}\n" for name in slowest(self.seconds, self.budget)), "utf-8")
