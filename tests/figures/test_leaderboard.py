from __future__ import annotations

import json

import numpy as np
import pytest

from crubric_core.figures import leaderboard as board
from tests.figures.conftest import HOSTILE


@pytest.fixture
def bank(made) -> board.Estimate:
    return board.Estimate(made.ability, made.ability - 0.2, made.ability + 0.3)


def test_the_best_system_is_on_top(made, bank) -> None:
    axis = board.forest(made.systems, bank, np.arange(1, 16)).layout.yaxis
    assert axis.range[0] > axis.range[1]
    assert axis.tickvals[0] == 0


def test_error_bars_reach_from_low_to_high(made, bank) -> None:
    points = board.forest(made.systems, bank, np.ones(15, int)).data[0]
    assert np.asarray(points.x) - points.error_x.arrayminus == pytest.approx(bank.low)
    assert np.asarray(points.x) + points.error_x.array == pytest.approx(bank.high)


def test_every_tier_is_named_once_beside_its_systems(made, bank) -> None:
    fig = board.forest(made.systems, bank, np.repeat([1, 2, 3], 5))
    assert [(a.text.strip(), a.y) for a in fig.layout.annotations] == [
        ("Tier 1", 2),
        ("Tier 2", 7),
        ("Tier 3", 12),
    ]


def test_bank_and_pool_do_not_cover_each_other(made, bank) -> None:
    first, second = board.forest(made.systems, bank, np.ones(15, int), bank).data
    assert min(np.asarray(second.y) - np.asarray(first.y)) > 0.2


def test_a_rank_interval_covers_its_ranks(made) -> None:
    fig = board.rank_intervals(["a", "b"], np.array([1, 2]), np.array([1, 1]), np.array([1, 2]))
    bars = fig.data[0]
    ends = np.asarray(bars.base) + np.asarray(bars.x)
    assert (np.asarray(bars.base) < [1, 1]).all()
    assert (ends > [1, 2]).all()


def test_no_system_is_compared_with_itself() -> None:
    ahead = np.array([[0.5, 0.99], [0.01, 0.5]])
    cells = board.separation_matrix(["a", "b"], ahead, np.ones((2, 2), bool)).data[0]
    assert np.isnan(np.diag(cells.z)).all()
    assert np.asarray(cells.text).tolist() == [["", "●"], ["●", ""]]


def test_names_that_would_cover_each_other_are_left_to_the_pointer() -> None:
    fig = board.score_against_ability(
        ["first", "near", "far"], np.array([1.0, 0.99, -1.0]), np.array([0.9, 0.9, 0.1])
    )
    assert fig.data[0].text == ("first", "", "far")
    assert fig.data[0].customdata == ("first", "near", "far")


def test_one_system_or_none_known_is_drawn_all_the_same() -> None:
    assert board.score_against_ability(["a"], np.array([0.0]), np.array([0.5])).data[0].text == ("a",)
    nothing = np.full(2, np.nan)
    assert len(board.score_against_ability(["a", "b"], nothing, nothing).data[0].x) == 2


def test_unknown_abilities_leave_an_empty_comparison() -> None:
    nothing = np.full(2, np.nan)
    assert len(board.bank_against_pool(["a", "b"], nothing, nothing).data) == 1


def test_a_hostile_system_name_is_escaped_wherever_it_stands(made, bank) -> None:
    square = np.full((15, 15), 0.5)
    ranks = np.arange(1, 16)
    for fig in (
        board.forest(made.systems, bank, np.ones(15, int), bank),
        board.rank_intervals(made.systems, ranks, ranks, ranks),
        board.rank_probability(made.systems, square),
        board.separation_matrix(made.systems, square, square > 1),
        board.score_against_ability(made.systems, made.ability, made.ability),
        board.bank_against_pool(made.systems, made.ability, made.ability),
    ):
        text = json.dumps(json.loads(fig.to_json()), ensure_ascii=False)
        assert "<img" not in text
        assert "&lt;img" in text
        templates = [trace.hovertemplate or "" for trace in fig.data]
        assert not any(HOSTILE[:10] in t or "&lt;img" in t for t in templates), (
            "names are data, not templates"
        )
