"""Real clicks on charts: Plotly itself says nothing of cells, lines, and bars on which ranges are dragged."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

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
