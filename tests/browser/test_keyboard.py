"""What is done by the keyboard alone: where it stands after each action, and what the page says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, serve_small, wait_until_idle

pytestmark = pytest.mark.browser
PATIENCE = 30_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve_small(tmp_path_factory.mktemp("keyboard")) as running:
        yield running


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)
        wait_until_idle(page)


def tab_to(page: Page, name: str) -> None:
    """Tab until the control of this name is reached."""
    focus = page.locator(":focus")
    wanted = focus.and_(page.get_by_label(name, exact=True)).or_(
        focus.filter(has_text=re.compile(f"^{name}$"))
    )
    for _ in range(80):
        if wanted.count():
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab does not reach {name}")


def choose_option(page: Page, *keys: str) -> None:
    """Choose from the list of the focused control; Enter chooses nothing before the list is drawn."""
    press(page, keys[0])
    expect(page.get_by_role("option").first).to_be_visible(timeout=PATIENCE)
    press(page, *keys[1:], "Enter")


def see_note(page: Page, text: str) -> None:
    expect(page.get_by_role("alert").filter(has_text=text)).to_be_visible(timeout=PATIENCE)


def test_rubrics_are_pinned_excluded_and_swapped_and_the_keyboard_stays_where_it_was(
    page: Page, server: Server
) -> None:
    page.goto(f"{server.url}/bank?dataset=small&budget=20")
    wait_until_idle(page)
    table = page.get_by_role("region", name="Space ticks a box")
    table.locator("canvas").first.focus()
    press(page, *["ArrowDown"] * 12)
    fourteenth = table.locator("#glide-cell-1-13")
    press(page, "ArrowRight", "ArrowDown", "Space")
    see_note(page, "1 excluded.")
    expect(fourteenth).to_be_focused(timeout=PATIENCE)
    page.wait_for_timeout(600)  # a new table chooses its first cell when it is reached
    press(page, "ArrowLeft", "Space")
    see_note(page, "1 rubric pinned and 1 excluded.")
    expect(table.locator("#glide-cell-0-13")).to_be_focused(timeout=PATIENCE)

    tab_to(page, "Swap out")
    choose_option(page, "ArrowDown")
    pinned = page.get_by_text("This rubric is pinned, so it stays: untick its pin to swap it.")
    expect(pinned).to_be_visible(timeout=PATIENCE)
    choose_option(page, "ArrowDown", "ArrowDown")
    tab_to(page, "Swap")
    press(page, "Enter")
    see_note(page, "1 rubric pinned, 1 excluded and 1 swapped.")
    expect(page.get_by_role("combobox", name="Swap out")).to_be_focused(timeout=PATIENCE)
    expect(page.locator(":focus")).to_be_in_viewport()


def test_a_dataset_is_deleted_by_typing_its_name_and_the_keyboard_stays_near(
    page: Page, server: Server
) -> None:
    page.goto(f"{server.url}/data?dataset=small")
    wait_until_idle(page)
    page.get_by_role("tab", name="Checks").focus()
    press(page, *["ArrowRight"] * 4, "Enter")
    tab_to(page, "Duplicate")
    press(page, "Enter")
    expect(page.get_by_text("small copy is a copy of small with its history.")).to_be_visible(
        timeout=PATIENCE
    )
    expect(page.get_by_role("button", name="Duplicate")).to_be_focused(timeout=PATIENCE)

    tab_to(page, "Type its name to delete it permanently")
    page.keyboard.type("small copy")
    press(page, "Enter")
    typed = page.get_by_label("Type its name to delete it permanently")
    expect(typed).to_be_focused(timeout=PATIENCE)
    expect(typed).to_have_value("small copy")
    tab_to(page, "Delete")
    press(page, "Enter")
    expect(page.get_by_text("small copy was deleted.")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("tab", name="Rename, copy, delete")).to_be_focused(timeout=PATIENCE)
    expect(page.locator(":focus")).to_be_in_viewport()
