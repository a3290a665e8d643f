"""Every page in both themes: no barrier that axe knows, no error in the console, nothing fetched from elsewhere."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import Server, follow, names_of_pages, serve_small, wait_until_idle
from tests.tiers import at_most

pytestmark = pytest.mark.browser
_FOUND = importlib.util.find_spec("axe_playwright_python")
AXE = Path(_FOUND.origin).with_name("axe.min.js") if _FOUND and _FOUND.origin else Path()
RUN = """async () => (await axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]})).violations
  .map(found => `${found.id}: ${found.nodes.map(node => node.html.slice(0, 160)).slice(0, 3).join(" | ")}`)"""
# Where Plotly finds a margin too small, it draws the chart once more, each time.
CROWDED = """() => [...document.querySelectorAll(".js-plotly-plot")]
  .filter(plot => ["l", "r", "t", "b"].some(side => plot._fullLayout._size[side] !== plot.layout.margin[side]))
  .map(plot => plot.closest("[aria-label]").getAttribute("aria-label"))"""
# Plotly hands a chart the values that it computes of its data anew whenever it draws all of it.
COUNT = """() => { const held = new WeakMap(), drawn = new WeakMap(), first = new WeakMap();
  const width = plot => Math.round(plot.querySelector(".main-svg").getAttribute("width"));
  const look = plot => plot.clientWidth && first.set(plot, {
    width: width(plot), visibility: getComputedStyle(plot).visibility});
  Object.defineProperty(HTMLElement.prototype, "calcdata", {
    get() { return held.get(this); },
    set(value) { held.set(this, value); if (!value) return;
      if (!drawn.has(this)) requestAnimationFrame(() => look(this));
      drawn.set(this, (drawn.get(this) ?? 0) + 1); }});
  window.timesDrawn = () => [...document.querySelectorAll(".js-plotly-plot")].map(plot => drawn.get(plot));
  window.firstLooks = () => [...document.querySelectorAll(".js-plotly-plot")].filter(plot => first.has(plot)).map(
    plot => `${first.get(plot).visibility}, ${width(plot) - first.get(plot).width} px wider later`); }"""
COLOURS = """() => { const fill = selector => [...document.querySelectorAll(`.js-plotly-plot ${selector}`)]
  .map(each => getComputedStyle(each).fill);
  return [new Set(fill(".xtick text, .ytick text, .xtitle, .ytitle, .legendtext")),
    getComputedStyle(document.querySelector("h1")).color].map(found => found instanceof Set ? [...found] : found); }"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve_small(tmp_path_factory.mktemp("pages")) as running:
        yield running


def watched(page: Page) -> list[str]:
    """What goes wrong on the page from now on."""
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "response",
        lambda answer: wrong.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None,
    )
    return wrong


# What is dark has other colours alone: some pages show them all, the thorough tier looks at every page.
@pytest.mark.parametrize(("scheme", "every"), [("light", 1), ("dark", at_most(3, 1))], ids=["light", "dark"])
def test_no_page_has_a_barrier_an_error_or_a_request_elsewhere(
    browser: Browser, server: Server, scheme: str, every: int
) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1400, "height": 900})
    page = context.new_page()
    wrong, asked, barriers = watched(page), list[str](), dict[str, list[str]]()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(server.url)
    wait_until_idle(page)
    page.evaluate(AXE.read_text())
    for name in names_of_pages(page)[::every]:
        follow(page, name)
        if found := page.evaluate(RUN):
            barriers[name] = found
    context.close()
    assert barriers == {}
    assert wrong == []
    assert [url for url in asked if not url.startswith((server.url, "data:", "blob:"))] == []


def test_margins_have_room_for_numbers_names_and_legend(page: Page, server: Server) -> None:
    page.set_viewport_size({"width": 1400, "height": 900})
    for address in ("measurability", "leaderboard", "bank"):
        page.goto(f"{server.url}/{address}")
        wait_until_idle(page)
        page.locator(".main-svg").first.wait_for()
        assert page.evaluate(CROWDED) == []


