"""A deep link on a fresh server goes through the entry script, and nothing is fetched from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ROOT, serve, wait_until_idle

pytestmark = pytest.mark.browser
PAGES = {
    "": "Overview",
    "data": "Data",
    "task_types": "Task types",
    "measurability": "Measurability",
    "items": "Items",
    "bank": "Bank",
    "leaderboard": "Leaderboard",
    "new_system": "New system",
    "scenarios": "Scenarios",
    "experiments": "Experiments",
    "publish": "Publish",
}


def test_no_folder_of_pages_stands_beside_the_entry_script() -> None:
    assert (ROOT / "pages").is_dir()
    assert not (ROOT / "crubric_core/ui/pages").exists()


def test_the_first_visit_of_a_fresh_server_may_be_a_deep_link(page: Page, tmp_path: Path) -> None:
    """The window's title and the names in the side bar are the entry script's: a bypass would not show them."""
    with serve(tmp_path / "fresh.duckdb") as server:
        page.goto(f"{server.url}/leaderboard")
        wait_until_idle(page)
        links = page.locator('[data-testid="stSidebarNavLink"]').all_inner_texts()
        assert [link.strip() for link in links] == list(PAGES.values())
        expect(page.locator("h1")).to_have_text("Leaderboard")
        assert page.title() == "Leaderboard · Calibrated Rubric"
        assert "Traceback" not in server.log.read_text()


def test_every_page_opens_empty_without_an_error_and_fetches_nothing_from_elsewhere(
    page: Page, tmp_path: Path
) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("websocket", lambda socket: requests.append(socket.url))
    with serve(tmp_path / "empty.duckdb") as server:
        for path, title in PAGES.items():
            page.goto(f"{server.url}/{path}")
            wait_until_idle(page)
            expect(page.locator("h1")).to_have_text(title)
            expect(page.locator("h2").first).to_have_text(re.compile("^No dataset yet"))
        assert "Traceback" not in server.log.read_text()
        own = (server.url, server.url.replace("http", "ws"), "data:", "blob:")
        assert requests
        assert [url for url in requests if not url.startswith(own)] == []


def test_the_server_keeps_its_metrics_to_itself_and_sends_its_policy(tmp_path: Path) -> None:
    with serve(tmp_path / "headers.duckdb") as server:
        with urlopen(f"{server.url}/bank") as answer:
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
            assert answer.headers["referrer-policy"] == "no-referrer"
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"{server.url}/_stcore/metrics")


def test_the_first_page_answers_to_its_name(page: Page, tmp_path: Path) -> None:
    with serve(tmp_path / "empty.duckdb") as server:
        page.goto(f"{server.url}/overview?budget=20")
        wait_until_idle(page)
        assert page.get_by_text("Page not found").count() == 0
        expect(page.locator("h1")).to_have_text("Overview")
        chosen = page.get_by_test_id("stSidebarNav").locator('[aria-current="page"]')
        assert chosen.all_inner_texts() == ["Overview"], "marked in the menu"
        expect(page).to_have_url(re.compile("budget=20"))
