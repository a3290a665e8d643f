"""The leaderboard in a browser: what somebody looks at survives, and a click on a mark leads to the reasons."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from crubric_core import Workspace
from crubric_core.demo import simulate
from tests.browser.conftest import Server, serve, wait_until_idle
from tests.tiers import at_most

pytestmark = pytest.mark.browser
PAGES = (
    "Overview",
    "Data",
    "Task types",
    "Measurability",
    "Items",
    "Bank",
    "New system",
    "Scenarios",
    "Experiments",
    "Publish",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A workspace with two datasets, ``mine`` not the first."""
    path = tmp_path_factory.mktemp("board") / "workspace.duckdb"
    with Workspace(path) as workspace:
        for name, seed in (("demo", 1), ("mine", 2)):
            made = simulate(seed=seed, systems=8, queries=12, pool=(9, 14))
            labels = made.labels.assign(reason="Because of " + made.labels["judge"] + ".")
            for kind, table in (("labels", labels), ("rubrics", made.rubrics), ("queries", made.queries)):
                workspace.ingest(table.to_csv(index=False).encode(), name, kind=kind)
    with serve(path) as running:
        yield running


def test_dataset_and_settings_survive_every_page_a_reload_and_the_way_back(
    page: Page, server: Server
) -> None:
    page.goto(f"{server.url}/leaderboard?dataset=mine&tau_c=.4&budget=90")
    wait_until_idle(page)
    for name in PAGES:
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=name, exact=True).click()
        expect(page.locator("h1").first).to_contain_text(name, timeout=60_000)
        wait_until_idle(page)
        for part in ("dataset=mine", "tau_c=0.4", "budget=90"):
            assert part in page.url, (name, page.url)
        if name != "Data":
            expect(page.locator("h1").first).to_have_text(f"{name} · mine")
    expect(page.get_by_role("button", name="Publish mine")).to_be_visible()
    page.reload()
    wait_until_idle(page)
    expect(page.locator("h1").first).to_have_text("Publish · mine")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Bank", exact=True).click()
    expect(page.locator("h1").first).to_have_text("Bank · mine", timeout=60_000)
    wait_until_idle(page)
    expect(page).to_have_url(re.compile("budget=90"))
    page.go_back()
    expect(page.locator("h1").first).to_have_text("Publish · mine", timeout=60_000)
    expect(page).to_have_url(re.compile("tau_c=0.4"), timeout=60_000)
    assert "Traceback" not in server.log.read_text()


def test_the_claim_and_what_it_rests_on_stay_whatever_is_done_on_the_board(
    page: Page, server: Server
) -> None:
    page.goto(f"{server.url}/leaderboard?dataset=mine")
    wait_until_idle(page)
    headline, rests_on = page.locator("h2").first, page.get_by_text(re.compile("^Ranked on "))
    claim = headline.inner_text()
    assert "95%" in claim
    page.get_by_role("figure", name="with intervals").locator("path.point").nth(1).click(force=True)
    page.wait_for_url("**system=**", timeout=20_000)
    wait_until_idle(page)
    page.get_by_role("tab", name="Pairs").click()
    wait_until_idle(page)
    page.get_by_label("Find a system").fill("nobody")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No system fits these filters.")).to_be_visible(timeout=20_000)
    wait_until_idle(page)
    assert headline.inner_text() == claim
    expect(rests_on).to_have_count(1)
    page.get_by_label("Find a system").fill("")
    page.keyboard.press("Enter")
    wait_until_idle(page)
    page.get_by_role("slider", name="Gate threshold").press("ArrowRight")
    wait_until_idle(page)
    page.get_by_role("tab", name="Table").click()
    wait_until_idle(page)
    assert "95%" in headline.inner_text()
    expect(rests_on).to_have_count(1)
    assert "Traceback" not in server.log.read_text()


