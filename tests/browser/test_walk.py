"""A newcomer's walk: upload, tune, ask why, compare, publish, read as a stranger, print. Pictures are kept."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from crubric_core.demo import simulate
from tests.browser.conftest import Server, serve, wait_until_idle
from tests.conftest import REAL_DATA
from tests.security.servers import viewer_server
from tests.tiers import at_most

pytestmark = pytest.mark.browser
PATIENCE = 60_000


@pytest.fixture
def album(tmp_path: Path) -> Path:
    """Where pictures go: CRUBRIC_SCREENSHOTS, or the folder of the test."""
    folder = Path(os.environ.get("CRUBRIC_SCREENSHOTS") or tmp_path / "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CRUBRIC_VIEWS", str(tmp_path / "views"))
        with serve(tmp_path / "workspace.duckdb") as running:
            yield running


def simulated(folder: Path) -> list[Path]:
    """A small study with a reason for each label, as somebody may have it on disk."""
    made = simulate(seed=4, systems=10, queries=16, pool=(9, 14))
    labels = made.labels.assign(reason="Because of " + made.labels["judge"] + ".")
    paths = []
    for name, table in (("labels", labels), ("rubrics", made.rubrics), ("queries", made.queries)):
        paths.append(folder / f"{name}.csv")
        table.to_csv(paths[-1], index=False)
    return paths


def go(page: Page, title: str) -> None:
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True).click()
    expect(page.locator("h1").first).to_contain_text(title, timeout=PATIENCE)
    wait_until_idle(page)


def brush(page: Page) -> None:
    """Drag over the right half of the histogram."""
    plot = page.locator(".js-plotly-plot").first
    plot.locator("path").first.wait_for(state="attached", timeout=PATIENCE)
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.55 * box["width"], y)
    page.mouse.down()
    for share in (0.6, 0.7, 0.9):
        page.mouse.move(box["x"] + share * box["width"], y, steps=4)
    page.mouse.up()
    page.wait_for_url("**tau_c=**", timeout=PATIENCE)
    wait_until_idle(page)


def walk(browser: Browser, server: Server, files: list[Path], album: Path, reason: str = "") -> None:
    """The whole walk; ``reason``: how a judge's reason begins, where the files have any."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    pictures = iter(range(1, 99))

    def picture(name: str, shown: Page = page) -> None:
        shown.screenshot(path=album / f"{next(pictures):02d} {name}.png", full_page=True)

    page.goto(f"{server.url}/data")
    wait_until_idle(page)
    page.locator('input[type="file"]').set_input_files(files)
    page.get_by_role("button", name=f"Read {len(files)} files").click(timeout=PATIENCE)
    expect(page.get_by_text(re.compile(": done\\.")).first).to_be_visible(timeout=2 * PATIENCE)
    picture("uploaded")

    go(page, "Measurability")
    brush(page)
    brushed = page.url
    picture("brushed")
    page.get_by_role("slider", name="Gate threshold").press("PageDown")
    page.wait_for_function("before => location.href !== before", arg=brushed, timeout=PATIENCE)
    wait_until_idle(page)
    picture("threshold moved")

    go(page, "Leaderboard")
    marks = page.locator(".js-plotly-plot").first.locator("path.point")
    marks.first.wait_for(timeout=PATIENCE)
    marks.nth(1).click(force=True)
    expect(page.get_by_text(re.compile(r"^Why .* stands there$"))).to_be_visible(timeout=PATIENCE)
    wait_until_idle(page)
    page.get_by_role("tab", name="Strongest and weakest rubrics").click()
    expect(page.get_by_text("Labels, systems by judges")).to_be_visible(timeout=PATIENCE)
    if reason:
        expect(page.get_by_text(re.compile(f"^{reason}")).first).to_be_visible(timeout=PATIENCE)
    wait_until_idle(page)
    picture("down to a label")

    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")  # not below the toolbar
    page.get_by_role("combobox", name="Compare with").click()
    page.get_by_role("option").nth(3).click()
    expect(page.get_by_text("Head to head, query by query")).to_be_visible(timeout=PATIENCE)
    wait_until_idle(page)
    picture("two systems")

    go(page, "Publish")
    page.get_by_role("button", name=re.compile("^Publish ")).click(timeout=PATIENCE)
    shown = page.get_by_role("dialog")
    link = shown.locator("code").first.inner_text(timeout=PATIENCE).strip()  # the next is how to serve it
    picture("published")
    first = page.locator(".st-key-preview h2").first.inner_text()
    context.close()

    reader = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    views = server.log.parent / "views"
    with viewer_server(views, server.log.parent / "viewer.log") as viewer:
        reader.goto(f"{viewer.url}/?{link.partition('?')[2]}")
        wait_until_idle(reader)
        expect(reader.locator("h2").first).to_have_text(first, timeout=PATIENCE)
        picture("as a reader", reader)
        paper = album / "printed.pdf"
        paper.write_bytes(reader.pdf(format="A4"))
        assert paper.read_bytes().startswith(b"%PDF")
    reader.context.close()
    assert "Traceback" not in server.log.read_text()


PUBLISHED = sorted((REAL_DATA / "dialsummeval").glob("*.csv"))  # labels from 1 to 5, no reasons


@pytest.mark.skipif(
    bool(PUBLISHED) and not at_most(0, 1), reason="the walk on published judgements stands for it"
)
def test_a_newcomer_gets_from_files_to_a_printed_view(
    browser: Browser, server: Server, tmp_path: Path, album: Path
) -> None:
    walk(browser, server, simulated(tmp_path), album, reason="Because of ")


@pytest.mark.usefixtures("real_data")
def test_the_same_walk_on_published_judgements(browser: Browser, server: Server, album: Path) -> None:
    walk(browser, server, PUBLISHED, album)
