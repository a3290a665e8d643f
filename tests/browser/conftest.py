"""A fresh server with a workspace of its own, for a real browser."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Locator, Page, expect

from crubric_core import Workspace
from crubric_core.demo import simulate

ROOT = Path(__file__).resolve().parents[2]
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'
# No script has run, every figure and table is drawn, and address and layout have stayed, for 300 ms and
# 6 frames since the first asking: a browser that is busy draws no frame, and nothing moves meanwhile.
STILL = """([ready, asked]) => {
  const main = document.querySelector('[data-testid="stMain"]');
  const drawn = (holder, content) => [...document.querySelectorAll(`[data-testid="${holder}"]`)].every(
    (box) => !box.checkVisibility() || box.querySelector(content) !== null);
  const done = document.querySelector(ready) !== null
    && drawn("stPlotlyChart", ".main-svg") && drawn("stDataFrame", "canvas");
  const seen = JSON.stringify([
    done, location.href, innerWidth, main?.scrollHeight, main?.querySelectorAll("*").length,
  ]);
  if (window.still?.asked !== asked || window.still.seen !== seen)
    window.still = {asked, seen, since: performance.now(), frames: 0};
  window.still.frames += 1;
  return done && performance.now() - window.still.since >= 300 && window.still.frames > 6;
}"""
STARTUP = 30.0


@dataclass(frozen=True)
class Server:
    """A running dashboard: its address and its log so far."""

    url: str
    log: Path


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
            env={
                "CRUBRIC_VIEWS": str(workspace.with_name("views")),
                **os.environ,
                "CRUBRIC_WORKSPACE": str(workspace),
            },
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait(f"http://localhost:{port}/healthz", process, log)
        yield Server(f"http://localhost:{port}", log)
    finally:
        process.send_signal(signal.SIGINT)  # as Ctrl-C does: it ends as an ordinary program, and says nothing
        process.wait(timeout=10)
    said = log.read_text(errors="replace")
    assert "Unexpected error in a page" not in said, log
    assert "leaked" not in said, log


@contextmanager
def serve_small(folder: Path) -> Iterator[Server]:
    """The same with a simulated study of eight systems, the dataset ``small``."""
    path, made = folder / "workspace.duckdb", simulate(seed=1, systems=8, queries=12, pool=(9, 14))
    with Workspace(path) as workspace:
        for kind in ("labels", "rubrics", "queries"):
            workspace.ingest(getattr(made, kind).to_csv(index=False).encode(), "small", kind=kind)
    with serve(path) as running:
        yield running


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + STARTUP
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"the server did not start:\n{log.read_text()}")


def wait_until_idle(page: Page) -> None:
    """Wait until the script has run and the browser has drawn what it sent."""
    page.wait_for_function(STILL, arg=[READY, time.monotonic_ns()], timeout=60_000)


def names_of_pages(page: Page) -> list[str]:
    """What the menu lists, in its order: every page."""
    links = page.get_by_test_id("stSidebarNav").get_by_role("link")
    expect(links).to_have_count(len(list((ROOT / "pages").glob("*.py"))))
    return [name.strip() for name in links.all_inner_texts()]


def follow(page: Page, name: str) -> None:
    """The link to another page, until that is drawn; one that is opened by its address loads every script again."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=name, exact=True).click()
    expect(page).to_have_title(f"{name} · Calibrated Rubric", timeout=60_000)
    wait_until_idle(page)


def are_names_apart(plot: Locator, least: int = 0) -> bool:
    """Whether the names of a chart's columns are ``least`` or more, and none covers the next."""
    boxes = [name.bounding_box() for name in plot.locator(".xtick text").all() if name.is_visible()]
    lefts = [box["x"] for box in boxes if box is not None]
    return len(lefts) >= least and all(after - before >= 12 for before, after in pairwise(lefts))