def test_each_page_is_one_step_back(page: Page, server: Server) -> None:
    """The browser takes each change of the address for a step: one with half of the settings lost the other half."""
    first = f"{server.url}/leaderboard?dataset=mine&tau_c=0.4&budget=90"
    page.goto(first)
    wait_until_idle(page)
    steps = page.evaluate("history.length")
    for name in ("Bank", "Data", "Items"):
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=name, exact=True).click()
        expect(page.locator("h1").first).to_contain_text(name, timeout=60_000)
        wait_until_idle(page)
    assert page.evaluate("history.length") == steps + 3
    for name in ("Data", "Bank", "Leaderboard"):
        page.go_back()
        expect(page.locator("h1").first).to_contain_text(name, timeout=60_000)
        wait_until_idle(page)
    assert page.url == first


def open_two(page: Page) -> Locator:
    """Open a system's profile and one beside it; the tab of both."""
    marks = page.locator(".js-plotly-plot").first.locator("path.point")
    marks.first.wait_for(timeout=60_000)
    marks.nth(2).click(force=True)
    page.get_by_role("combobox", name="Compare with").click()
    page.get_by_role("option").nth(3).click()
    both = page.get_by_role("tab", name="Compared with")
    expect(both).to_be_visible(timeout=60_000)
    wait_until_idle(page)
    return both


def test_a_profile_and_the_system_beside_it_survive_other_pages_the_way_back_and_a_reload(
    page: Page, server: Server
) -> None:
    page.goto(f"{server.url}/leaderboard?dataset=mine&tau_c=.4")
    wait_until_idle(page)
    both, opened = open_two(page), page.url
    assert re.search("system=.*versus=", opened)
    for name in ("Bank", "Data"):
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=name, exact=True).click()
        expect(page.locator("h1").first).to_contain_text(name, timeout=60_000)
        wait_until_idle(page)
    page.reload()
    wait_until_idle(page)
    for _ in range(2):
        page.go_back()
        wait_until_idle(page)
    for _ in ("after Back", "after a reload"):
        expect(both).to_be_visible(timeout=60_000)
        wait_until_idle(page)
        assert page.url == opened
        page.reload()


def test_from_the_click_on_a_link_to_the_next_page_nothing_is_written_to_the_address_of_the_last(
    page: Page, server: Server
) -> None:
    """What a quick page writes may arrive before Streamlit gives the address its path."""
    page.goto(f"{server.url}/leaderboard?dataset=mine")
    wait_until_idle(page)
    before, written = page.evaluate(
        """() => { const before = location.href;
          document.querySelector('[data-testid="stSidebarNav"] a[href$="/bank"]').click();
          history.pushState({}, "", "/leaderboard?dataset=demo");
          return [before, location.href]; }"""
    )
    assert written == before
    page.wait_for_url("**/bank?dataset=mine**")
    wait_until_idle(page)
    page.go_back()
    wait_until_idle(page)
    assert page.url == before


def test_what_is_searched_is_kept_on_the_pages_of_rubrics_until_another_dataset_is_shown(
    page: Page, server: Server
) -> None:
    def go(name: str) -> None:
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=name, exact=True).click()
        expect(page.locator("h1").first).to_contain_text(name, timeout=60_000)
        wait_until_idle(page)

    box = page.get_by_role("textbox", name="Find rubrics")
    page.goto(f"{server.url}/measurability?dataset=mine")
    wait_until_idle(page)
    box.fill("must not")
    box.press("Enter")
    page.wait_for_url("**search=must+not**")
    for name in ("Items", "Leaderboard", "Bank", "Data", "Measurability"):
        go(name)
        if name in {"Items", "Bank", "Measurability"}:
            expect(box).to_have_value("must not", timeout=60_000)
            page.wait_for_url("**search=must+not**")
    page.reload()
    expect(box).to_have_value("must not", timeout=60_000)
    wait_until_idle(page)
    box.fill("")
    box.press("Enter")
    page.wait_for_function("() => !location.search.includes('search')")
    page.go_back()
    expect(box).to_have_value("must not", timeout=60_000)
    wait_until_idle(page)
    page.get_by_role("combobox", name="Dataset").click()
    page.get_by_role("option", name="demo").click()
    expect(page.locator("h1").first).to_contain_text("demo", timeout=60_000)
    wait_until_idle(page)
    expect(page).not_to_have_url(re.compile("search"))
    go("Items")
    expect(box).to_have_value("", timeout=60_000)


