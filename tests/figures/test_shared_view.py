"""The figures of a published view are those of the pages, drawn from what the view holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from html import unescape

import numpy as np
import pandas as pd
import pytest

from crubric_core.figures.shared_view import NARROW, shared_figures
from crubric_core.sharing import Bank, Separation, SharedView
from crubric_core.sharing.budget import SHOWN

NAMES = ("<b>first</b>", "second", "a system with quite a long name", "never labelled")


@pytest.fixture
def view() -> SharedView:
    """Three ranked systems in two tiers, and one that is not ranked."""
    known = pd.array([1, 2, 3, pd.NA], dtype="Int64")
    theta = np.array([1.0, 0.5, -1.0, np.nan])
    board = pd.DataFrame(
        {
            "rank": known,
            "system": NAMES,
            "theta": theta,
            "theta_low": theta - 0.2,
            "theta_high": theta + 0.2,
            "score": 0.5,
            "tier": pd.array([1, 1, 2, pd.NA], dtype="Int64"),
            "rank_low": known,
            "rank_high": known,
        }
    )
    nodes = np.linspace(-4, 4, 5)
    return SharedView(
        title="t",
        note="",
        made_at=datetime(2026, 1, 1, tzinfo=UTC),
        dataset=None,
        fingerprint="f",
        counts={"bank": 2},
        settings={"confidence": 0.9, "model": "2PL"},
        versions={},
        cautions=(),
        downloads=True,
        leaderboard=board,
        separation=Separation(
            NAMES[:3], np.array([[0, 0.6, 1], [0.4, 0, 1], [0, 0, 0.0]]), np.eye(3, dtype=bool)
        ),
        bank=Bank(2, 5, 9, 2, 3, 0.7, 0.9, nodes, np.full(5, 4.0), np.full(5, 16.0)),
    )


def test_without_an_order_the_first_systems_are_told_by_name_not_as_the_best(view: SharedView) -> None:
    names = [f"s{i:03}" for i in range(SHOWN + 20)]
    board = pd.DataFrame({"system": names, "rank": pd.array([pd.NA] * len(names), dtype="Int64")})
    board[["theta", "theta_low", "theta_high", "score"]] = np.linspace(-1, 1, 4 * len(names)).reshape(-1, 4)
    drawn = shared_figures(replace(view, leaderboard=board, separation=None))[0]
    assert drawn.title.startswith(f"Ability of the first {SHOWN} of {len(names)} systems")
    assert drawn.alt.endswith("by name")


def test_the_figures_come_in_the_order_in_which_they_are_read(view: SharedView) -> None:
    assert [shared.part for shared in shared_figures(view)] == ["leaderboard", "separation", "bank", "bank"]


@pytest.mark.parametrize("part", ["leaderboard", "separation", "bank"])
def test_a_part_that_the_view_has_not_is_not_drawn(view: SharedView, part: str) -> None:
    assert part not in {shared.part for shared in shared_figures(replace(view, **{part: None}))}


def test_the_leaderboard_shows_ranked_systems_in_their_bands(view: SharedView) -> None:
    forest = shared_figures(view)[0]
    assert list(forest.figure.data[0].x) == [1.0, 0.5, -1.0]
    assert [note.text.strip() for note in forest.figure.layout.annotations] == ["Tier 1", "Tier 2"]
    assert "90%" in forest.title
    fine = replace(view, settings={**view.settings, "confidence": 0.995})
    assert "99.5%" in shared_figures(fine)[0].title


def test_without_tiers_there_are_no_bands(view: SharedView) -> None:
    forest = shared_figures(replace(view, leaderboard=view.leaderboard.drop(columns="tier")))[0]
    assert not forest.figure.layout.annotations
    assert not forest.figure.layout.shapes
    assert "tiers" not in forest.title


def test_the_standard_error_is_one_over_the_root_of_the_information(view: SharedView) -> None:
    errors = shared_figures(view)[3].figure.data
    assert set(errors[0].y) == {0.5}
    assert set(errors[1].y) == {0.25}


def test_names_are_text_and_short_on_a_phone(view: SharedView) -> None:
    for shared in shared_figures(view)[:2]:
        wide, narrow = shared.figure.layout.yaxis.ticktext, shared.narrow["layout.yaxis.ticktext"]
        assert wide[0] == narrow[0] == "&lt;b&gt;first&lt;/b&gt;"
        assert max(len(unescape(name)) for name in narrow) <= NARROW


@pytest.mark.parametrize("systems", [40, 55])
def test_names_have_two_lines_only_where_the_rows_have_room_for_them(view: SharedView, systems: int) -> None:
    """A figure of 43 systems or more is made lower, so that it fits a page."""
    assert view.leaderboard is not None
    rows = pd.concat([view.leaderboard.head(1)] * systems, ignore_index=True)
    rows["system"] = [f"organisation/a model with a long name, version {n:02}" for n in range(systems)]
    rows["rank"] = pd.array(np.arange(systems) + 1, dtype="Int64")
    fig = shared_figures(replace(view, leaderboard=rows, separation=None))[0].figure
    lines = max(name.count("<br>") + 1 for name in fig.layout.yaxis.ticktext)
    assert 14 * lines <= fig.layout.height / systems
    assert lines == 1 + (systems == 40)
    assert len(set(fig.layout.yaxis.ticktext)) == systems


@pytest.mark.parametrize(("systems", "named"), [(14, True), (15, False)])
def test_a_phone_names_only_as_many_columns_as_it_has_room_for(
    view: SharedView, systems: int, named: bool
) -> None:
    square = np.full((systems, systems), 0.5)
    matrix = replace(
        view.separation,
        systems=[f"system {i}" for i in range(systems)],
        ahead=square,
        separated=square > 1,
    )
    drawn = next(
        shared for shared in shared_figures(replace(view, separation=matrix)) if shared.part == "separation"
    )
    assert drawn.narrow["layout.xaxis.showticklabels"] is named
