"""The whole road in a browser: upload a table, move both sliders, read the leaderboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from crubric_core.figures.style import ROW, row_names
from crubric_core.text import short_name
from tests.browser.conftest import Server, serve, wait_until_idle
from tests.tiers import at_most

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=alert(1)>"
NAMES = (HOSTILE, "**bold**", "=cmd()", "plain", "http://evil.example/x", ":red[r] $x$")
DOMAIN = "*d* :blue[x] <img src=x onerror=alert(2)>"
RUBRICS, JUDGES = 120, 3


def labels() -> str:
    """Six systems of falling ability under three judges who err in every tenth label, as CSV."""
    rng = np.random.default_rng(0)
    ability = np.linspace(2, -2, len(NAMES))
    difficulty = rng.normal(size=RUBRICS)
    passes = rng.random((len(NAMES), RUBRICS)) < 1 / (1 + np.exp(-2 * (ability[:, None] - difficulty)))
    rows = ["system,query,rubric,judge,label"]
    for i, name in enumerate(NAMES):
        for j in range(RUBRICS):
            for k in range(JUDGES):
                label = int(passes[i, j] ^ (rng.random() < 0.1))
                rows.append(f'"{name}",q{j % 12},"r{j} {NAMES[0] if j == 7 else ""}",judge {k},{label}')
    return "\n".join(rows)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journey") / "study.csv"
    path.write_text(labels())
    domains = (f'q{n},"{DOMAIN if n % 2 else "plain"}"' for n in range(12))
    path.with_name("queries.csv").write_text("\n".join(["query,domain", *domains]))
    return path


@pytest.fixture(scope="module")
def server(table: Path) -> Iterator[Server]:
    with serve(table.with_name("workspace.duckdb")) as running:
        yield running


@pytest.fixture(scope="module")
def uploaded(browser: Browser, server: Server, table: Path) -> Server:
    """The server after a person has uploaded the two tables."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server.url}/data")
    wait_until_idle(page)
    page.locator('input[type="file"]').set_input_files([table, table.with_name("queries.csv")])
    page.get_by_role("button", name="Read 2 files").click(timeout=60_000)
    expect(page.get_by_text("study: done.")).to_be_visible(timeout=60_000)
    context.close()
    return server


def move(page: Page, slider: str, key: str, times: int) -> None:
    """Press a key on a slider, as often as given."""
    handle = page.get_by_role("slider", name=slider)
    for _ in range(times):
        handle.press(key)
    wait_until_idle(page)


def first_line(page: Page) -> str:
    return page.locator("h2").first.inner_text()


def test_from_an_uploaded_table_over_both_sliders_to_a_leaderboard(page: Page, uploaded: Server) -> None:
    page.goto(f"{uploaded.url}/bank?tau_c=0.7")
    wait_until_idle(page)
    before = first_line(page)
    move(page, "Gate threshold", "PageDown", 1)
    expect(page).to_have_url(re.compile(r"tau_c=0\.6"))
    expect(page.locator("h2").first).not_to_have_text(before)
    move(page, "Bank size", "ArrowLeft", 2)
    smaller = int(re.search(r"budget=(\d+)", page.url)[1])  # type: ignore[index]
    assert smaller < RUBRICS
    expect(page.get_by_role("spinbutton", name="Bank size B, exact")).to_have_value(str(smaller))
    box = page.get_by_role("spinbutton", name="Bank size B, exact")
    box.fill("36")
    box.press("Enter")
    expect(page).to_have_url(re.compile("budget=36"))  # the run that Enter asks for may not have begun
    wait_until_idle(page)
    expect(page.locator("h2").first).to_contain_text("36 rubrics keep")

    page.get_by_role("link", name="Leaderboard").click()
    wait_until_idle(page)
    expect(page).to_have_url(re.compile(r"tau_c=0\.6"))
    expect(page).to_have_url(re.compile("budget=36"))
    expect(page.locator("h1").first).to_have_text("Leaderboard · study")
    page.get_by_role("button", name="Bank, as if new").or_(
        page.get_by_role("radio", name="Bank, as if new")
    ).click()
    expect(page.get_by_text("on a bank of 36 rubrics")).to_be_visible(timeout=60_000)
    assert "Traceback" not in uploaded.log.read_text()