@pytest.mark.parametrize(
    ("times", "pause"),
    at_most([(4, 0), (8, 60)], [(4, 0), (6, 30), (8, 60), (5, 120), (7, 200)]),
)
def test_no_move_of_a_slider_is_lost_however_quickly_they_follow(
    page: Page, server: Server, times: int, pause: int
) -> None:
    """The browser makes some before it has heard of those before: its messages carry what it showed then."""
    page.goto(f"{server.url}/measurability?dataset=mine")
    slider = page.get_by_role("slider", name="Gate threshold")
    slider.focus(timeout=60_000)
    wait_until_idle(page)
    start = round(float(slider.input_value()), 2)
    for _ in range(times):
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(pause)
    wanted = f"{start - times / 100:.2f}"
    expect(page.locator("h2").first).to_contain_text(f"τ_c = {wanted}", timeout=60_000)
    wait_until_idle(page)
    expect(page).to_have_url(re.compile(f"tau_c={float(wanted)}(&|$)"))
    assert f"{float(slider.input_value()):.2f}" == wanted
    expect(page.locator("h2").first).to_contain_text(f"τ_c = {wanted}")


@pytest.mark.parametrize("page_name", ["items", "bank"])
def test_a_size_beyond_the_candidates_outlasts_quick_moves_of_the_threshold(
    page: Page, server: Server, page_name: str
) -> None:
    """Each threshold has another limit; what the browser shows of the one before is no choice of a size."""
    page.goto(f"{server.url}/{page_name}?dataset=mine&gate=agreement&tau_c=0.4&budget=1000")
    slider = page.get_by_role("slider", name="Gate threshold")
    slider.focus(timeout=60_000)
    wait_until_idle(page)
    asked = re.search(r"budget=\d+", page.url)
    assert asked
    for key in ["ArrowRight"] * 12 + ["ArrowLeft"] * 6:
        page.keyboard.press(key)
        page.wait_for_timeout(40)
    expect(page).to_have_url(re.compile(r"tau_c=0\.46(&|$)"), timeout=60_000)
    wait_until_idle(page)
    expect(page).to_have_url(re.compile(f"{asked[0]}(&|$)"))
    expect(page.get_by_role("spinbutton", name="Bank size B, exact")).not_to_have_value("1")


def test_a_threshold_that_goes_back_and_forth_is_sent_charts_and_no_references_to_them(
    page: Page, server: Server
) -> None:
    """Between two quick moves the page drops the message that a reference names: "Connection error"."""
    sent: list[ForwardMsg] = []
    page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda data: sent.append(ForwardMsg.FromString(data))),
    )
    page.goto(f"{server.url}/measurability?dataset=mine&gate=agreement&tau_c=0.4")
    slider = page.get_by_role("slider", name="Gate threshold")
    slider.focus(timeout=60_000)
    wait_until_idle(page)
    for key in ("ArrowRight", "ArrowLeft") * 2:
        page.keyboard.press(key)
        wait_until_idle(page)
    assert any(message.delta.new_element.HasField("plotly_chart") for message in sent)
    assert not [message for message in sent if message.HasField("ref_hash")]


@pytest.mark.parametrize("held_down", at_most([100], [60, 100, 150, 200, 400]))
def test_a_size_that_is_typed_outlasts_a_click_elsewhere(page: Page, server: Server, held_down: int) -> None:
    """The click ends the typing: its own message comes before the browser has drawn what was typed."""
    page.goto(f"{server.url}/bank?dataset=mine")
    box = page.get_by_role("spinbutton", name="Bank size B, exact")
    box.fill("17", timeout=60_000)
    page.get_by_text("All that pass and vary", exact=True).first.click(delay=held_down)
    page.wait_for_timeout(1500)
    wait_until_idle(page)
    expect(page).to_have_url(re.compile(r"budget=17(&|$)"))
    expect(box).to_have_value("17")


