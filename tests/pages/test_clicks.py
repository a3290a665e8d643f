"""A click on a chart leads to what its mark stands for, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages.clicks import click
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
