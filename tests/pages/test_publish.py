"""The publish page: choose, look, hand out a link, close it again."""

from __future__ import annotations

import html
import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from crubric_core import sharing
from crubric_core.reports.standalone import standalone_html
from crubric_core.server import local_viewer, viewer_check
from crubric_core.sharing import audit, list_views, open_view, revoke
from crubric_core.ui.publish import form
from tests.pages.conftest import HOSTILE, Open

TITLE = "Autumn <b>round</b> [x](http://evil.example) $y$"


@pytest.fixture
def views(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CRUBRIC_VIEWS", str(tmp_path / "views"))
    monkeypatch.setenv("CRUBRIC_VIEWER_URL", "https://views.example")
    return tmp_path / "views"


def first_line(app: AppTest) -> str:
    return re.sub(r"\\(.)", r"\1", app.header[0].value)


def press(app: AppTest, label: str) -> AppTest:
    app = next(button for button in app.button if button.label == label).click().run()
    assert not app.exception
    return app


def publish(app: AppTest) -> str:
    """Publish, and the token of the new link."""
    press(app, "Publish small")
    link = next(code.value for code in app.code if "/?view=" in code.value)
    assert link.startswith("https://views.example/?view=")
    return link.split("=")[1]


def test_without_a_link_it_says_what_to_do(open_page: Open, study: Path, views: Path) -> None:
    app = open_page("publish", study)
    assert not app.exception
    assert not app.error
    assert first_line(app).startswith("No link yet")


def test_without_data_it_says_what_to_do(open_page: Open, tmp_path: Path, views: Path) -> None:
    assert first_line(open_page("publish", tmp_path / "empty.duckdb")) == "No dataset yet."


def test_a_view_is_built_anew_only_for_other_choices(
    open_page: Open, study: Path, views: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    form._views.clear()  # another test may have looked at the same one
    built: list[sharing.Choices] = []
    build = sharing.build_view
    monkeypatch.setattr(
        sharing, "build_view", lambda result, choices: (built.append(choices), build(result, choices))[1]
    )
    app = open_page("publish", study).run()
    assert len(built) == 1
    app.checkbox(key="publish tiers").uncheck().run()
    assert [choices.tiers for choices in built] == [True, False]


def test_the_preview_is_what_its_readers_will_see(open_page: Open, study: Path, views: Path) -> None:
    app = open_page("publish", study)
    board = next(table.value for table in app.dataframe if "theta" in table.value)
    app.text_input(key="publish title").set_value(TITLE).run()
    view = open_view(views, publish(app))
    assert view.title == TITLE
    assert board["system"].tolist() == view.leaderboard["system"].tolist()


def test_a_view_says_of_its_bank_what_the_bank_page_says(open_page: Open, study: Path, views: Path) -> None:
    said = first_line(open_page("bank", study, budget="40"))
    app = open_page("publish", study, budget="40")
    shown = [re.sub(r"\\(.)", r"\1", text.value) for text in app.markdown]
    assert any(text.startswith(said) for text in shown)
    view = open_view(views, publish(app))
    assert " ".join(view.bank.worth) == said
    assert said in html.unescape(standalone_html(view))


def test_the_pairs_of_a_view_say_in_which_order_the_columns_are(
    open_page: Open, study: Path, views: Path
) -> None:
    app = open_page("publish", study)
    assert "Columns are in the order of the rows." in [caption.value for caption in app.caption]


@pytest.mark.usefixtures("nothing_kept")
def test_what_is_typed_keeps_its_place_although_less_is_computed_in_the_next_run(
    open_page: Open, study: Path, views: Path
) -> None:
    """A browser makes a box anew that is elsewhere, and what was typed and not yet sent is lost."""

    def place(block: Any) -> list[int] | None:
        for at, child in getattr(block, "children", {}).items():
            if getattr(child, "key", None) == "publish note":
                return [at]
            if (within := place(child)) is not None:
                return [at, *within]
        return None

    cold = open_page("publish", study, tau_c="7")
    where = place(cold._tree)
    assert where is not None
    assert place(cold.run()._tree) == where


def test_a_link_is_shown_once(open_page: Open, study: Path, views: Path) -> None:
    app = open_page("publish", study)
    token = publish(app)
    assert first_line(app) == "1 link is open."
    app.run()
    assert not any(token in code.value for code in app.code)
    assert token not in str(app.session_state)


def test_what_was_not_chosen_is_not_published(open_page: Open, study: Path, views: Path) -> None:
    app = open_page("publish", study)
    for name in ("tiers", "separation", "bank", "dataset", "downloads"):
        app.checkbox(key=f"publish {name}").uncheck().run()
    view = open_view(views, publish(app))
    assert "tier" not in view.leaderboard
    assert (view.separation, view.bank, view.rubrics, view.dataset, view.downloads) == (
        None,
        None,
        None,
        None,
        False,
    )


def test_nothing_chosen_is_one_clear_sentence_and_cannot_be_published(
    open_page: Open, study: Path, views: Path
) -> None:
    app = open_page("publish", study)
    for name in ("leaderboard", "separation", "bank"):
        app.checkbox(key=f"publish {name}").uncheck().run()
    assert "empty" in app.error[0].value
    assert not any(button.key == "publish this" for button in app.button)


@pytest.mark.parametrize(
    ("span", "days"),
    [("until it is revoked", None), ("for a week", 7), ("for 30 days", 30), ("for a year", 365)],
)
def test_a_link_is_open_as_long_as_chosen(
    open_page: Open, study: Path, views: Path, span: str, days: int | None
) -> None:
    app = open_page("publish", study)
    app.selectbox(key="publish span").set_value(span).run()
    token = publish(app)
    now = datetime.now(UTC)
    assert open_view(views, token, now=now + timedelta(days=(days or 9999) - 1)) is not None
    assert (open_view(views, token, now=now + timedelta(days=9999)) is None) == (days is not None)


def test_a_link_may_be_open_until_the_end_of_a_day(open_page: Open, study: Path, views: Path) -> None:
    app = open_page("publish", study)
    app.selectbox(key="publish span").set_value("until the end of a day").run()
    day = datetime.now(UTC).date() + timedelta(days=200)
    app.date_input(key="publish day").set_value(day).run()
    publish(app)
    end = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
    assert list_views(views)[0].expires_at == end


def test_a_newer_result_keeps_the_link_its_title_and_its_note(
    open_page: Open, study: Path, views: Path
) -> None:
    app = open_page("publish", study)
    app.text_input(key="publish title").set_value(TITLE).run()
    app.text_area(key="publish note").set_value("for all").run()
    token = publish(app)
    again = open_page("publish", study, budget="9")
    again.selectbox(key="publish target").set_value(list_views(views)[0].id).run()
    assert again.text_input(key="publish title").value == TITLE
    press(again, "Show small under that link")
    view = open_view(views, token)
    assert (view.title, view.note, view.counts["bank"]) == (TITLE, "for all", 9)
    assert len(list_views(views)) == 1


def test_an_expired_link_that_gets_a_newer_result_is_opened_again(
    open_page: Open, study: Path, views: Path
) -> None:
    """It opened nothing, and the page said that it shows the result now."""
    token = publish(open_page("publish", study))
    view = list_views(views)[0]
    file = views / f"{view.id}.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"expires_at": "2020-01-01T00:00:00+00:00"}))
    app = open_page("publish", study, budget="9")
    app.selectbox(key="publish target").set_value(view.id).run()
    app.selectbox(key="publish span").set_value("for a week").run()
    press(app, "Show small under that link")
    assert open_view(views, token).counts["bank"] == 9


def test_a_revoked_link_opens_nothing_and_is_told_so(open_page: Open, study: Path, views: Path) -> None:
    token = publish(open_page("publish", study))
    app = open_page("publish", study)
    assert open_view(views, token) is not None
    press(app, "Revoke it permanently")
    assert open_view(views, token) is None
    assert first_line(app) == "0 links are open, 1 revoked."
    assert not any(button.label == "Revoke it permanently" for button in app.button)


def test_a_link_can_be_kept_open_longer(open_page: Open, study: Path, views: Path) -> None:
    app = open_page("publish", study)
    publish(app)
    view = list_views(views)[0].id
    app.checkbox(key=f"never {view}").check().run()
    press(app, "Keep it open until then")
    assert list_views(views)[0].expires_at is None


def test_links_outlive_their_dataset(open_page: Open, study: Path, views: Path, tmp_path: Path) -> None:
    publish(open_page("publish", study))
    app = open_page("publish", tmp_path / "empty.duckdb")
    assert first_line(app) == "1 link is open."
    press(app, "Revoke it permanently")
    assert list_views(views)[0].revoked_at is not None


def test_every_link_is_listed_with_its_state(open_page: Open, study: Path, views: Path) -> None:
    app = open_page("publish", study)
    publish(app)
    publish(app)
    publish(app)
    newest, middle, _ = list_views(views)
    revoke(views, middle.id)
    newest.content(views).write_bytes(b"")
    app.run()
    table = next(frame.value for frame in app.dataframe if "state" in frame.value)
    assert table["state"].tolist() == ["damaged", "revoked", "open"]
    assert first_line(app) == "1 link is open, 1 revoked, 1 damaged."
    assert any("not the one that was published" in text.value.replace("\\", "") for text in app.markdown)


def test_the_trail_is_on_the_page(open_page: Open, study: Path, views: Path) -> None:
    app = open_page("publish", study)
    publish(app)
    trail = next(frame.value for frame in app.dataframe if "who" in frame.value)
    assert trail["what"].tolist() == audit(views)["what"].tolist() == ["publish"]


def test_hostile_words_are_words(open_page: Open, study: Path, views: Path) -> None:
    app = open_page("publish", study)
    app.text_input(key="publish title").set_value(TITLE).run()
    app.text_area(key="publish note").set_value(f"{HOSTILE}\n# heading").run()
    publish(app)
    written = [*app.markdown, *app.header, *app.subheader, *app.title, *app.caption]
    acting = re.compile(r"(?<!\\)(<b>|<img|\[x\]|\$y|\*bold|^#)", re.MULTILINE)
    assert [text.value for text in written if acting.search(text.value)] == []


def test_the_page_and_the_folder_can_be_taken_along(
    open_page: Open, study: Path, views: Path, tmp_path: Path
) -> None:
    app = open_page("publish", Path(shutil.copy(study, tmp_path / "copy.duckdb")))
    labels = [button.proto.label for button in app.get("download_button")]
    assert {"One HTML file", "Folder for a web server (ZIP)"} <= set(labels)


def test_the_page_says_that_links_open_nothing_while_no_viewer_runs(
    open_page: Open, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRUBRIC_VIEWER_URL", "http://localhost:9")
    app = open_page("publish", study)
    assert not app.exception
    said = [warning.value.replace("\\", "") for warning in app.warning]
    assert any("Nothing answers at http" in sentence for sentence in said), said
    assert any("viewer --views" in code.value for code in app.code)


def test_the_viewer_is_started_from_the_page_and_links_open_then(
    open_page: Open, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []

    def check() -> viewer_check.Check:
        answer = "viewer" if started else "silent"
        return viewer_check.Check("http://localhost:9", answer, f"said: {answer}", "crubric viewer")

    def start() -> SimpleNamespace:
        started.append("here")
        return SimpleNamespace(running=True)

    monkeypatch.setattr(viewer_check, "check_viewer", check)
    monkeypatch.setattr(local_viewer, "start_viewer", start)
    monkeypatch.setattr(local_viewer, "wait_for", lambda viewer: check())
    monkeypatch.setattr(local_viewer.LocalViewer, "stop", lambda viewer: None)
    st.cache_data.clear()
    app = open_page("publish", study)
    assert "said: silent" in unescaped(app.warning[0].value)
    next(button for button in app.button if button.label == "Start the viewer here").click().run()
    assert not app.exception
    assert started == ["here"]
    assert any("said: viewer" in unescaped(caption.value) for caption in app.caption)
    assert not any(button.label == "Start the viewer here" for button in app.button)
    st.cache_data.clear()


def unescaped(text: str) -> str:
    return text.replace("\\", "")
