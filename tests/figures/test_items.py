from __future__ import annotations

import numpy as np
import pytest

from crubric_core.figures import items


def test_thousands_of_rubrics_are_a_band_and_a_few_curves(made) -> None:
    fig = items.item_curves(made.theta, made.curves, range(50), made.names, "P(pass)")
    assert len(fig.data) == 3 + items.MOST_HIGHLIGHTS


def test_the_band_holds_the_share_of_rubrics_that_its_name_says(made) -> None:
    wide = items.item_curves(made.theta, made.curves, [], made.names, "P").data[0]
    upper, lower = np.array(wide.y[:41]), np.array(wide.y[41:])[::-1]
    inside = (made.curves[20] >= lower[20]) & (made.curves[20] <= upper[20])
    assert wide.name == "90% of rubrics"
    assert inside.mean() == pytest.approx(0.9, abs=0.002)


def test_empirical_points_leave_out_unknown_labels(made) -> None:
    observed = np.array([[1.0], [np.nan], [0.0]])
    fig = items.curves_and_labels(
        *(made.theta, made.curves[:, :1], [0], made.names, "P"), made.ability[:3], observed, made.systems[:3]
    )
    assert list(fig.data[-1].x) == pytest.approx([made.ability[0], made.ability[2]])
    assert list(fig.data[-1].y) == [1, 0]


def test_the_heat_map_goes_from_easy_to_hard_and_leaves_out_rubrics_without_parameters(made) -> None:
    difficulty = np.array([1.0, np.nan, -1.0])
    fig = items.information_heat_map(made.theta, made.info[:, :3], difficulty)
    assert np.asarray(fig.data[0].z) == pytest.approx(made.info[:, [2, 0]].T, rel=1e-6)
    assert [row[0] for row in fig.data[0].customdata] == ["−1.00", "1.00"]


def test_the_heat_map_of_thousands_averages_neighbours(made) -> None:
    fig = items.information_heat_map(made.theta, made.info, made.difficulty)
    z = np.asarray(fig.data[0].z)
    assert z.shape == (items.MOST_ROWS, 41)
    assert z.mean() == pytest.approx(made.info.mean(), rel=0.01)


def test_without_any_fitted_rubric_the_figures_are_empty_and_not_broken(made) -> None:
    nothing = np.full(3, np.nan)
    assert not items.information_heat_map(made.theta, made.info[:, :3], nothing).data[0].z.size
    assert not items.item_curves(made.theta, np.full((41, 3), np.nan), [], made.names, "P").data
    fig = items.wright_map(nothing, np.zeros(3, bool), *(made.ability[:2],) * 3, made.systems[:2])
    assert len(fig.data) == 3


def test_the_wright_map_counts_every_rubric_once(made) -> None:
    in_bank = np.arange(4000) < 200
    fig = items.wright_map(made.difficulty, in_bank, *(made.ability,) * 3, made.systems)
    shown = sum(sum(trace.x) for trace in fig.data[:2])
    assert 0.99 * 4000 <= shown <= 4000


def test_the_wright_map_shows_every_system_however_far_it_is_from_the_rubrics(made) -> None:
    theta = np.append(made.ability, 9.0)
    fig = items.wright_map(made.difficulty, made.difficulty > 0, *(theta,) * 3, [*made.systems, "far ahead"])
    low, high = fig.layout.yaxis.range
    assert low < theta.min()
    assert theta.max() < high


def test_a_figure_of_four_thousand_rubrics_stays_small_for_the_browser(made) -> None:
    figures = (
        items.item_curves(made.theta, made.curves, range(20), made.names, "P"),
        items.information_curves(made.theta, made.info, range(20), made.names),
        items.information_heat_map(made.theta, made.info, made.difficulty),
    )
    assert max(len(fig.to_json()) for fig in figures) < 400_000


def test_no_two_highlighted_rubrics_have_the_same_mark_or_the_same_line(made) -> None:
    observed = np.ones((len(made.systems), items.MOST_HIGHLIGHTS))
    fig = items.curves_and_labels(
        made.theta,
        made.curves,
        range(items.MOST_HIGHLIGHTS),
        made.names,
        "P",
        made.ability,
        observed,
        made.systems,
    )
    lines, marks = fig.data[3 : 3 + items.MOST_HIGHLIGHTS], fig.data[3 + items.MOST_HIGHLIGHTS :]
    assert len({(mark.marker.color, mark.marker.symbol) for mark in marks}) == items.MOST_HIGHLIGHTS
    assert len({(line.line.color, line.line.dash) for line in lines}) == items.MOST_HIGHLIGHTS


def test_names_under_the_wright_map_lie_flat_or_stand_upright_and_never_slant(made) -> None:
    fig = items.wright_map(made.difficulty, made.difficulty > 0, *(made.ability,) * 3, made.systems)
    assert (fig.layout.xaxis2.tickangle, fig.layout.xaxis2.autotickangles) == (None, (0, -90))


def test_names_that_have_no_room_under_the_wright_map_are_left_to_the_pointer(made) -> None:
    def axis(n: int) -> object:
        ability = np.linspace(-1, 1, n)
        return items.wright_map(
            made.difficulty, made.difficulty > 0, *(ability,) * 3, [f"s{i}" for i in range(n)]
        ).layout.xaxis2

    assert axis(15).showticklabels
    assert not axis(60).showticklabels
    assert "point to one" in axis(60).title.text


def test_rubrics_whose_names_begin_alike_are_told_apart_in_the_legend(made) -> None:
    names = [f"customer-support-escalation-case/criterion-{j}" for j in range(made.curves.shape[1])]
    shown = [
        trace.name for trace in items.item_curves(made.theta, made.curves, range(3), names, "P").data[-3:]
    ]
    assert len(set(shown)) == 3


def test_the_pointer_on_a_curve_tells_rubrics_apart_whose_names_begin_alike_for_60_characters(made) -> None:
    names = [f"{'a very long name of a query ' * 3}/criterion-{j}" for j in range(made.curves.shape[1])]
    told = [
        trace.meta for trace in items.item_curves(made.theta, made.curves, range(3), names, "P").data[-3:]
    ]
    assert [name[-len("criterion-0") :] for name in told] == [f"criterion-{j}" for j in range(3)]
