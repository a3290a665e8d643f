from __future__ import annotations

from dataclasses import replace as changed
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from crubric_core.sharing import open_state, publish, replace
from crubric_core.ui.shared_view import link
from crubric_core.ui.shared_view.content import figures_of
from tests.sharing.large import large_view

VIEWER = Path(link.__file__).parents[1] / "viewer_main.py"


def test_a_reader_who_comes_while_a_view_is_replaced_sees_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = large_view(5)
    made = publish(view, tmp_path)
    early = iter([open_state(tmp_path, made.token)])
    replace(tmp_path, made.id, changed(view, title="newer"))
    monkeypatch.setenv("CRUBRIC_VIEWS", str(tmp_path))
    monkeypatch.setattr(link, "open_state", lambda *args: next(early, None) or open_state(*args))
    viewer = AppTest.from_file(str(VIEWER), default_timeout=60)
    viewer.query_params[link.PARAMETER] = made.token
    viewer.run()
    assert [title.value for title in viewer.title] == ["newer"]


def test_a_reader_is_told_when_the_link_closes_if_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRUBRIC_VIEWS", str(tmp_path))
    for expires, said in (
        (datetime(2999, 5, 6, 7, 8, tzinfo=UTC), "Read only. Its link closes on 06 May 2999 at 07:08 UTC."),
        (None, "Read only."),
    ):
        viewer = AppTest.from_file(str(VIEWER), default_timeout=60)
        viewer.query_params[link.PARAMETER] = publish(large_view(5), tmp_path, expires).token
        assert viewer.run().caption[0].value.endswith(said)


def test_a_phone_gets_figures_with_short_names_and_no_colour_bar() -> None:
    made = figures_of(large_view(12, pd.DataFrame(columns=["order", "rubric", "query", "text"])))
    separation = next(figure for figure in made if figure.part == "separation")
    wide, narrow = separation.sent.to_dict(), separation.narrow.to_dict()
    assert narrow["data"][0]["showscale"] is False
    assert wide["data"][0].get("showscale") is not False
    assert narrow["layout"]["xaxis"]["tickangle"] == -90
    assert narrow["layout"]["font"]["color"] == wide["layout"]["font"]["color"]


def test_on_a_phone_columns_without_names_say_that_they_are_in_the_order_of_the_rows() -> None:
    for systems, title in ((14, ""), (15, "in the order of the rows")):
        (separation,) = (f for f in figures_of(large_view(systems)) if f.part == "separation")
        axis = separation.narrow.to_dict()["layout"]["xaxis"]
        assert axis["title"]["text"] == title
        assert axis["showticklabels"] is not bool(title)
