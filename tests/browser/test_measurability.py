"""The histogram of Measurability in a browser: what is dragged on it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, serve_small, wait_until_idle

pytestmark = pytest.mark.browser
ROWS = "() => Number(document.querySelector('[role=grid]')?.getAttribute('aria-rowcount') ?? NaN)"
# The bars of the first chart that are wide enough to be dragged in, with their ends in pixels.
BARS = """() => [...document.querySelector(".js-plotly-plot").querySelectorAll(".bars .point path")]
  .map(bar => bar.getBoundingClientRect()).filter(box => box.width > 8 && box.height > 30)
  .map(box => [box.left, box.right, box.bottom - 10])"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve_small(tmp_path_factory.mktemp("gate")) as running:
        yield running


def drag(page: Page, left: float, right: float, y: float) -> None:
    page.mouse.move(left, y)
    page.mouse.down()
    page.mouse.move((left + right) / 2, y, steps=4)
    page.mouse.move(right, y, steps=4)
    page.mouse.up()


def bars_at_rest(page: Page) -> list[list[float]]:
    """The ends of the bars within the window, once the page has run and two looks at them find the same."""
    bars: list[list[float]] = []
    for _ in range(60):
        wait_until_idle(page)
        page.locator(".js-plotly-plot").first.scroll_into_view_if_needed()
        before, bars = bars, page.evaluate(BARS)
        if bars and bars == before:
            return bars
    raise AssertionError(f"The bars do not come to rest: {bars}")


def test_a_range_within_one_bar_lists_its_rubrics_and_one_over_several_moves_the_threshold(
    page: Page, server: Server
) -> None:
    page.goto(f"{server.url}/measurability")
    page.wait_for_function(f"() => ({ROWS})() > 0", timeout=60_000)
    every = page.evaluate(ROWS)
    bars = bars_at_rest(page)
    left, right, y = bars[0]
    drag(page, left + 0.3 * (right - left), right - 0.3 * (right - left), y)
    page.wait_for_function(f"every => ({ROWS})() < every", arg=every, timeout=20_000)
    expect(page).not_to_have_url(re.compile("tau_c"))
    only = page.get_by_text("Of the bar from")
    only.wait_for()
    page.locator(".js-plotly-plot .nsewdrag").first.dblclick(position={"x": 9, "y": 9})
    page.wait_for_function(f"every => ({ROWS})() == every", arg=every, timeout=20_000)
    only.wait_for(state="detached")
    bars = bars_at_rest(page)
    drag(page, (bars[1][0] + bars[1][1]) / 2, bars[-1][1], y)
    page.wait_for_url("**tau_c=**", timeout=20_000)
