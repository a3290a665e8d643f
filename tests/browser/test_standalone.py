"""A view opened from disk in a real browser: it draws, sorts, fits a phone, and runs nothing that is not its own."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from crubric_core.reports import standalone
from crubric_core.reports.standalone import write_bundle, write_standalone
from tests.browser.conftest import are_names_apart
from tests.reports.test_standalone import PAYLOADS, view_of
from tests.sharing.large import large_view
from tests.tiers import at_most

pytestmark = pytest.mark.browser
VIEW = view_of(*(" ".join(PAYLOADS[n:] + PAYLOADS[:n]) for n in range(6)))  # every payload in every field
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1400, "height": 900}
A4 = {"width": 718, "height": 1000}  # 190 mm at 96 dots an inch: A4 with margins of 10 mm


@dataclass
class Heard:
    """What a page asked for, and what it said."""

    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


def listen(page: Page) -> Heard:
    heard = Heard()
    page.on("request", lambda request: heard.requests.append(request.url))
    page.on("websocket", lambda socket: heard.requests.append(socket.url))
    page.on("dialog", lambda dialog: (heard.said.append(dialog.message), dialog.dismiss()))
    page.on("console", lambda message: heard.said.append(message.text))
    page.on("pageerror", lambda error: heard.said.append(str(error)))
    return heard


def drawn(page: Page, url: str) -> Page:
    page.goto(url)
    page.locator(".drawing").last.locator(".main-svg .legend").first.wait_for()
    return page


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("standalone")
    write_standalone(VIEW, folder / "page.html")
    write_bundle(VIEW, folder / "site")
    return folder


@pytest.fixture
def window(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A window of its own, by (size, colour scheme)."""
    size, scheme = getattr(request, "param", (DESK, "light"))
    context = browser.new_context(viewport=size, color_scheme=scheme, accept_downloads=True)
    yield context.new_page()
    context.close()


