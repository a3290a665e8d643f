"""In a real browser: nothing that a file or a person wrote is ever executed, and a withdrawn view goes away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, WebSocket, expect

from crubric_core.sharing import publish, revoke, set_expiry
from tests.browser.conftest import follow, names_of_pages
from tests.security.conftest import CANARY, HOSTILE, Study
from tests.security.servers import Server, Talk, folder_hash

pytestmark = pytest.mark.browser
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'
JOINER = "\u2060"  # keeps addresses from becoming links
CLOSED = "This link opens nothing"
WITHIN = 5_000  # ms


@dataclass
class Watch:
    """What a page did: dialogs, requests, and frames that it sent to the server."""

    page: Page
    dialogs: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    frames: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("dialog", self._dialog)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", self._socket)

    def _dialog(self, dialog: object) -> None:
        self.dialogs.append(dialog.message)  # type: ignore[attr-defined]
        dialog.dismiss()  # type: ignore[attr-defined]

    def _socket(self, socket: WebSocket) -> None:
        self.requests.append(socket.url)
        socket.on(
            "framesent", lambda data: self.frames.append(data if isinstance(data, bytes) else data.encode())
        )

    def foreign(self, server: Server) -> list[str]:
        own = (server.url, server.url.replace("http", "ws"), "data:", "blob:", "about:")
        return [url for url in self.requests if not url.startswith(own)]

    def harmless(self, server: Server) -> None:
        """No hostile text was executed, became an element, or fetched anything."""
        assert self.dialogs == []
        assert self.page.evaluate("window.owned") is None
        assert self.page.locator("[data-owned], iframe, svg[onload]").count() == 0
        lured = self.page.locator('a[href^="javascript"], [href*="evil"], [src*="evil"]')
        assert [lured.nth(n).evaluate("e => e.outerHTML") for n in range(lured.count())] == []
        assert self.foreign(server) == []


@pytest.fixture
def watch(page: Page) -> Watch:
    return Watch(page)


def visit(page: Page, url: str) -> None:
    page.goto(url)
    page.wait_for_selector(READY, timeout=60_000)
    page.wait_for_timeout(300)
    page.wait_for_selector(READY, timeout=60_000)


def test_a_view_with_hostile_texts_shows_them_letter_by_letter(
    watch: Watch, viewer: Server, study: Study, unharmed: None
) -> None:
    visit(watch.page, f"{viewer.url}/?view={study.link.token}")
    assert watch.page.locator("h1").inner_text() == f"{HOSTILE[0]} {CANARY}"
    shown = watch.page.locator("[data-testid=stApp]").inner_text().replace(JOINER, "")
    assert [text for text in HOSTILE if text not in shown] == []
    drawn = watch.page.locator(".js-plotly-plot").first.locator("text")
    drawn.first.wait_for(state="attached", timeout=60_000)  # a figure is drawn after its page
    ticks = " ".join(drawn.all_text_contents())
    assert "<img src=x" in ticks
    watch.page.get_by_text("Settings", exact=True).click()
    watch.page.get_by_role("textbox", name="Find a system").fill("<script")
    watch.page.keyboard.press("Enter")
    watch.page.wait_for_timeout(500)
    watch.harmless(viewer)


def test_a_dashboard_page_with_hostile_texts_executes_none(watch: Watch, editor: Server) -> None:
    said = len(editor.log.read_text())
    visit(watch.page, editor.url)
    for name in names_of_pages(watch.page):
        follow(watch.page, name)
        assert watch.page.locator("h1").count() >= 1, name
        watch.harmless(editor)
    assert "Traceback" not in editor.log.read_text()[said:]


def test_what_a_browser_said_to_the_dashboard_opens_nothing_in_the_viewer(
    watch: Watch, editor: Server, viewer: Server, study: Study, addresses: Iterator[str], unharmed: None
) -> None:
    visit(watch.page, f"{editor.url}/leaderboard?basis=bank")
    watch.page.get_by_text("Also show all rubrics that pass").click()
    watch.page.wait_for_timeout(500)
    watch.page.wait_for_selector(READY)
    assert any(b"beside" in frame for frame in watch.frames)
    workspace = folder_hash(study.folder)
    with Talk(viewer, next(addresses)) as reader:
        for frame in watch.frames:
            reader.send(frame)
        reader.run()
        assert CANARY.encode() not in reader.said()
    assert folder_hash(study.folder).keys() == workspace.keys()


def test_an_open_tab_loses_a_view_that_is_withdrawn(watch: Watch, viewer: Server, study: Study) -> None:
    link = publish(study.view, study.views)
    visit(watch.page, f"{viewer.url}/?view={link.token}")
    expect(watch.page.locator(".js-plotly-plot").first).to_be_visible()
    revoke(study.views, link.id)
    expect(watch.page.get_by_role("heading", name=CLOSED)).to_be_visible(timeout=WITHIN)
    expect(watch.page.get_by_text(CANARY)).to_have_count(0)
    expect(watch.page.locator(".js-plotly-plot")).to_have_count(0)
    assert CANARY not in watch.page.content()
    assert CANARY not in watch.page.title()


def test_an_open_tab_loses_a_view_when_its_time_is_over(watch: Watch, viewer: Server, study: Study) -> None:
    link = publish(study.view, study.views)
    visit(watch.page, f"{viewer.url}/?view={link.token}")
    expect(watch.page.locator(".js-plotly-plot").first).to_be_visible()
    set_expiry(study.views, link.id, datetime.now(UTC) + timedelta(seconds=1))
    expect(watch.page.get_by_role("heading", name=CLOSED)).to_be_visible(timeout=1_000 + WITHIN)
    expect(watch.page.get_by_text(CANARY)).to_have_count(0)


def test_a_wrong_and_a_withdrawn_link_look_alike(page: Page, viewer: Server, study: Study) -> None:
    link = publish(study.view, study.views)
    revoke(study.views, link.id)
    looks = []
    for query in ("", "?view=wrong", f"?view={study.link.token[:-1]}", f"?view={link.token}"):
        visit(page, f"{viewer.url}/{query}")
        looks.append((page.locator("[data-testid=stApp]").inner_text(), page.title()))
    assert len(set(looks)) == 1
    assert CLOSED in looks[0][0]


def test_a_reader_takes_along_a_table_that_starts_no_formula(
    watch: Watch, viewer: Server, study: Study
) -> None:
    visit(watch.page, f"{viewer.url}/?view={study.link.token}")
    with watch.page.expect_download() as download:
        watch.page.get_by_role("button", name="Download leaderboard.csv").click()
    text = Path(download.value.path()).read_text()
    assert CANARY in text
    assert not [
        line for line in text.splitlines() for cell in line.split(",") if cell.startswith(("=", "@", '"='))
    ]


def test_on_paper_there_are_figures_and_no_controls(page: Page, viewer: Server, study: Study) -> None:
    visit(page, f"{viewer.url}/?view={study.link.token}")
    find = page.get_by_role("textbox", name="Find a system")
    expect(find).to_be_visible()
    page.emulate_media(media="print")
    expect(find).to_be_hidden()
    expect(page.get_by_role("button", name="Download leaderboard.csv")).to_be_hidden()
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    page.emulate_media(media="screen")


PAPER = """() => {
  const rules = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules]);
  const style = rules.flatMap(rule => [...rule.cssRules ?? []]).find(rule => rule instanceof CSSPageRule).style;
  const told = [style.getPropertyValue("size"), style.getPropertyValue("margin-left")].join(" ");
  return told.match(/[\\d.]+/g).map(Number);
}"""


CHARTS = ".js-plotly-plot .main-svg"
# A chart is drawn after its page, and in the width that its place has then.
WIDE_CHARTS = (
    f"() => [...document.querySelectorAll('{CHARTS}')].some(e => e.getBoundingClientRect().width > 600)"
)


def test_paper_has_the_shape_of_a4_and_room_for_the_charts_of_a_wide_screen(
    page: Page, viewer: Server, study: Study
) -> None:
    page.set_viewport_size({"width": 1920, "height": 900})
    visit(page, f"{viewer.url}/?view={study.link.token}")
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    width, height, margin = page.evaluate(PAPER)
    assert height / width == pytest.approx(2**0.5, abs=0.002)
    page.wait_for_function(WIDE_CHARTS)
    charts = page.locator(CHARTS).evaluate_all("all => all.map(e => e.getBoundingClientRect().width)")
    assert 600 < max(charts) <= width - 2 * margin


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_it_without_scrolling_sideways(
    browser: Browser, viewer: Server, study: Study, scheme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(viewport={"width": 420, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    visit(page, f"{viewer.url}/?view={study.link.token}")
    page.wait_for_function(  # charts are drawn after the script has run
        "() => { const e = document.querySelector('[data-testid=stMain]'); return e.scrollWidth <= e.clientWidth; }",
        timeout=20_000,
    )
    dark = page.locator("[data-testid=stApp]").evaluate("e => getComputedStyle(e).colorScheme")
    assert dark == scheme
    context.close()


def test_downloads_that_were_not_allowed_are_not_there(
    context: BrowserContext, viewer: Server, study: Study
) -> None:
    link = publish(replace(study.view, downloads=False), study.views)
    page = context.new_page()
    visit(page, f"{viewer.url}/?view={link.token}")
    assert page.get_by_role("button", name="Download").count() == 0
    page.locator(".js-plotly-plot").first.hover()
    assert page.locator('.modebar-btn[data-title*="ownload"]').count() == 0
    page.close()