def test_back_to_another_dataset_brings_its_profile_back(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/leaderboard?dataset=mine")
    both, opened = open_two(page), page.url
    page.get_by_role("combobox", name="Dataset").click()
    page.get_by_role("option", name="demo", exact=True).click()
    expect(page.locator("h1").first).to_contain_text("demo", timeout=60_000)
    wait_until_idle(page)
    assert not re.search("system=|versus=", page.url)
    page.go_back()
    expect(both).to_be_visible(timeout=60_000)
    wait_until_idle(page)
    assert page.url == opened


def test_the_first_page_says_that_a_dataset_is_gone(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/?dataset=gone")
    wait_until_idle(page)
    expect(page.locator("h2").first).to_have_text("There is no dataset “gone” here.")


def test_a_click_on_a_mark_opens_the_profile_down_to_a_judge_s_reason(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/leaderboard?dataset=mine")
    wait_until_idle(page)
    marks = page.locator(".js-plotly-plot").first.locator("path.point")
    marks.first.wait_for(timeout=60_000)
    marks.nth(2).click(force=True)
    expect(page.get_by_text(re.compile(r"^Why .* stands there$"))).to_be_visible(timeout=60_000)
    wait_until_idle(page)
    expect(page).to_have_url(re.compile("system="))
    page.get_by_role("tab", name="Strongest and weakest rubrics").click()
    expect(page.get_by_text(re.compile("^Because of ")).first).to_be_visible(timeout=60_000)
    page.reload()
    wait_until_idle(page)
    expect(page.get_by_text(re.compile(r"^Why .* stands there$"))).to_be_visible(timeout=60_000)
    expect(page.get_by_text(re.compile("^Because of ")).first).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="✕").click()
    expect(page.get_by_text(re.compile(r"^Why .* stands there$"))).to_have_count(0, timeout=60_000)
    wait_until_idle(page)
    expect(page).not_to_have_url(re.compile("system="))
    assert "Traceback" not in server.log.read_text()


def test_a_chosen_system_and_a_search_are_a_step_back_each(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/leaderboard?dataset=mine")
    wait_until_idle(page)
    marks, box = (
        page.locator(".js-plotly-plot").first.locator("path.point"),
        page.get_by_label("Find a system"),
    )
    marks.first.wait_for(timeout=60_000)
    marks.nth(2).click(force=True)
    page.wait_for_url("**system=**")
    wait_until_idle(page)
    chosen = page.url
    box.fill("a")
    box.press("Enter")
    page.wait_for_url("**find=a**")
    wait_until_idle(page)
    page.go_back()
    expect(box).to_have_value("", timeout=60_000)
    wait_until_idle(page)
    assert page.url == chosen
    page.go_back()
    page.wait_for_function("() => !location.search.includes('system')")


def test_where_somebody_clicks_a_system_a_link_to_its_profile_is_in_sight(page: Page, server: Server) -> None:
    """On a narrow screen the profile opens far below the chart; the table is below the profile on any."""
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(f"{server.url}/leaderboard?dataset=mine")
    wait_until_idle(page)
    below, above = (page.get_by_role("link", name=f"open {where}: go to it") for where in ("below", "above"))
    marks = page.locator(".js-plotly-plot").first.locator("path.point")
    marks.first.wait_for(timeout=60_000)
    expect(below).to_have_count(0)
    marks.nth(2).click(force=True)
    expect(below).to_be_in_viewport(timeout=60_000)
    wait_until_idle(page)
    close = page.get_by_role("button", name="✕")
    expect(close).not_to_be_in_viewport()
    below.click()
    expect(close).to_be_in_viewport()
    above.click()
    expect(close).to_be_in_viewport()
    page.set_viewport_size({"width": 1400, "height": 900})
    expect(below).to_be_hidden()
    above.scroll_into_view_if_needed()
    expect(close).not_to_be_in_viewport()
    above.click()
    expect(close).to_be_in_viewport()


@pytest.mark.parametrize(("address", "chosen"), [("leaderboard", "system="), ("measurability", "")])
def test_a_row_is_chosen_by_the_keys_that_the_table_names(
    page: Page, server: Server, address: str, chosen: str
) -> None:
    page.goto(f"{server.url}/{address}?dataset=mine")
    wait_until_idle(page)
    table = page.get_by_role("region", name="Shift and Space choose a row").first
    table.locator("canvas").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+Space")
    expect(table.locator('[role="row"][aria-selected="true"]')).to_have_count(1, timeout=20_000)
    if chosen:
        page.wait_for_url(f"**{chosen}**", timeout=20_000)
    wait_until_idle(page)
