"""Options, markers and fixtures of all tests."""

from __future__ import annotations

import gc
import os
import shutil
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from crubric_core.environment import use_one_thread
from crubric_core.labels.readers.formats.base import LOCAL
from crubric_core.server.logs import end_in_silence
from tests.slow_tests import Stopwatch, is_slow, listed

end_in_silence()  # as the dashboard does: no messages at the exit of a run
use_one_thread()  # as the dashboard and every command do: workers must give the same bytes
# One thread of DuckDB, since the tables of the tests are small. Servers and commands use as many as there are.
LOCAL["threads"] = "1"
ROOT = Path(__file__).resolve().parents[1]
REAL_DATA = Path(os.environ.get("CRUBRIC_REAL_DATA", ROOT.parent / "shared" / "data"))

# Servers of the tests ask for no token, even on a shared machine, except in the tests of tokens.
os.environ.setdefault("CRUBRIC_TOKEN", "never")
# CRUBRIC_TESTS=thorough tries each property on all the examples that it asks for; other tiers on a fifth of them.
settings.register_profile("fast", max_examples=20, deadline=None)
settings.register_profile("all", max_examples=20, deadline=None)
settings.register_profile("thorough", max_examples=100, deadline=None)
settings.load_profile(os.environ.get("CRUBRIC_TESTS", "fast"))

PLACES = {
    "tests/browser/": "browser",
    "tests/security/": "security",
    "test_crash.py": "crash",
    "test_fuzz.py": "fuzz",
    "test_damage.py": "fuzz",
}

WAITING = ("tests/browser/", "tests/security/")
COSTLY = {"slow", "fuzz", "crash"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that ``make slow-list`` uses."""
    parser.addoption("--renew-slow", type=float, metavar="SECONDS", help="write tests/slow.txt anew")


def pytest_configure(config: pytest.Config) -> None:
    """Measure durations with ``--renew-slow``, in the main process only, to which workers of xdist report."""
    budget = config.getoption("--renew-slow")
    if budget is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Stopwatch(budget))


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark all tests of the folders and files in PLACES, and the slow tests; in a worker of xdist also sort them."""
    slow = listed()
    for item in items:
        for place, marker in PLACES.items():
            if place in item.nodeid:
                item.add_marker(marker)
        if is_slow(item.nodeid, slow):
            item.add_marker("slow")
    if hasattr(config, "workerinput"):
        items[:] = spread(items)


def pytest_collection_finish() -> None:
    """Exclude thousands of tests and modules, which live as long as the process, from garbage collection."""
    gc.freeze()


def spread(items: list[pytest.Item]) -> list[pytest.Item]:
    """Sort the tests by file, for workers of xdist.

    Files with many costly tests come first, so that no worker runs a long one alone at the end; files that wait for
    browsers and servers come evenly among them.
    """
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    waiting = [name for name in files if name.startswith(WAITING)]
    cost = {
        name: sum(0.1 + any(m.name in COSTLY for m in i.iter_markers()) for i in files[name])
        for name in files
    }
    others = sorted(files.keys() - waiting, key=lambda name: (-cost[name], name))
    place = {name: 0.85 * n / len(waiting) for n, name in enumerate(waiting)}
    before, whole = 0.0, sum(cost[name] for name in others)
    for name in others:
        place[name] = before / whole
        before += cost[name]
    return [item for name in sorted(files, key=lambda name: (place[name], name)) for item in files[name]]


@pytest.fixture
def page_fails() -> None:
    """Mark a test in which a page is meant to end in an unexpected error."""


@pytest.fixture(autouse=True)
def no_page_fails_unseen(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail the test if a page raised an error, which the error boundary hides from AppTest and only logs."""
    yield
    if "page_fails" not in request.fixturenames:
        failed = [r.exc_info for r in caplog.get_records("call") if r.name == "crubric_core.ui.errors"]
        assert not failed, "".join(traceback.format_exception(failed[0][1]))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The optional folder of real label tables; tests that need it are skipped with a message if it is absent."""
    if not REAL_DATA.is_dir():
        pytest.skip(f"no real data at {REAL_DATA} (set CRUBRIC_REAL_DATA)")
    return REAL_DATA


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium a process, from CRUBRIC_CHROMIUM or the path; its tests are skipped with a message without one."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("CRUBRIC_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("no Chromium found: install chromium, or name one in CRUBRIC_CHROMIUM")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One browser profile for all tests, so that scripts of the pages stay in its cache."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A new window."""
    page = context.new_page()
    yield page
    page.close()