def test_a_rubric_is_pinned_by_the_keyboard_and_released(page: Page, uploaded: Server) -> None:
    page.goto(f"{uploaded.url}/bank?dataset=study&budget=36")
    wait_until_idle(page)
    in_the_first_column = {"x": 8, "y": 50}
    table = page.get_by_test_id("stDataFrame").first
    for pinned in (True, False):
        table.click(position=in_the_first_column)
        expect(table.locator("#glide-cell-0-0")).to_be_focused(timeout=60_000)
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url, pinned=pinned: ("composition=" in url) == pinned)
        said = page.get_by_text("The bank is composed by hand: 1 rubric pinned.")
        expect(said).to_have_count(int(pinned), timeout=60_000)
        wait_until_idle(page)


def test_a_link_brings_back_the_same_view(page: Page, uploaded: Server) -> None:
    page.goto(f"{uploaded.url}/leaderboard?dataset=study&tau_c=0.6&budget=25&model=1PL&basis=bank")
    wait_until_idle(page)
    expect(page.get_by_text("on a bank of 25 rubrics")).to_be_visible(timeout=60_000)
    assert "model=1PL" in page.url


# tests/security/test_browser.py opens every page on a study whose every text is hostile.
@pytest.mark.parametrize(
    "path", ["leaderboard", "measurability", "items", "bank", "data", ""][:: at_most(2, 1)]
)
def test_hostile_names_are_shown_letter_by_letter(page: Page, uploaded: Server, path: str) -> None:
    alarms: list[str] = []
    requests: list[str] = []
    page.on("dialog", lambda dialog: (alarms.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"{uploaded.url}/{path}")
    wait_until_idle(page)
    assert alarms == []
    assert page.locator('img[src="x"]').count() == 0
    assert [url for url in requests if not url.startswith((uploaded.url, "data:", "blob:"))] == []
    assert "Traceback" not in uploaded.log.read_text()


def test_a_hostile_leader_is_named_letter_by_letter(page: Page, uploaded: Server) -> None:
    page.goto(f"{uploaded.url}/leaderboard")
    wait_until_idle(page)
    assert HOSTILE in first_line(page)
    ticks = page.locator(".js-plotly-plot").first.locator("text")
    ticks.first.wait_for(state="attached", timeout=60_000)  # a figure is drawn after its page
    shown = " ".join(ticks.all_text_contents())
    for name in row_names(NAMES, 2 * ROW):  # in two lines, where they are long
        assert name in shown


def test_a_hostile_domain_and_profile_are_shown_letter_by_letter(page: Page, uploaded: Server) -> None:
    page.goto(f"{uploaded.url}/leaderboard?system={quote(HOSTILE)}&versus={quote(NAMES[-1])}&more=Groups")
    wait_until_idle(page)
    expect(page.get_by_text(f"Why {HOSTILE} stands there", exact=True)).to_be_visible(timeout=60_000)
    expect(
        page.get_by_text(re.compile(re.escape(f"{HOSTILE} is ahead of {NAMES[-1]} at 95%")))
    ).to_be_visible()
    page.get_by_role("tab", name="By group").click()
    wait_until_idle(page)
    page.locator(".js-plotly-plot").last.locator("text").first.wait_for(state="attached", timeout=60_000)
    shown = " ".join(page.locator(".js-plotly-plot text").all_text_contents())
    assert short_name(DOMAIN, 24) in shown
    assert page.locator('img[src="x"]').count() == 0


def test_the_download_cannot_start_a_formula(page: Page, uploaded: Server) -> None:
    page.goto(f"{uploaded.url}/leaderboard")
    wait_until_idle(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download leaderboard.csv").click()
    text = Path(download.value.path()).read_text()
    assert ",'=cmd()," in text
    assert ",=cmd()," not in text
