"""A real browser against a fresh server with a workspace of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'
STARTUP = 30.0


@dataclass(frozen=True)
class Server:
    """A running dashboard: its address and its log so far."""

    url: str
    log: Path


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium from CRUBRIC_CHROMIUM or from the path; without one the browser tests are skipped, aloud."""
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


@contextmanager
def serve(workspace: Path) -> Iterator[Server]:
    """``streamlit run app.py`` on a free port, as a user starts it."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    log = workspace.with_suffix(".log")
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    options = ["--server.port", str(port), "--server.headless", "true"]
    with log.open("w") as out:
        process = subprocess.Popen(
            command + options,
            cwd=ROOT,
            env={**os.environ, "CRUBRIC_WORKSPACE": str(workspace)},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait(f"http://localhost:{port}/healthz", process, log)
        yield Server(f"http://localhost:{port}", log)
    finally:
        process.terminate()
        process.wait(timeout=10)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + STARTUP
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"the server did not start:\n{log.read_text()}")


def settle(page: Page) -> None:
    """Wait until the script has run and the browser has drawn what it sent."""
    page.wait_for_selector(READY, timeout=60_000)
    page.wait_for_timeout(250)
    page.wait_for_selector(READY, timeout=60_000)


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
