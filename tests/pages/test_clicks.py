"""A click on a chart leads to what its mark stands for, once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pages.clicks import charts, click
from tests.pages.conftest import Open


def query(app, name: str) -> str | None:
    given = app.query_params.get(name)
    return given[0] if isinstance(given, list) else given


def ranked(app) -> list[str]:
    """The systems of the leaderboard's table, in order."""
    return next(t.value["system"].tolist() for t in app.dataframe if "theta" in t.value)


@pytest.mark.parametrize(
    ("view", "alt", "place"),
    [
        ("Table", "ability θ with intervals in tier bands", {"number": 2}),
        ("Ranks", "Rank of each system with its interval", {"trace": 1, "number": 2}),
        ("Ranks", "Probability that each system is among the first k", {"x": 1, "y": 2}),
        ("Scores", "Score against ability", {"number": 2}),
        ("Groups", "Score of each system by domain", {"x": 1, "y": 2}),
    ],
)
def test_a_mark_of_a_system_opens_its_profile_on_the_leaderboard(
    open_page: Open, study: Path, view: str, alt: str, place: dict[str, int]
) -> None:
    wanted = ranked(open_page("leaderboard", study))[2]
    app = open_page("leaderboard", study, more=view)
    assert query(app, "system") is None
    app = click(app, alt, **place)
    assert not app.exception
    assert query(app, "system") == wanted
    app.button(key="close profile").click().run()
    assert query(app, "system") is None, "it is handled once"
    assert query(click(app, alt, **place), "system") == wanted, "and can be clicked again"


def test_a_cell_of_the_pairs_compares_its_row_with_its_column(open_page: Open, study: Path) -> None:
    names = ranked(open_page("leaderboard", study))
    app = click(
        open_page("leaderboard", study, more="Pairs"),
        "Probability that the row is ahead of the column",
        x=3,
        y=1,
    )
    assert not app.exception
    assert (query(app, "system"), query(app, "versus")) == (names[1], names[3])


CURVES = "Item characteristic curves of the chosen rubrics with the systems' labels"
INFORMATION = "Item information of the chosen rubrics"
ROWS = "Item information by difficulty and ability"
WRIGHT = "Wright map: rubric difficulties and system abilities on one scale"


def traces(app, alt: str) -> list[dict]:
    """What a chart draws."""
    return json.loads(charts(app)[alt].spec)["data"]


def listed(app) -> list[str]:
    """The names in the page's table of rubrics, in order."""
    return next(t.value["rubric"].tolist() for t in app.dataframe if "rubric" in t.value)


@pytest.mark.parametrize("kind", [CURVES, INFORMATION])
def test_a_curve_of_items_opens_its_rubric_until_all_are_listed_again(
    open_page: Open, study: Path, kind: str
) -> None:
    app = open_page("items", study)
    every, drawn = listed(app), traces(app, kind)
    at = next(n for n, trace in reversed([*enumerate(drawn)]) if trace.get("meta"))
    app = click(app, kind, trace=at, number=3)
    assert not app.exception
    assert listed(app) == [drawn[at]["meta"]]
    assert [trace["meta"] for trace in traces(app, kind) if trace.get("meta")] == listed(app)
    assert "Labels of the chosen rubric, systems by judges" in charts(app)
    next(button for button in app.button if button.label == "List all rubrics").click().run()
    assert listed(app) == every


def test_labels_a_row_of_the_heat_map_and_a_bar_of_the_wright_map_list_their_rubrics(
    open_page: Open, study: Path
) -> None:
    app = open_page("items", study)
    of_curves = traces(app, CURVES)
    last = [trace["meta"] for trace in of_curves if trace.get("meta")][-1]
    assert listed(click(app, CURVES, trace=len(of_curves) - 1, number=1)) == [last]
    app = open_page("items", study)
    app = click(app, ROWS, x=0.0, y=traces(app, ROWS)[0]["y"][5])
    assert len(listed(app)) == 1
    app = open_page("items", study)
    bars = traces(app, WRIGHT)[0]
    at = bars["x"].index(max(bars["x"]))
    app = click(app, WRIGHT, trace=0, number=at, x=bars["x"][at], y=bars["y"][at])
    assert not app.exception
    assert len(listed(app)) == max(bars["x"])


def test_a_system_of_the_wright_map_is_opened_on_the_leaderboard(open_page: Open, study: Path) -> None:
    app = open_page("items", study)
    name = traces(app, WRIGHT)[2]["customdata"][1]
    app = click(app, WRIGHT, trace=2, number=1)
    assert not app.exception
    assert app.title[0].value.startswith("Leaderboard")
    assert query(app, "system") == name
