from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from crubric_core.analysis.profile import GroupScores
from crubric_core.figures import profile
from tests.figures.conftest import HOSTILE


def scores() -> GroupScores:
    return GroupScores(
        (HOSTILE, "code"),
        np.array([9, 1]),
        np.array([0.7, 0.5]),
        np.array([0.5, 0.6]),
        np.array([0.2, -0.1]),
        np.array([0.1, np.nan]),
        np.array([0.3, np.nan]),
    )


def test_a_group_s_bar_is_its_interval_and_a_single_query_has_none() -> None:
    marks = profile.group_differences(scores()).data[0]
    assert np.asarray(marks.x) - marks.error_x.arrayminus == pytest.approx([0.1, -0.1])
    assert np.asarray(marks.x) + marks.error_x.array == pytest.approx([0.3, -0.1])


def test_queries_are_sorted_and_unknown_ones_left_out() -> None:
    bars = profile.query_differences(np.array([0.1, np.nan, -0.4, 0.5]), list("wxyz"), "a", "b").data[0]
    assert np.asarray(bars.y).tolist() == [0.5, 0.1, -0.4]
    assert list(bars.customdata) == ["z", "w", "y"]


@pytest.mark.parametrize(
    ("values", "low", "high"), [((0.5, 1.0), 0, 1.15), ((-0.5, -1.0), -1.15, 0), ((1.0, -1.0), -1.3, 1.3)]
)
def test_who_is_better_stands_clear_of_the_bars_and_is_told_apart(values, low, high) -> None:
    names = [f"an-organisation-with-a-long-name/model-{i}-instruct-of-november-2026" for i in range(2)]
    fig = profile.query_differences(np.array(values), ["p", "q"], *names)
    assert fig.layout.yaxis.range == pytest.approx((low, high))
    said = [note.text for note in fig.layout.annotations]
    wanted = [name for name, found in (("model-0", high > 0), ("model-1", low < 0)) if found]
    assert [name in text for name, text in zip(wanted, said, strict=True)] == [True] * len(wanted)


def test_a_difference_below_0_has_the_minus_sign_below_the_pointer() -> None:
    assert profile.group_differences(scores()).data[0].hovertext == ("+0.200", "−0.100")


def test_very_many_queries_are_thinned_evenly() -> None:
    difference = np.linspace(-1, 1, 20_001)
    bars = profile.query_differences(difference, [str(n) for n in range(20_001)], "a", "b").data[0]
    assert len(bars.y) == profile.MOST_BARS
    assert (bars.y[0], bars.y[-1]) == (1, -1)
    assert abs(np.mean(np.asarray(bars.y) > 0) - 0.5) < 0.01


def test_colours_of_a_domain_are_about_its_mean_and_words_say_the_score() -> None:
    means = np.array([[0.8, np.nan], [0.4, 0.5]])
    cells = profile.domain_heat(["a", "b"], ["law", "code"], means).data[0]
    assert np.asarray(cells.z)[:, 0] == pytest.approx([0.2, -0.2])
    assert np.asarray(cells.text).tolist() == [["0.80", "—"], ["0.40", "0.50"]]


@pytest.mark.filterwarnings("error")
def test_a_domain_in_which_no_system_has_a_score_is_unknown() -> None:
    means = np.array([[0.8, np.nan], [0.4, np.nan]])
    cells = profile.domain_heat(["a", "b"], ["law", "code"], means).data[0]
    assert np.isnan(np.asarray(cells.z)[:, 1]).all()
    assert [row[1] for row in cells.text] == ["—", "—"]


def test_names_of_many_groups_stand_upright_and_those_of_few_lie_flat_where_they_fit() -> None:
    few, many = (profile.domain_heat(["a"], list("abcdefgh")[:n], np.full((1, n), 0.5)) for n in (6, 8))
    assert (few.layout.xaxis.tickangle, many.layout.xaxis.tickangle) == (None, -90)
    assert few.layout.xaxis.autotickangles == (0, -90)


def test_costs_that_differ_much_stand_on_a_log_axis_with_round_ticks() -> None:
    cost, value = np.array([0.5, 3.0, 80.0]), np.array([0.2, 0.6, 0.5])
    best = np.array([True, True, False])
    fig = profile.value_against_cost(list("abc"), cost, value, best, ("cost", "score S"))
    assert fig.layout.xaxis.type == "log"
    assert list(fig.layout.xaxis.ticktext) == ["0.5", "1", "2", "5", "10", "20", "50", "100"]
    assert np.asarray(fig.data[0].x).tolist() == [0.5, 3.0]
    assert (
        profile.value_against_cost(["a", "b"], cost[:2], value[:2], best[:2], ("x", "y")).layout.xaxis.type
        is None
    )


def test_names_are_escaped_once() -> None:
    found = replace(scores(), names=("R&D", "a<b"))
    shown = profile.group_differences(found).layout.yaxis.ticktext
    assert list(shown) == [f"{name} ({n})" for name, n in zip(("R&amp;D", "a&lt;b"), (9, 1), strict=True)]


def test_hostile_names_are_escaped() -> None:
    for fig in (
        profile.group_differences(scores()),
        profile.query_differences(np.array([0.1, -0.2]), [HOSTILE, "q"], HOSTILE, "b"),
        profile.domain_heat([HOSTILE, "b"], [HOSTILE, "code"], np.full((2, 2), 0.5)),
        profile.value_against_cost(
            [HOSTILE, "b"],
            np.array([1.0, 2.0]),
            np.array([0.1, 0.2]),
            np.array([True, True]),
            (HOSTILE, "score S"),
        ),
    ):
        text = json.dumps(json.loads(fig.to_json()), ensure_ascii=False)
        assert "<img" not in text
        assert "&lt;img" in text


def test_the_task_types_are_whole_in_the_names_of_groups() -> None:
    types = ["evidence reasoning", "decision support", "high-risk constraint", "creative divergent"]
    n = len(types)
    found = GroupScores(tuple(types), np.full(n, 104), *np.full((5, n), 0.1))
    shown = profile.group_differences(found).layout.yaxis.ticktext
    assert [name.removesuffix(" (104)") for name in shown] == types