def test_each_chart_is_drawn_once_in_its_width_and_shown_at_once(page: Page, server: Server) -> None:
    page.add_init_script(f"({COUNT})()")
    counts: dict[str, set[int]] = {}
    looks: dict[str, set[str]] = {}
    for address in ("measurability", "items", "bank", "leaderboard", "publish"):
        page.goto(f"{server.url}/{address}")
        page.locator(".main-svg").first.wait_for()
        wait_until_idle(page)
        page.wait_for_timeout(500)
        counts[address] = set(page.evaluate("timesDrawn()"))
        looks[address] = set(page.evaluate("firstLooks()"))
    assert counts == {address: {1} for address in counts}
    assert looks == {address: {"visible, 0 px wider later"} for address in looks}


def test_a_chart_that_is_there_before_the_other_parts_of_its_page_is_not_hidden(
    page: Page, server: Server
) -> None:
    page.add_init_script(f"({COUNT})()")
    held: list[Route] = []
    page.route("**/Html.*.js", lambda route: held.append(route))
    page.goto(f"{server.url}/leaderboard")
    page.locator(".main-svg").first.wait_for(state="attached")
    page.wait_for_function("() => firstLooks().length")
    looks = set(page.evaluate("firstLooks()"))
    assert held, "the part of Streamlit that writes HTML has another name"
    for route in held:
        route.continue_()
    assert looks == {"visible, 0 px wider later"}


def test_text_in_charts_has_the_colour_of_the_text_around_it_also_when_the_theme_changes(
    page: Page, server: Server
) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(f"{server.url}/items")
    page.locator(".main-svg").first.wait_for()
    wait_until_idle(page)
    light, around = page.evaluate(COLOURS)
    assert light == [around]
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"() => ({COLOURS})()[1] !== {around!r}")
    dark, around = page.evaluate(COLOURS)
    assert dark == [around] != light


def test_one_press_of_back_undoes_one_thing_that_a_person_did(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/bank?budget=30")
    wait_until_idle(page)
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Leaderboard", exact=True).click()
    page.wait_for_url("**/leaderboard?**budget=30**")
    wait_until_idle(page)
    page.get_by_role("slider", name="Bank size").press("ArrowLeft")
    page.wait_for_function("() => !location.search.includes('budget=30')")
    wait_until_idle(page)
    page.go_back()
    page.wait_for_url("**/leaderboard?**budget=30**")
    wait_until_idle(page)
    page.go_back()
    page.wait_for_url("**/bank?**budget=30**")
    wait_until_idle(page)
    expect(page.locator("h1").first).to_have_text("Bank · small")


def test_a_link_that_the_keyboard_reaches_has_an_outline(page: Page, server: Server) -> None:
    page.goto(server.url)
    wait_until_idle(page)
    for place in ("stSidebarNavLink", "stPageLink-NavLink"):
        link = page.get_by_test_id(place).last
        assert link.evaluate("link => getComputedStyle(link).outlineStyle") == "none"
        link.focus()
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
        assert link.evaluate("link => getComputedStyle(link).outlineStyle") == "solid", place


def test_a_button_above_a_table_is_seen_when_the_keyboard_reaches_it(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/data")
    wait_until_idle(page)
    bar = page.get_by_test_id("stElementToolbar").first
    button = bar.get_by_role("button").last
    expect(bar).to_have_css("opacity", "0")
    button.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(bar).to_have_css("opacity", "1")
    expect(bar).to_have_css("z-index", "1")
    expect(button).to_have_css("outline-style", "solid")
    below = page.get_by_test_id("stDataFrameResizable").first.bounding_box()
    seen = button.bounding_box()
    assert below is not None
    assert seen is not None
    assert seen["y"] + seen["height"] <= below["y"]
