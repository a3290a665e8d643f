"""Real clicks on charts: Plotly itself says nothing of cells, lines, and bars on which ranges are dragged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import Server, serve_small, wait_until_idle

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve_small(tmp_path_factory.mktemp("clicks")) as running:
        yield running


def chart(page: Page, alt: str) -> Locator:
    """The chart that says this of itself, drawn and in sight."""
    found = page.get_by_role("figure", name=alt)
    found.locator(".nsewdrag").first.wait_for(timeout=60_000)
    wait_until_idle(page)
    found.scroll_into_view_if_needed()
    return found


def click_at(page: Page, alt: str, across: float, down: float) -> None:
    """Click there on the chart, in shares of its area."""
    area = chart(page, alt).locator(".nsewdrag").first.bounding_box()
    assert area is not None
    x, y = area["x"] + across * area["width"], area["y"] + down * area["height"]
    page.mouse.move(x - 2, y)
    page.mouse.move(x, y)
    page.wait_for_timeout(200)  # until Plotly knows what is below the pointer
    page.mouse.click(x, y)


def test_a_cell_compares_two_systems_each_time_and_back_undoes_it(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/leaderboard?more=Pairs")
    for _ in range(2):
        click_at(page, "Probability that the row is ahead of the column", 3.5 / 8, 1.5 / 8)
        page.wait_for_url(re.compile("system=.*versus="), timeout=20_000)
        expect(page.get_by_role("tab", name="Compared with")).to_be_visible(timeout=20_000)
        wait_until_idle(page)
        page.go_back()
        page.wait_for_url(lambda url: "system=" not in url, timeout=20_000)
        wait_until_idle(page)


def test_a_dot_opens_the_profile_of_its_system(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/leaderboard?more=Scores")
    chart(page, "Score against ability").locator("path.point").nth(2).click(force=True)
    page.wait_for_url("**system=**", timeout=20_000)
    expect(page.get_by_text(re.compile(r"^Why .* stands there$"))).to_be_visible(timeout=20_000)


ROWS = """() => [...document.querySelector('[aria-label*="with intervals"] .js-plotly-plot').layout.yaxis.ticktext]"""
ON_CURVE = """([alt, share]) => {
  const line = [...document.querySelectorAll(`[aria-label="${alt}"] .scatterlayer .js-line`)].at(-1);
  const at = line.getPointAtLength(share * line.getTotalLength()), seen = line.getScreenCTM();
  return [at.x * seen.a + seen.e, at.y * seen.d + seen.f]; }"""


def click_on_curve(page: Page, alt: str, share: float) -> None:
    """Click the chart's last curve, at this share of its length."""
    chart(page, alt)
    x, y = page.evaluate(ON_CURVE, [alt, share])
    page.mouse.move(x - 2, y)
    page.mouse.move(x, y)
    page.wait_for_timeout(200)
    page.mouse.click(x, y)


def test_a_curve_and_a_row_of_items_list_their_rubrics_and_a_system_leads_to_the_leaderboard(
    page: Page, server: Server
) -> None:
    page.goto(f"{server.url}/items")
    only = page.get_by_text("Only what was clicked on a chart, whatever is searched for: 1 rubric.")
    for click in (
        lambda: click_on_curve(page, "Item information of the chosen rubrics", 0.5),
        lambda: click_at(page, "Item information by difficulty and ability", 0.5, 0.5),
    ):
        click()
        expect(only).to_be_visible(timeout=20_000)
        expect(page.get_by_role("figure", name="Labels of the chosen rubric")).to_be_visible(timeout=20_000)
        wait_until_idle(page)
        page.get_by_role("button", name="List all rubrics").click()
        expect(only).to_have_count(0, timeout=20_000)
    chart(page, "Wright map").locator("path.point").nth(1).click(force=True)
    page.wait_for_url("**/leaderboard?**system=**", timeout=20_000)
    wait_until_idle(page)
    page.go_back()
    page.wait_for_url("**/items**", timeout=20_000)


def test_a_bar_of_measurability_lists_its_rubrics_until_a_double_click_or_the_button(
    page: Page, server: Server
) -> None:
    page.goto(f"{server.url}/measurability")
    only, alt = page.get_by_text("Of the bar from"), "Rubrics by the gate's"
    for by_button in (True, False, False):
        highest = max(chart(page, alt).locator(".bars .point path").all(), key=lambda bar: height(bar))
        highest.click(force=True)
        expect(only).to_be_visible(timeout=20_000)
        wait_until_idle(page)
        expect(page).to_have_url(re.compile("bar="))
        if by_button:
            page.get_by_role("button", name="List all rubrics").click()
        else:
            chart(page, alt).locator(".nsewdrag").first.dblclick(position={"x": 9, "y": 9})
        expect(only).to_have_count(0, timeout=20_000)
    expect(page).not_to_have_url(re.compile("tau_c"))


def height(bar: Locator) -> float:
    """In pixels."""
    box = bar.bounding_box()
    return 0.0 if box is None else box["height"]


def test_a_point_of_what_banks_are_worth_sets_their_size_and_back_undoes_it(
    page: Page, server: Server
) -> None:
    page.goto(f"{server.url}/bank")
    chart(page, "Share of separated pairs").locator("path.point").nth(2).click(force=True)
    page.wait_for_url("**budget=**", timeout=20_000)
    wait_until_idle(page)
    assert f"budget={page.get_by_role('spinbutton', name='Bank size B, exact').input_value()}" in page.url
    page.go_back()
    page.wait_for_url(lambda url: "budget=" not in url, timeout=20_000)


def test_a_tap_opens_the_system_that_is_tapped_and_not_the_one_before(
    browser: Browser, server: Server
) -> None:
    context = browser.new_context(viewport={"width": 800, "height": 900}, has_touch=True)
    page = context.new_page()
    page.goto(f"{server.url}/leaderboard")
    opened = []
    for mark in (1, 3):
        dot = chart(page, "with intervals").locator("path.point").nth(mark).bounding_box()
        assert dot is not None
        before = page.url
        page.touchscreen.tap(dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2)
        page.wait_for_url(lambda url, before=before: url != before, timeout=20_000)
        wait_until_idle(page)
        opened.append(parse_qs(urlsplit(page.url).query)["system"][0])
    names = page.evaluate(ROWS)
    assert opened == [names[1], names[3]]
    context.close()


def test_tab_leads_into_an_open_popover_and_out_of_it_to_what_follows_its_button(
    page: Page, server: Server
) -> None:
    page.goto(f"{server.url}/leaderboard")
    wait_until_idle(page)
    button, body = page.get_by_test_id("stPopoverButton").filter(has_text="Settings"), ":focus"
    inside = page.get_by_test_id("stPopoverBody").locator(body)
    button.focus()
    page.keyboard.press("Enter")
    wait_until_idle(page)
    page.keyboard.press("Tab")
    expect(inside).to_have_count(1)
    page.keyboard.press("Shift+Tab")
    expect(button).to_be_focused()
    for _ in range(100):
        page.keyboard.press("Tab")
        if not inside.count():
            break
    expect(page.locator(body)).to_have_attribute("aria-label", "Help for Ranked on")
    button.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