@pytest.fixture
def host(files: Path) -> Iterator[str]:
    """Any file host."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(files))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/site/index.html"
        server.shutdown()


def test_opened_from_disk_it_runs_and_requests_nothing_but_itself(window: Page, files: Path) -> None:
    heard = listen(window)
    url = (files / "page.html").as_uri()
    drawn(window, url)
    window.wait_for_timeout(300)
    assert heard.requests == [url]
    assert heard.said == []


@pytest.mark.parametrize("place", ["disk", "host"])
def test_the_folder_requests_its_own_library_alone(window: Page, files: Path, host: str, place: str) -> None:
    heard = listen(window)
    url = (files / "site" / "index.html").as_uri() if place == "disk" else host
    drawn(window, url)
    wanted = [one for one in heard.requests if not one.endswith("/favicon.ico")]
    assert wanted == [url, url.replace("index.html", "plotly.min.js")]
    assert [line for line in heard.said if "favicon" not in line and "404" not in line] == []


def test_a_script_that_is_not_its_own_would_not_run(window: Page, files: Path, tmp_path: Path) -> None:
    """Were there a mistake in the escaping, the policy would still stop what came in."""
    broken = (
        (files / "page.html")
        .read_text()
        .replace("</header>", "<img src=x onerror=alert(1)><script>alert(2)</script></header>")
    )
    (tmp_path / "broken.html").write_text(broken)
    heard = listen(window)
    drawn(window, (tmp_path / "broken.html").as_uri())
    assert not {"1", "2"} & set(heard.said)
    assert sum("Content Security Policy" in line for line in heard.said) >= 2


@pytest.mark.parametrize("window", [(PHONE, "light"), (PHONE, "dark")], indirect=True)
def test_it_fits_a_phone(window: Page, files: Path) -> None:
    drawn(window, (files / "page.html").as_uri())
    assert window.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    widest = window.evaluate(
        "Math.max(...[...document.querySelectorAll('.main-svg')].map(s => s.getBoundingClientRect().right))"
    )
    assert widest <= PHONE["width"]


@pytest.mark.parametrize("systems", [12, 30])
def test_names_of_columns_keep_apart_in_a_window_of_any_width(
    window: Page, tmp_path: Path, systems: int
) -> None:
    write_standalone(large_view(systems), tmp_path / "page.html")
    for width in at_most((390, 700, 850, 1400), (390, 600, 700, 850, 1000, 1400)):
        window.set_viewport_size({"width": width, "height": 900})
        drawn(window, (tmp_path / "page.html").as_uri())
        assert are_names_apart(window.locator(".drawing").nth(1), systems if width >= 800 else 0), width


@pytest.mark.parametrize("window", [(DESK, "light")], indirect=True)
def test_where_two_axes_meet_their_numbers_keep_apart(window: Page, files: Path) -> None:
    page = drawn(window, (files / "page.html").as_uri())
    gaps = page.locator(".drawing").evaluate_all(
        """drawings => drawings.map(drawing => {
          const boxes = axis => [...drawing.querySelectorAll(`.${axis}tick text`)].map(t => t.getBoundingClientRect());
          return Math.min(...boxes("x").flatMap(x => boxes("y").map(
            y => Math.max(x.left - y.right, y.left - x.right, x.top - y.bottom, y.top - x.bottom))));
        })"""
    )
    assert len(gaps) == 4
    assert min(gaps) >= 0  # pixels between their lines, which are higher than the digits


@pytest.mark.parametrize("window", [(DESK, "dark")], indirect=True)
def test_it_follows_the_colour_scheme_and_is_light_on_paper(window: Page, files: Path) -> None:
    drawn(window, (files / "page.html").as_uri())
    ground, ink = window.locator("body"), window.locator(".ytick text").first
    expect(ground).to_have_css("background-color", "rgb(21, 23, 28)")
    expect(ink).to_have_css("fill", "rgb(242, 244, 248)")
    window.emulate_media(color_scheme="light")
    expect(ground).to_have_css("background-color", "rgb(255, 255, 255)")
    expect(ink).to_have_css("fill", "rgb(20, 23, 28)")
    window.emulate_media(color_scheme="dark", media="print")
    expect(ground).to_have_css("background-color", "rgb(255, 255, 255)")
    window.set_viewport_size(A4)
    window.evaluate("dispatchEvent(new Event('beforeprint'))")
    # nothing is cut on paper, once the figures have followed its width
    window.wait_for_function(f"document.documentElement.scrollWidth <= {A4['width']}", timeout=20_000)
    expect(ink).to_have_css("fill", "rgb(20, 23, 28)")


@pytest.mark.parametrize("window", [(DESK, "light")], indirect=True)
def test_on_paper_no_legend_lies_on_its_figure(window: Page, files: Path) -> None:
    drawn(window, (files / "page.html").as_uri())
    window.emulate_media(media="print")
    below = """() => { dispatchEvent(new Event("beforeprint"));  // a printer does not wait either
      return [...document.querySelectorAll(".js-plotly-plot")].filter(plot => plot.querySelector(".legend .bg"))
        .map(plot => plot.querySelector(".legend .bg").getBoundingClientRect().bottom
          - plot.querySelector(".nsewdrag").getBoundingClientRect().top); }"""
    found = window.evaluate(below)
    assert found
    assert max(found) <= 1


def test_on_paper_a_long_table_has_its_headings_on_each_page(window: Page, files: Path) -> None:
    """Chromium repeats a group of headings, and leaves the buttons in it blank."""
    window.goto((files / "page.html").as_uri())
    window.emulate_media(media="print")
    for selector, display in (("thead", "table-header-group"), ("thead button", "contents")):
        shown = window.locator(selector).evaluate_all("found => found.map(e => getComputedStyle(e).display)")
        assert shown
        assert set(shown) == {display}


def test_on_paper_a_figure_of_60_systems_is_on_one_page_and_no_heading_is_broken(
    window: Page, tmp_path: Path
) -> None:
    view = large_view(60)
    assert view.leaderboard is not None
    long = view.leaderboard.assign(
        system=view.leaderboard["system"] + " of a very long name, with a date" * 4
    )
    write_standalone(replace(view, leaderboard=long), tmp_path / "page.html")
    drawn(window, (tmp_path / "page.html").as_uri())
    window.emulate_media(media="print")
    window.set_viewport_size(A4)
    window.evaluate("dispatchEvent(new Event('beforeprint'))")
    tall = "Math.max(...[...document.querySelectorAll('figure')].map(f => f.getBoundingClientRect().height))"
    window.wait_for_function(f"{tall} <= {A4['height']}", timeout=20_000)
    lines = """[...document.querySelectorAll('#leaderboard-table th button')].map(b => {
      const text = document.createRange(); text.selectNodeContents(b);
      return [b.textContent, text.getClientRects().length]; })"""
    assert {text: n for text, n in window.evaluate(lines) if " " not in text and n != 1} == {}


NAMES_APART = """() => { const boxes = [...document.querySelectorAll(".js-plotly-plot")[0].querySelectorAll(".ytick")]
    .map(name => name.getBoundingClientRect()).sort((a, b) => a.top - b.top);
  return boxes.length > 1 && boxes.every((box, n) => !n || box.top >= boxes[n - 1].bottom - 3); }"""


@pytest.mark.parametrize("systems", [40, 60])
def test_on_screen_and_on_paper_no_name_of_a_system_lies_on_the_next(
    window: Page, tmp_path: Path, systems: int
) -> None:
    view = large_view(systems)
    assert view.leaderboard is not None
    long = view.leaderboard.assign(system="vendor/a-very-long-name-of-" + view.leaderboard["system"])
    write_standalone(replace(view, leaderboard=long), tmp_path / "page.html")
    drawn(window, (tmp_path / "page.html").as_uri())
    assert window.evaluate(NAMES_APART)
    window.emulate_media(media="print")
    window.set_viewport_size(A4)
    window.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert window.evaluate(NAMES_APART)


@pytest.mark.parametrize("window", [(A4, "light")], indirect=True)
def test_on_paper_no_column_of_a_wide_table_of_a_report_is_cut(window: Page, tmp_path: Path) -> None:
    """Of a leaderboard with 20 columns, headings did not break, and each text had room for a name."""
    heads = "".join(f"<th class='number'>best rank of {n}</th>" for n in range(12)) + "<th>unit</th>" * 4
    cells = "<td class='number'>0.12</td>" * 12 + "<td class='text'>units</td>" * 4
    table = f"<div class='wide'><table><thead><tr><th>system</th>{heads}</tr></thead><tbody><tr>"
    table += f"<td class='text'>vendor/a-very-long-name</td>{cells}</tr></tbody></table></div>"
    css = (Path(standalone.__file__).parent / "standalone.css").read_text()
    (tmp_path / "page.html").write_text(f"<!doctype html><style>{css}</style><body>{table}")
    window.goto((tmp_path / "page.html").as_uri())
    window.emulate_media(media="print")
    assert window.evaluate("document.documentElement.scrollWidth") <= A4["width"]


def test_a_table_is_sorted_by_a_click_on_its_heading(window: Page, files: Path) -> None:
    drawn(window, (files / "page.html").as_uri())
    names = window.locator("#leaderboard-table tbody tr td:nth-child(3)")
    before = names.all_inner_texts()
    heading = window.locator("#leaderboard-table th").nth(3)
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert names.all_inner_texts() == before[::-1]
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert names.all_inner_texts() == before


def test_a_table_can_be_filtered(window: Page, tmp_path: Path) -> None:
    texts = [f"rubric {n}" for n in range(12)]
    rubrics = pd.DataFrame({"order": range(12), "rubric": texts, "query": "q", "text": texts})
    write_standalone(replace(VIEW, rubrics=rubrics), tmp_path / "page.html")
    drawn(window, (tmp_path / "page.html").as_uri())
    rows = window.locator("#rubrics-table tbody tr")
    window.get_by_label("Filter the rows").fill("RUBRIC 1")
    expect(rows.locator("visible=true")).to_have_count(3)
    window.get_by_label("Filter the rows").fill("")
    expect(rows.locator("visible=true")).to_have_count(12)


def test_the_leaderboard_can_be_taken_along(window: Page, files: Path) -> None:
    drawn(window, (files / "page.html").as_uri())
    with window.expect_download() as download:
        window.get_by_role("link", name="Download leaderboard.csv").click()
    assert Path(download.value.path()).read_bytes().startswith(b"rank,system,theta")


def test_without_scripts_the_texts_and_tables_are_still_there(browser: Browser, files: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((files / "page.html").as_uri())
    expect(page.locator("h1")).to_have_text(VIEW.title)
    assert page.locator("#leaderboard-table tbody tr").count() == 2
    context.close()
