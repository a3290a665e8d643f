"""Publishing in a browser: a hostile title, the link over the page, and the link closed again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from crubric_core.demo import simulate
from crubric_core.figures.shared_view import PAGE
from crubric_core.labels.store.workspace import Workspace
from crubric_core.sharing import open_view, publish
from tests.browser.conftest import Server, are_names_apart, serve, wait_until_idle
from tests.security.servers import viewer_server
from tests.sharing.large import large_view
from tests.tiers import crossed

pytestmark = pytest.mark.browser
PATIENCE = 30_000  # milliseconds
# Both boxes in one reading: the page above them may still be laid out anew between two.
BESIDE = """([charts, width]) => {
  const [left, right] = [...document.querySelectorAll(charts)].map(chart => chart.getBoundingClientRect());
  return left.top === right.top && left.right <= right.left && right.right <= width;
}"""
TITLE = "<img src=x onerror=alert(1)> **bold** [x](//evil.example) $y$"


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("published") / "views"


@pytest.fixture(scope="module")
def server(views: Path) -> Iterator[Server]:
    made = simulate(seed=1, systems=8, queries=12, pool=(10, 16))
    path = views.with_name("study.duckdb")
    with Workspace(path) as workspace:
        for kind in ("labels", "rubrics", "queries"):
            table = views.with_name(f"{kind}.csv")
            getattr(made, kind).to_csv(table, index=False)
            workspace.ingest(table, dataset="small", kind=kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CRUBRIC_VIEWS", str(views))
        with serve(path) as running:
            yield running


def first_line(page: Page) -> str:
    return page.locator("h2").first.inner_text()


def test_a_link_is_made_copied_and_revoked(page: Page, server: Server, views: Path) -> None:
    alarms: list[str] = []
    requests: list[str] = []
    page.on("dialog", lambda dialog: (alarms.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"{server.url}/publish")
    wait_until_idle(page)
    assert first_line(page).startswith("No link yet")

    page.get_by_label("Title").fill(TITLE)
    page.get_by_label("Title").press("Enter")
    titles = page.locator(".st-key-preview h1")  # the old one may still stand below the new one
    expect(titles.get_by_text(TITLE, exact=True)).to_be_visible(timeout=PATIENCE)
    wait_until_idle(page)
    expect(titles).to_have_text(TITLE)
    page.get_by_role("button", name="Publish small", exact=True).click()
    shown = page.get_by_role("dialog")
    link = shown.locator("code").first.inner_text().strip()
    (token,) = parse_qs(urlsplit(link).query)["view"]
    assert open_view(views, token).title == TITLE
    page.keyboard.press("Escape")
    expect(shown).to_have_count(0, timeout=PATIENCE)
    wait_until_idle(page)
    expect(page.locator("h2").first).to_have_text("1 link is open.", timeout=PATIENCE)

    page.get_by_role("tab", name="Links").click()
    page.get_by_role("button", name="Revoke …").click()
    assert open_view(views, token) is not None
    page.get_by_role("button", name="Revoke it permanently").click()
    expect(page.locator("h2").first).to_have_text("0 links are open, 1 revoked.", timeout=PATIENCE)
    assert open_view(views, token) is None
    assert alarms == []
    assert page.locator('img[src="x"]').count() == 0
    assert [url for url in requests if not url.startswith((server.url, "data:", "blob:"))] == []
    assert "Traceback" not in server.log.read_text()


@pytest.mark.parametrize(
    ("button", "start"), [("One HTML file", b"<!doctype html>"), ("Folder for a web server (ZIP)", b"PK")]
)
def test_the_page_can_be_taken_along(page: Page, server: Server, button: str, start: bytes) -> None:
    page.goto(f"{server.url}/publish")
    wait_until_idle(page)
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    assert Path(download.value.path()).read_bytes().startswith(start)


def test_a_view_on_a_phone_has_figures_for_a_phone(browser: Browser, tmp_path: Path) -> None:
    made = publish(large_view(12, None), tmp_path / "views")
    with viewer_server(tmp_path / "views", tmp_path / "viewer.log") as viewer:
        for agent, bars in (("Mozilla/5.0 (Linux; Android 15; K) Mobile Safari/537.36", 0), (None, 1)):
            context = browser.new_context(viewport={"width": 412, "height": 915}, user_agent=agent)
            page = context.new_page()
            page.goto(f"{viewer.url}/?view={made.token}")
            wait_until_idle(page)
            matrix = page.get_by_test_id("stPlotlyChart").nth(1)
            expect(matrix.locator(".heatmaplayer image")).to_be_visible(timeout=PATIENCE)
            expect(matrix.locator(".colorbar")).to_have_count(bars)
            context.close()


def test_names_of_columns_keep_apart_in_a_window_of_any_width(page: Page, tmp_path: Path) -> None:
    tried = crossed((30, 12), (420, 700, 1000, 1400))
    views = {
        systems: publish(large_view(systems, None), tmp_path / "views") for systems in {n for n, _ in tried}
    }
    with viewer_server(tmp_path / "views", tmp_path / "viewer.log") as viewer:
        for systems, width in tried:
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(f"{viewer.url}/?view={views[systems].token}")
            wait_until_idle(page)
            matrix = page.get_by_test_id("stPlotlyChart").nth(1)
            expect(matrix.locator(".heatmaplayer image")).to_be_visible(timeout=PATIENCE)
            assert are_names_apart(matrix, systems if width >= 1000 else 0), (systems, width)


def test_a_view_of_many_systems_has_all_rows_on_paper_and_no_figure_higher_than_a_page(
    page: Page, tmp_path: Path
) -> None:
    texts = pd.DataFrame({"order": range(1, 41), "rubric": "r", "query": "q", "text": "<b>bold</b>"})
    made = publish(large_view(60, texts), tmp_path / "views")
    with viewer_server(tmp_path / "views", tmp_path / "viewer.log") as viewer:
        page.goto(f"{viewer.url}/?view={made.token}")
        wait_until_idle(page)
        rows = page.locator('[class*="st-key-shared-printed"] tbody tr')
        expect(rows).to_have_count(100, timeout=PATIENCE)
        expect(rows.first).to_be_hidden()
        page.emulate_media(media="print")
        for row in (0, 59, 60, 99):
            expect(rows.nth(row)).to_be_visible()
        expect(rows.nth(99)).to_contain_text("<b>bold</b>")
        for table in page.get_by_test_id("stDataFrame").all():
            expect(table).to_be_hidden()
        for figure in page.get_by_test_id("stPlotlyChart").all():
            box = figure.bounding_box()
            assert box is not None
            assert box["height"] <= PAGE


def test_charts_that_stand_beside_each_other_stay_so_on_paper(page: Page, tmp_path: Path) -> None:
    made = publish(large_view(12), tmp_path / "views")
    with viewer_server(tmp_path / "views", tmp_path / "viewer.log") as viewer:
        page.set_viewport_size({"width": 1400, "height": 900})
        page.goto(f"{viewer.url}/?view={made.token}")
        wait_until_idle(page)
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 1020, "height": 1476})
        charts = '[data-testid="stColumn"] [data-testid="stPlotlyChart"]'
        expect(page.locator(charts)).to_have_count(2, timeout=PATIENCE)
        page.wait_for_function(BESIDE, arg=[charts, 1020], timeout=PATIENCE)


def test_a_view_in_the_dark_theme_is_dark_on_white_on_paper(page: Page, tmp_path: Path) -> None:
    made = publish(large_view(12), tmp_path / "views")
    with viewer_server(tmp_path / "views", tmp_path / "viewer.log") as viewer:
        page.emulate_media(color_scheme="dark")
        page.goto(f"{viewer.url}/?view={made.token}")
        wait_until_idle(page)
        ground, tick = page.get_by_test_id("stApp"), page.locator(".js-plotly-plot .ytick text").first
        expect(tick).to_be_visible(timeout=PATIENCE)
        expect(ground).not_to_have_css("background-color", "rgb(255, 255, 255)")
        page.emulate_media(color_scheme="dark", media="print")
        expect(ground).to_have_css("background-color", "rgb(255, 255, 255)")
        expect(page.get_by_test_id("stHeading").first).to_have_css("color", "rgb(0, 0, 0)")
        expect(tick).to_have_css("fill", "rgb(0, 0, 0)")


def test_no_number_of_a_view_on_paper_is_broken_into_two_lines(page: Page, tmp_path: Path) -> None:
    view = large_view(12)
    assert view.leaderboard is not None
    long = view.leaderboard.assign(system=view.leaderboard["system"] + "_of_a_very_long_name_with_a_date" * 5)
    made = publish(replace(view, leaderboard=long), tmp_path / "views")
    with viewer_server(tmp_path / "views", tmp_path / "viewer.log") as viewer:
        page.goto(f"{viewer.url}/?view={made.token}")
        wait_until_idle(page)
        page.set_viewport_size({"width": 1020, "height": 1476})
        page.emulate_media(media="print")
        cells = page.locator('[class*="st-key-shared-printed"] :is(th, td.number)')
        expect(cells.last).to_be_visible(timeout=PATIENCE)
        lines = """cells => cells.map(cell => {
          const text = document.createRange(); text.selectNodeContents(cell);
          return [cell.textContent.trim(), text.getClientRects().length]; })"""
        found = cells.evaluate_all(lines)
        assert len(found) > 12
        assert [(text, n) for text, n in found if " " not in text and n > 1] == []
