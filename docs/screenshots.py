"""Draw the picture of the README anew: python docs/screenshots.py

Starts the dashboard on a fresh demo study and writes docs/images/leaderboard.png. Chromium is taken from
CRUBRIC_CHROMIUM or from the path.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, ViewportSize, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from crubric_core.demo import write_demo  # noqa: E402
from crubric_core.labels.store.workspace import Workspace  # noqa: E402 - the path comes first
from tests.browser.conftest import serve, wait_until_idle  # noqa: E402

SIZE: ViewportSize = {"width": 1400, "height": 900}
TARGET = ROOT / "docs" / "images" / "leaderboard.png"


def draw(browser: Browser, url: str) -> None:
    """The leaderboard as a PNG."""
    context = browser.new_context(viewport=SIZE, color_scheme="light")
    page = context.new_page()
    page.goto(f"{url}/leaderboard")
    wait_until_idle(page)
    page.wait_for_selector(".js-plotly-plot .main-svg")
    page.wait_for_timeout(1500)  # the figures fade in
    page.screenshot(path=TARGET)
    context.close()


def main() -> None:
    """Draw it of a fresh demo study."""
    os.environ["CRUBRIC_TOKEN"] = "never"  # the study is nobody's data
    path = os.environ.get("CRUBRIC_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        workspace = Path(folder) / "demo.duckdb"
        with Workspace(workspace) as opened:
            write_demo(opened, seed=0)
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        with serve(workspace) as server:
            draw(browser, server.url)
        browser.close()


if __name__ == "__main__":
    main()
