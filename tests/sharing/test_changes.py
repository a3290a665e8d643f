"""What a replaced view says differently is counted from the two views, and said of no part that either lacks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crubric_core.sharing import publish
from crubric_core.sharing.changes import changes
from crubric_core.sharing.store import looked_up


def with_board(view, edit):
    board = view.leaderboard.copy()
    edit(board)
    return replace(view, leaderboard=board)


def test_a_view_as_it_comes_back_from_its_file_does_not_differ(view, views):
    made = publish(view, views)
    found = changes(looked_up(views, made.id), view)
    assert found.record() == {
        "systems_added": [],
        "systems_removed": [],
        "tiers_moved": [],
        "ranks_moved": [],
        "settings": {},
        "other_labels": False,
    }
    assert found.sentences == ["Only texts and parts of the view change.", "It rests on the same dataset."]


def test_systems_tiers_ranks_and_settings_are_told(view):
    names = view.leaderboard["system"].tolist()

    def edit(board):
        board.loc[board["system"] == names[0], "system"] = "newcomer"
        board.loc[board["system"] == names[1], ["rank", "tier"]] = [8, 5]

    old = view.leaderboard.set_index("system").loc[names[1]]
    newer = replace(with_board(view, edit), settings=dict(view.settings) | {"budget": 7}, fingerprint="other")
    found = changes(view, newer)
    assert (found.added, found.removed) == (("newcomer",), (names[0],))
    assert found.tiers == ((names[1], int(old["tier"]), 5),)
    assert found.ranks == ((names[1], int(old["rank"]), 8),)
    assert found.settings == {"budget": (view.settings["budget"], 7)}
    text = " ".join(found.sentences)
    assert "1 system is new: newcomer." in text
    assert f"{names[1]} {int(old['tier'])} → 5" in text
    assert "1 setting changed (budget: 40 → 7)." in text
    assert "Its dataset has changed." in text


@pytest.mark.parametrize("first", [True, False])
def test_a_view_without_a_board_cannot_be_compared(view, first):
    bare = replace(view, leaderboard=None)
    found = changes(*((bare, view) if first else (view, bare)))
    assert (found.added, found.removed, found.tiers, found.ranks) == (None, None, None, None)
    assert any("cannot be compared" in sentence for sentence in found.sentences)


def test_tiers_that_are_not_shown_are_unknown_and_not_unmoved(view):
    bare = replace(view, leaderboard=view.leaderboard.drop(columns="tier"))
    found = changes(view, bare)
    assert found.tiers is None
    assert found.ranks == ()
