"""Pages on a phone: what would overlap there has room, or is not shown."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from playwright.sync_api import Browser, Page, expect

from crubric_core import Workspace
from crubric_core.demo import simulate
from tests.browser.conftest import Server, serve, wait_until_idle
from tests.tiers import at_most

pytestmark = pytest.mark.browser
# Controls that the tools of a table lie upon.
COVERED = """() => { const boxes = [...document.querySelectorAll("[data-testid=stElementToolbar]")]
    .map(tools => tools.getBoundingClientRect()).filter(box => box.width);
  return [boxes.length, [...document.querySelectorAll("button, input, [role=tab]")]
    .filter(each => !each.closest("[data-testid=stElementToolbar]")).filter(each => {
      const box = each.getBoundingClientRect();
      return boxes.some(tools => box.width && box.left < tools.right && tools.left < box.right
        && box.top < tools.bottom - 1 && tools.top + 1 < box.bottom); })
    .map(each => each.textContent || each.getAttribute("aria-label"))]; }"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = tmp_path_factory.mktemp("narrow") / "workspace.duckdb"
    made = simulate(seed=1, systems=12, queries=12, pool=(9, 14))
    with Workspace(path) as workspace:
        for kind in ("labels", "rubrics", "queries"):
            workspace.ingest(getattr(made, kind).to_csv(index=False).encode(), "small", kind=kind)
    with serve(path) as running:
        yield running


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Sixty systems whose long names differ in their middles."""
    path = tmp_path_factory.mktemp("crowd") / "workspace.duckdb"
    rows = [
        f"mistral-reasoning-{n:02d}b-2025-03-15,q{q},q{q},k{k},{int((7 * n + 11 * q) % 60 + k < n)}"
        for n, q, k in product(range(60), range(12), range(3))
    ]
    with Workspace(path) as workspace:
        workspace.ingest(
            "\n".join(["system,query,rubric,judge,label", *rows]).encode(), "crowd", format="csv"
        )
    with serve(path) as running:
        yield running


@pytest.mark.parametrize(
    ("address", "names", "said"),
    [
        ("leaderboard?more=Pairs", ".xtick", "Columns are in the order of the rows."),
        ("items", ".x2tick", "The system with the highest ability is on the left."),
    ],
)
def test_names_of_many_columns_are_left_out_where_they_would_overlap(
    page: Page, server: Server, address: str, names: str, said: str
) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(f"{server.url}/{address}")
    wait_until_idle(page)
    plot = page.locator(".js-plotly-plot").last
    name = plot.locator(names).last
    name.wait_for(state="attached", timeout=60_000)
    expect(plot.locator(names)).to_have_count(12)
    expect(name).to_be_hidden()
    expect(page.get_by_text(said)).to_be_visible()
    page.set_viewport_size({"width": 1400, "height": 900})
    expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "false")
    expect(name).to_be_visible()


def test_names_next_to_many_points_are_left_out_on_a_phone(page: Page, crowd: Server) -> None:
    """They lay on each other, and the edge of the page cut them."""
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(f"{crowd.url}/leaderboard?more=Scores")
    wait_until_idle(page)
    plot = page.get_by_role("figure", name="Score against ability")
    name = plot.locator(".textpoint").first
    name.wait_for(state="attached", timeout=60_000)
    expect(name).to_be_hidden()
    expect(plot.locator(".point").first).to_be_visible()
    page.set_viewport_size({"width": 1400, "height": 900})
    expect(name).to_be_visible()


@pytest.mark.parametrize("width", at_most([390, 800, 1150], [390, 420, 560, 800, 1000, 1150, 1280]))
def test_nothing_of_the_settings_is_cut_and_charts_have_room_at_every_width(
    page: Page, server: Server, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{server.url}/measurability")
    page.locator(".js-plotly-plot").last.wait_for(timeout=60_000)
    wait_until_idle(page)
    cut = """[...document.querySelectorAll("button p, [role=radio] p, [data-testid=stMetricLabel] p")]
      .filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.textContent)"""
    assert page.evaluate(cut) == []
    choices = page.get_by_role("radiogroup", name="Method")
    assert choices.evaluate("each => each.scrollWidth <= each.parentElement.clientWidth + 1")
    charts = page.get_by_test_id("stPlotlyChart").evaluate_all("all => all.map(each => each.clientWidth)")
    assert min(charts) >= 260


def test_without_a_mouse_the_tools_of_a_table_cover_no_control(browser: Browser, server: Server) -> None:
    context = browser.new_context(viewport={"width": 420, "height": 900}, has_touch=True, is_mobile=True)
    page = context.new_page()
    for address in ("leaderboard", "task_types", "measurability", "items", "bank"):
        page.goto(f"{server.url}/{address}")
        page.locator("[data-testid=stDataFrame]").first.wait_for(timeout=60_000)
        wait_until_idle(page)
        tools, covered = page.evaluate(COVERED)
        assert tools, address
        assert covered == [], address
    context.close()


def test_without_a_mouse_the_tools_of_a_chart_stand_above_it_and_not_on_its_legend(
    browser: Browser, server: Server
) -> None:
    context = browser.new_context(viewport={"width": 420, "height": 900}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(f"{server.url}/bank")
    page.locator(".legend").first.wait_for(timeout=60_000)
    wait_until_idle(page)
    tools, legend = (page.locator(part).first for part in (".modebar", ".legend"))
    expect(tools).to_be_visible()
    above, below = tools.bounding_box(), legend.bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] + above["height"] <= below["y"]
    box = page.locator("[data-testid=stElementContainer]:has(.modebar)").first.bounding_box()
    assert box is not None
    assert box["y"] <= above["y"]  # what is above its box is cut
    context.close()


def test_long_names_of_many_systems_leave_the_marks_half_of_a_phone_and_are_not_cut(
    page: Page, crowd: Server
) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(f"{crowd.url}/leaderboard")
    chart = page.get_by_role("figure", name="with intervals")
    chart.locator("path.point").first.wait_for(timeout=60_000)
    wait_until_idle(page)
    whole, *texts = chart.evaluate(
        """each => [each, ...each.querySelectorAll(".ytick text, .annotation text")]
          .map(part => part.getBoundingClientRect()).map(box => [box.left, box.right])"""
    )
    size = chart.evaluate("each => (each.querySelector('.js-plotly-plot') ?? each)._fullLayout._size")
    assert size["w"] >= 0.5 * (whole[1] - whole[0])
    assert len(texts) >= 40
    assert min(left for left, _ in texts) >= whole[0]
    assert max(right for _, right in texts) <= whole[1]
