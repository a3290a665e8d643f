"""Time what a user sees in a browser: from a key's release or a click to the last change of a chart."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.request import urlopen

from playwright.sync_api import Browser, BrowserContext, Page, Playwright

ROOT = Path(__file__).resolve().parents[1]
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'
QUIET, LONGEST = 600, 900_000  # ms: a page without a change for QUIET is done; LONGEST is the timeout

BARE = """
import numpy as np, plotly.graph_objects as go, streamlit as st
n = st.slider("n", 1, 1000, 10)
st.plotly_chart(go.Figure(go.Scatter(y=np.random.default_rng(n).normal(size=100).cumsum())))
"""

WATCH = """() => {
  window.watched = {since: 0, chart: null, any: null, last: performance.now()};
  // Streamlit hides a chart while its width is unknown. Where a style sheet shows it all the same, the end of that is
  // no change.
  const shown = () => {
    const chart = document.createElement('div');
    chart.className = 'js-plotly-plot';
    chart.style.visibility = 'hidden';
    document.body.append(chart);
    const found = getComputedStyle(chart).visibility === 'visible';
    chart.remove();
    return found;
  };
  const same = (before, now) => before === now
    || (before ?? '').replace('visibility: hidden; ', '') === now && shown();
  const seen = records => {
    const now = performance.now();
    for (const {target, type, attributeName, oldValue} of records) {
      // What is set to the value that it has is no change: Plotly does that where it finds nothing to draw.
      if (type === 'attributes' && same(oldValue, target.getAttribute(attributeName))) continue;
      const element = target.nodeType === 1 ? target : target.parentElement;
      if (!element?.closest('[data-testid="stMain"]')) continue;
      // What lies in a canvas is never drawn: tables write their cells there for screen readers, 0.2 s later.
      if (element.closest('canvas') && (type !== 'attributes' || element.tagName !== 'CANVAS')) continue;
      watched.any = watched.last = now;
      if (element.closest('.js-plotly-plot')) watched.chart = now;
    }
  };
  const start = () => new MutationObserver(seen).observe(
    document, {subtree: true, childList: true, attributes: true, attributeOldValue: true, characterData: true});
  for (const name of ['keyup', 'click']) addEventListener(name, () => {
    if (watched.since === null) watched = {...watched, since: performance.now(), last: performance.now()};
  }, true);
  start();
}"""
# A chart that waits for Plotly's script causes no change, so DONE also checks that every chart is drawn.
DONE = f"""() => watched.since !== null && performance.now() - watched.last > {QUIET}
  && document.querySelector('{READY}') !== null
  && document.querySelector('[data-testid="stSpinner"], [data-testid="stSkeleton"]') === null
  && [...document.querySelectorAll('[data-testid="stPlotlyChart"]')]
    .every(chart => chart.offsetParent === null || chart.querySelector('.main-svg') !== null)"""
WAITED = "() => (watched.chart ?? watched.any ?? NaN) - watched.since"
ARM = "() => { watched = {since: null, chart: null, any: null, last: performance.now()}; }"


@dataclass(frozen=True)
class Visit:
    """One load of a page: ms from its start to the last change of a chart, and bytes received over its WebSocket."""

    milliseconds: float
    bytes: int


class Sliders:
    """An open page whose sliders can be moved."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.page = _opened(browser)
        self.page.goto(address)
        _settled(self.page)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.page.context.close()

    def step(self, slider: str, key: str) -> float:
        """Press a key on a slider, and return the ms from the key's release to the last change of a chart."""
        handle = self.page.get_by_role("slider", name=slider).first
        handle.focus()
        self.page.evaluate(ARM)
        self.page.keyboard.press(key)
        return _settled(self.page)


def first_paint(browser: Browser, address: str) -> Visit:
    """Load a page in a new browser context, without a cache."""
    return paints(browser, address, 1)[0]


def paints(browser: Browser, address: str, times: int) -> list[Visit]:
    """Load a page in so many tabs of one browser context, one after another; only the first finds an empty cache."""
    context = _context(browser)
    found = [_visited(_tab(context), address) for _ in range(times)]
    context.close()
    return found


def paints_at_once(browser: Browser, address: str, readers: int) -> list[Visit]:
    """Load a page at once in so many new browser contexts, which stay open until all have loaded it."""
    pages = [_opened(browser) for _ in range(readers)]
    sizes = [_received(page) for page in pages]
    for page in pages:
        page.goto(address, wait_until="commit")
    found = [Visit(_settled(page), sum(received)) for page, received in zip(pages, sizes, strict=True)]
    for page in pages:
        page.context.close()
    return found


def _visited(page: Page, address: str) -> Visit:
    sizes = _received(page)
    page.goto(address)
    waited = _settled(page)
    page.close()
    return Visit(waited, sum(sizes))


def _received(page: Page) -> list[int]:
    """A list that grows by the size of each message that the page receives over its WebSocket."""
    sizes = list[int]()
    page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda payload: sizes.append(len(payload))),
    )
    return sizes


def switch(browser: Browser, address: str, titles: list[str], repeats: int) -> dict[str, float]:
    """Title → median ms from a click in the navigation to the last change of a chart on that page."""
    page = _opened(browser)
    page.goto(address)
    _settled(page)
    waits: dict[str, list[float]] = {title: [] for title in titles}
    for _ in range(repeats):
        for title in [*titles[1:], titles[0]]:
            page.evaluate(ARM)
            page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True).click()
            waits[title].append(_settled(page))
    page.context.close()
    return {title: sorted(found)[len(found) // 2] for title, found in waits.items()}


def _opened(browser: Browser) -> Page:
    return _tab(_context(browser))


def _context(browser: Browser) -> BrowserContext:
    return browser.new_context(viewport={"width": 1400, "height": 900})


def _tab(context: BrowserContext) -> Page:
    page = context.new_page()
    page.set_default_timeout(LONGEST)
    page.add_init_script(f"({WATCH})()")
    return page


def _settled(page: Page) -> float:
    """Wait until the page is done (``DONE``), and return the ms from the start to the last change of a chart."""
    page.wait_for_function(DONE, timeout=LONGEST, polling=100)
    return float(page.evaluate(WAITED))


def chromium(playwright: Playwright) -> Browser:
    """The browser of the tests: CRUBRIC_CHROMIUM, or the one on the path."""
    path = os.environ.get("CRUBRIC_CHROMIUM") or shutil.which("chromium")
    return playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])


@contextmanager
def serve(workspace: Path) -> Iterator[str]:
    """Yield the address of a fresh dashboard on a copy of the workspace."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(workspace, folder)
        with _running(
            "app.py", {"CRUBRIC_WORKSPACE": copy, "CRUBRIC_VIEWS": folder, "CRUBRIC_TOKEN": "never"}
        ) as address:
            yield address


@contextmanager
def serve_bare() -> Iterator[str]:
    """Yield the address of the bare Streamlit page, with a slider and a chart."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "bare.py"
        script.write_text(BARE)
        with _running(str(script), {}) as address:
            yield address


@contextmanager
def _running(script: str, environment: dict[str, str]) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    options = ["--server.port", str(port), "--server.headless", "true", "--browser.gatherUsageStats", "false"]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", script, *options],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _answers(f"http://localhost:{port}")
        yield f"http://localhost:{port}"
    finally:
        process.terminate()
        process.wait(timeout=10)


def _answers(address: str) -> None:
    """Wait until a server answers; TimeoutError after about a minute."""
    for _ in range(600):
        try:
            with urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    message = f"Nothing answers at {address}."
    raise TimeoutError(message)
