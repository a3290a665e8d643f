"""Two people at once: each reads files into datasets of their own, and sees every count of the other one right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import Server, serve, wait_until_idle
from tests.tiers import at_most

pytestmark = pytest.mark.browser
ROUNDS, RUBRICS, JUDGES, SYSTEMS = at_most(1, 12), 150, 2, 4
SLOW = 60_000  # milliseconds that a busy machine may take


def block(session: int, number: int) -> str:
    rows = (
        f"m{session}-{number}-{i},q{j % 5},r{j},j{k},{(i * j + k) % 2}"
        for i in range(SYSTEMS)
        for j in range(RUBRICS)
        for k in range(JUDGES)
    )
    return "\n".join(["system,query,rubric,judge,label", *rows])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("two") / "workspace.duckdb") as running:
        yield running


@pytest.fixture
def people(browser: Browser) -> Iterator[list[Page]]:
    contexts: list[BrowserContext] = [browser.new_context() for _ in range(2)]
    yield [context.new_page() for context in contexts]
    for context in contexts:
        context.close()


def test_two_people_ingest_and_read_at_once_without_an_error_or_a_wrong_count(
    people: list[Page], server: Server, tmp_path: Path
) -> None:
    for number in range(ROUNDS):
        for session, page in enumerate(people):
            file = tmp_path / f"set{session}-{number}.csv"
            file.write_text(block(session, number))
            page.goto(f"{server.url}/data")
            wait_until_idle(page)
            page.locator('input[type="file"]').set_input_files(file)
        for page in people:  # neither waits for the other
            page.get_by_role("button", name="Read 1 file").click(timeout=SLOW)
        for session, page in enumerate(people):
            expect(page.get_by_text(f"set{session}-{number}: done.")).to_be_visible(timeout=SLOW)
        for session, page in enumerate(people):
            page.goto(
                f"{server.url}/overview?dataset=set{1 - session}-{number}"
            )  # what the other one has read
            wait_until_idle(page)
            expect(page.get_by_text(f"{SYSTEMS} systems were judged on {RUBRICS} rubrics")).to_be_visible()
            expect(page.get_by_test_id("stException")).to_have_count(0)
    assert "Traceback" not in server.log.read_text()
