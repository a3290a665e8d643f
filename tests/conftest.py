"""What every test may ask for."""

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

end_in_silence()  # as the dashboard: what a run says is what failed
use_one_thread()  # as the dashboard and every command: workers must give the same bytes
# Their tables are small: threads of DuckDB would wait for each other. Servers and commands start as many as there are.
LOCAL["threads"] = "1"
ROOT = Path(__file__).resolve().parents[1]
REAL_DATA = Path(os.environ.get("CRUBRIC_REAL_DATA", ROOT.parent / "shared" / "data"))

# Servers of the tests open to whoever asks, however many people use this machine; those about it say otherwise.
os.environ.setdefault("CRUBRIC_TOKEN", "never")
# CRUBRIC_TESTS=thorough tries every property on as many examples as it asks for, else on a fifth of them.
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
    """The option of ``make slow-list``."""
    parser.addoption("--renew-slow", type=float, metavar="SECONDS", help="write tests/slow.txt anew")


def pytest_configure(config: pytest.Config) -> None:
    """Measure where asked to; the workers of xdist report to the process that started them."""
    budget = config.getoption("--renew-slow")
    if budget is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Stopwatch(budget))


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what stands in a folder or file of one kind, so that no test there is forgotten, and what is slow."""
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
    """Six thousand tests and what they import live as long as the process: nothing looks through them for garbage."""
    gc.freeze()


def spread(items: list[pytest.Item]) -> list[pytest.Item]:
    """The order in which workers take the files: those of many costly tests first, so that nobody waits for a long one
    at the end, and those that wait for browsers and servers evenly among them."""
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
    """For tests that mean a page to end in an unexpected error."""


@pytest.fixture(autouse=True)
def no_page_fails_unseen(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """The error boundary hides from AppTest what a page raises: its log entry fails the test."""
    yield
    if "page_fails" not in request.fixturenames:
        failed = [r.exc_info for r in caplog.get_records("call") if r.name == "crubric_core.ui.errors"]
        assert not failed, "".join(traceback.format_exception(failed[0][1]))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The optional folder of real label tables; tests that need it are skipped, aloud, where it is absent."""
    if not REAL_DATA.is_dir():
        pytest.skip(f"no real data at {REAL_DATA} (set CRUBRIC_REAL_DATA)")
    return REAL_DATA


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, one a process, from CRUBRIC_CHROMIUM or the path; where there is none its tests are skipped, aloud."""
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
    """One profile for all tests, so that the browser keeps the scripts of the pages it has seen."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A new window."""
    page = context.new_page()
    yield page
    page.close()
