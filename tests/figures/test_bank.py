from __future__ import annotations

import numpy as np
import pytest

from crubric_core.figures import bank


def test_the_standard_error_is_the_inverse_root_of_the_information(made) -> None:
    total = made.info.sum(axis=1)
    fig = bank.standard_errors(made.theta, {"all": total})
    assert np.asarray(fig.data[0].y) == pytest.approx(1 / np.sqrt(total))
    assert "by the model alone" in fig.layout.yaxis.title.text


def test_where_there_is_no_information_there_is_no_standard_error() -> None:
    theta = np.array([-1.0, 0.0, 1.0])
    fig = bank.standard_errors(theta, {"bank": np.array([0.0, 4.0, 1.0])})
    assert np.isnan(fig.data[0].y[0])
    assert list(fig.data[0].y[1:]) == [0.5, 1.0]


def test_a_bank_without_information_leaves_an_empty_figure() -> None:
    theta = np.array([-1.0, 0.0])
    fig = bank.standard_errors(theta, {"bank": np.zeros(2)})
    assert np.isnan(fig.data[0].y).all()


def test_a_bank_of_one_rubric_is_seen_beside_all_rubrics() -> None:
    theta = np.linspace(-4, 4, 41)
    one = np.exp(-np.abs(theta))
    fig = bank.standard_errors(theta, {"bank (1)": one, "all (3,000)": np.full(41, 900.0)})
    low, high = fig.layout.yaxis.range
    assert low <= 1.0 <= high / 2, "where the bank is at its best"
    assert high < (one**-0.5).max()


def test_the_curve_of_the_bank_is_seen_whole_where_the_systems_are() -> None:
    theta = np.linspace(-4, 4, 81)
    totals = {"bank": 40 * np.exp(-(theta**2) / 2), "all": np.full(81, 900.0)}
    systems = np.array([-2.0, 0.0, 1.5, np.nan])
    errors = totals["bank"] ** -0.5
    high = bank.standard_errors(theta, totals, systems).layout.yaxis.range[1]
    assert errors[abs(theta) <= 1.9].max() < high < errors.max()


@pytest.mark.parametrize(("count", "most"), [(15, 15), (2_000, 200)])
def test_ticks_stand_where_systems_do_and_of_many_only_once(count: int, most: int) -> None:
    systems = np.random.default_rng(0).uniform(-3, 3, count)
    ticks = np.asarray(
        bank.information_totals(np.array([-1.0, 1.0]), {"bank": np.ones(2)}, systems).data[-1].x
    )
    assert len(ticks) <= most
    gap = np.abs(systems[:, None] - ticks)
    assert max(gap.min(axis=0).max(), gap.min(axis=1).max()) <= (0.025 + 1e-9 if count > most else 0)


def test_a_long_gain_curve_is_thinned_and_keeps_both_ends() -> None:
    share = np.linspace(0.001, 1, 4000)
    curve = bank.gain_curve(share, None, 200).data[0]
    assert len(curve.x) <= bank.MOST_POINTS
    assert (curve.x[0], curve.x[-1], curve.y[-1]) == (1, 4000, 1)


def test_a_proven_share_is_never_rounded_up_to_all() -> None:
    proven = bank.gain_curve(np.linspace(0.5, 1, 3), np.array([0.91278, 0.99996, 1.0]), 3).data[1]
    assert list(proven.customdata) == ["at least 91.2%", "at least 99.9%", "100%"]
    assert "%{customdata} of the best" in proven.hovertemplate


def test_the_budget_line_stops_at_the_last_candidate() -> None:
    fig = bank.gain_curve(np.linspace(0.1, 1, 50), None, 200)
    assert fig.layout.shapes[0].x0 == 50
    assert fig.layout.annotations[0].text.strip() == "B = 50"


def test_strategies_may_have_lengths_of_their_own() -> None:
    fig = bank.strategies({"greedy": np.linspace(0, 1, 100), "hard": np.linspace(0, 0.5, 10)}, 20)
    assert [t.x[-1] for t in fig.data] == [100, 10]
    assert fig.layout.xaxis.range[1] == pytest.approx(2, abs=0.1)
    assert fig.layout.yaxis.range[1] > 1.1, "the name of the line is above them"


def test_every_query_is_counted_once_and_the_uncovered_ones_stand_out() -> None:
    fig = bank.query_coverage(np.array([0, 0, 3, 1]), np.array([2, 4, 9, 5]))
    bars = fig.data[0]
    assert list(bars.y) == [2, 1, 0, 1]
    assert bars.marker.color[0] != bars.marker.color[1]
    assert bars.customdata[0] == 3


def test_many_rubrics_a_query_are_binned_without_losing_a_query() -> None:
    counts = np.random.default_rng(0).integers(0, 300, 500)
    assert sum(bank.query_coverage(counts, counts).data[0].y) == 500


def test_charts_of_the_bank_agree_on_its_size_even_beyond_what_is_held_out() -> None:
    curve = np.tile([0.5, 0.4, 0.6], (3, 1))
    figures = (
        bank.worth_curve(np.array([10, 15, 22]), curve, curve, 29, None),
        bank.gain_curve(np.linspace(0.1, 1, 29), None, 29),
        bank.strategies({"pairs": np.linspace(0.1, 1, 29), "hard": np.linspace(0.1, 0.5, 7)}, 29),
    )
    for fig in figures:
        assert [shape.x0 for shape in fig.layout.shapes] == [29]
        assert fig.layout.annotations[0].text.strip() == "B = 29"
        assert fig.layout.xaxis.range[1] > np.log10(29)


def test_the_names_of_two_sizes_close_together_are_below_one_another() -> None:
    curve = np.full((3, 3), 0.9)
    fig = bank.worth_curve(np.array([10, 190, 200]), curve, curve, 200, 190)
    assert {note.text.strip(): note.yshift for note in fig.layout.annotations} == {
        "B = 200": 0,
        "95% from 190": -16,
    }
    assert fig.layout.shapes[1].y1 < fig.layout.shapes[0].y1 == 1  # its line does not cross the name above
    assert fig.layout.yaxis.range[1] * (1 - 32 / 260) > 1  # both names are above what is kept


def test_neither_name_of_a_size_lies_on_the_line_of_the_other() -> None:
    """That of the least size crossed the line of B where the bank is smaller."""
    curve = np.tile(np.array([0.5, 0.4, 0.6]), (3, 1))
    for size, least in ((200, 190), (190, 200)):
        fig = bank.worth_curve(np.array([10, 190, 200]), curve, curve, size, least)
        left, right = sorted(fig.layout.annotations, key=lambda name: name.x)
        lines = sorted(fig.layout.shapes, key=lambda line: line.x0)
        assert (right.yshift, left.yshift) == (0, -16), "the left one is lower"
        assert lines[0].y1 < lines[1].y1 == 1, "and its line ends below the other name"
        assert {left.xanchor, right.xanchor} == {"right"}
