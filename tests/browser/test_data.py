"""Files of a tool's own layout in a browser: what was understood, what would change, and the way back."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Server, follow, serve, wait_until_idle

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=alert(1)>"
SLOW = 30_000  # milliseconds that a busy machine may take


def graded(met: int) -> str:
    """Three graded prompts with one good and one bad rubric each, as HealthBench's grader writes them."""
    records = (
        {
            "prompt_id": f"p{n}",
            "completion_id": f"c{n}",
            "score": 0.5,
            "rubric_items": [
                {"criterion": f"Says {HOSTILE}", "points": 5, "tags": [], "criteria_met": n < met},
                {"criterion": "Invents a dose", "points": -8, "tags": [], "criteria_met": False},
            ],
        }
        for n in range(3)
    )
    return "\n".join(json.dumps({"example_level_metadata": [record]}) for record in records)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("data") / "workspace.duckdb") as running:
        yield running


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Graded runs of three systems in one ZIP, system and judge in their names."""
    path = tmp_path / "runs.zip"
    with zipfile.ZipFile(path, "w") as file:
        for met, system in enumerate(("gpt", "claude", "glm")):
            file.writestr(f"runs/{system}__o3.jsonl", graded(met))
    return path


def open_data(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/data")
    wait_until_idle(page)


def drop(page: Page, *files: Path) -> None:
    page.locator('input[type="file"]').set_input_files(list(files))
    page.locator('[data-testid="stFileChipName"], [data-testid="stFileUploaderFileName"]').first.wait_for()
    wait_until_idle(page)


def see(page: Page, text: str) -> None:
    expect(page.get_by_text(text).first).to_be_visible(timeout=SLOW)


def open_tab(page: Page, name: str) -> None:
    """Once nothing is drawn any more: the tabs of the dataset before take a click, and then make way."""
    wait_until_idle(page)
    page.get_by_role("tab", name=name).click()


def wide(page: Page) -> bool:
    """Whether anything makes the page scroll sideways."""
    return bool(
        page.evaluate(
            "() => [document.documentElement, document.querySelector('[data-testid=stMain]')]"
            ".some(e => e.scrollWidth > e.clientWidth)"
        )
    )


def test_an_archive_is_understood_previewed_read_copied_and_taken_back(
    page: Page, server: Server, archive: Path
) -> None:
    alarms: list[str] = []
    page.on("dialog", lambda dialog: (alarms.append(dialog.message), dialog.dismiss()))
    open_data(page, server)
    drop(page, archive)
    expect(page.get_by_text("HealthBench", exact=False).first).to_be_visible()
    see(page, "Adds 3 systems, 1 judge, 3 queries, 6 rubrics and 18 labels.")
    see(page, "Nothing is stored yet.")
    expect(page.locator("h2").first).to_contain_text("No dataset yet")

    pattern = page.get_by_role("textbox", name="Pattern of the file names")
    expect(pattern).to_have_value("{system}__{judge}.jsonl")
    pattern.fill("{judge}__{system}.jsonl")
    pattern.press("Enter")
    see(page, "Adds 1 system, 3 judges,")
    pattern.fill("{system}__{judge}.jsonl")
    pattern.press("Enter")
    see(page, "Adds 3 systems, 1 judge,")

    page.get_by_role("button", name="Read 3 files").click()
    see(page, "runs: done.")
    expect(page.locator("h2").first).to_have_text("1 dataset with 18 labels can be read.", timeout=SLOW)

    open_tab(page, "Rename, copy, delete")
    page.get_by_role("button", name="Duplicate").click()
    see(page, "runs copy is a copy of runs with its history.")
    expect(page.locator("h2").first).to_have_text("2 datasets with 36 labels can be read.", timeout=SLOW)

    open_tab(page, "Files and undo")
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Yes, undo it").click()
    see(page, "and with it the dataset runs copy, which held nothing else.")
    expect(page.locator("h2").first).to_have_text("1 dataset with 18 labels can be read.", timeout=SLOW)
    assert alarms == []
    assert page.locator('img[src="x"]').count() == 0
    assert "Traceback" not in server.log.read_text()


def test_a_name_is_typed_into_the_table_by_keyboard(page: Page, server: Server, tmp_path: Path) -> None:
    run = tmp_path / "results.jsonl"
    run.write_text(graded(1))
    open_data(page, server)
    drop(page, run)
    see(page, "does not say which system it is about")
    expect(page.get_by_role("button", name="Read 1 file")).to_be_disabled()
    table = page.get_by_role("region", name="Files, whether each is read, and the names in its rows")
    grid = table.locator('canvas[data-testid="data-grid-canvas"]')
    grid.click(position={"x": 20, "y": 50}, force=True)
    expect(grid).to_be_focused()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.locator("#portal textarea").wait_for()
    # As fast as people type: the grid takes a moment for each letter.
    page.keyboard.type("my system", delay=50)
    expect(page.locator("#portal textarea")).to_have_value("my system")
    page.keyboard.press("Enter")
    see(page, "Adds 1 system, 1 judge, 3 queries")
    expect(page.get_by_role("button", name="Read 1 file")).to_be_enabled(timeout=SLOW)


def many_labels(path: Path, rubrics: int) -> Path:
    rows = [
        f"s{i},q{n // 5},r{n},j{k},{(i + n + k) % 2}"
        for i in range(20)
        for n in range(rubrics)
        for k in (0, 1, 2)
    ]
    path.write_text("\n".join(["system,query,rubric,judge,label", *rows]))
    return path


@pytest.mark.parametrize("clicks", [1, 2])
def test_who_clicks_read_and_goes_elsewhere_finds_the_files_read(
    page: Page, server: Server, tmp_path: Path, clicks: int
) -> None:
    """The next click stopped the reading, and nothing said so."""
    labels = many_labels(tmp_path / f"hurried{clicks}.csv", 8_000)
    open_data(page, server)
    drop(page, labels)
    page.get_by_role("button", name="Read 1 file").click(click_count=clicks)
    if clicks == 1:
        page.get_by_role("button", name="Cancel reading").wait_for(timeout=SLOW)
        follow(page, "Scenarios")
        follow(page, "Data")
    see(page, f"hurried{clicks}: done. Adds 20 systems")


def test_a_reading_that_is_cancelled_stores_nothing_and_can_be_begun_again(
    page: Page, server: Server, tmp_path: Path
) -> None:
    open_data(page, server)
    drop(page, many_labels(tmp_path / "cancelled.csv", 10_000))
    read = page.get_by_role("button", name="Read 1 file")
    read.click(timeout=SLOW)
    page.get_by_role("button", name="Cancel reading").click(timeout=SLOW)
    expect(page.get_by_role("button", name="Cancel reading")).to_have_count(0, timeout=SLOW)
    expect(read).to_be_enabled(timeout=SLOW)
    expect(page.get_by_text("cancelled: done")).to_have_count(0)
    read.click()
    see(page, "cancelled: done. Adds 20 systems")


def test_files_that_are_discarded_while_they_are_read_are_not_read(
    page: Page, server: Server, tmp_path: Path
) -> None:
    """The reading went on, and nobody was told of it."""
    open_data(page, server)
    drop(page, many_labels(tmp_path / "discarded.csv", 20_000))
    read = page.get_by_role("button", name="Read 1 file")
    read.wait_for(timeout=SLOW)
    follow(page, "Scenarios")
    follow(page, "Data")
    read.click(timeout=SLOW)
    page.get_by_role("button", name="Cancel reading").wait_for(timeout=SLOW)
    page.get_by_role("button", name="Discard these files").click()
    see(page, "The reading was cancelled; nothing is stored.")
    expect(page.get_by_text("Chosen before")).to_have_count(0)


def test_a_file_that_is_still_sent_when_others_were_read_arrives(
    page: Page, server: Server, tmp_path: Path
) -> None:
    first, second = (many_labels(tmp_path / f"{name}.csv", 20) for name in ("first", "second"))
    open_data(page, server)
    drop(page, first)
    read = page.get_by_role("button", name="Read 1 file")
    expect(read).to_be_enabled(timeout=SLOW)
    sent: list[Route] = []
    page.route("**/upload_file/**", lambda route: sent.append(route))
    with page.expect_request("**/upload_file/**"):
        page.locator('input[type="file"]').set_input_files(second)
    read.click()
    see(page, "first: done. Adds 20 systems")
    wait_until_idle(page)
    for request in sent:
        request.continue_()
    see(page, "Read already: first.csv.")
    read.click(timeout=SLOW)
    see(page, "second: done. Adds 20 systems")
    see(page, "Read already: first.csv, second.csv.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_scrolls_sideways_on_a_telephone(
    page: Page, server: Server, archive: Path, tmp_path: Path, scheme: str
) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    labels = tmp_path / f"{'long' * 20}.csv"
    rows = [f"s{i},q,r{n},j{n % 2},{n}.{i}" for i in range(3) for n in range(4)]
    labels.write_text("\n".join(["system,query,rubric,judge,label", *rows]))
    open_data(page, server)
    assert not wide(page)
    drop(page, archive, labels)
    assert not wide(page)


def test_files_that_were_picked_are_still_there_after_a_look_at_another_page(
    page: Page, server: Server, archive: Path
) -> None:
    open_data(page, server)
    drop(page, archive)
    see(page, "Read 3 files")
    follow(page, "Overview")
    follow(page, "Data")
    see(page, "Chosen before and not read yet: runs.zip")
    expect(page.get_by_role("button", name="Read 3 files")).to_be_enabled(timeout=SLOW)
    page.get_by_role("button", name="Discard these files").click()
    expect(page.get_by_role("button", name="Read 3 files")).to_have_count(0, timeout=SLOW)
    drop(page, archive)
    expect(page.get_by_text("Chosen before")).to_have_count(0)
    page.get_by_role("button", name="Remove runs.zip").click()
    expect(page.get_by_role("button", name="Read 3 files")).to_have_count(0, timeout=SLOW)
    wait_until_idle(page)
    expect(page.get_by_text("Chosen before")).to_have_count(0)
