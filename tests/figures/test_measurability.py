from __future__ import annotations

import numpy as np
import pytest

from crubric_core.figures.measurability import (
    MOST_NAMED,
    histogram_edges,
    label_grid,
    measurability_histogram,
    price_curve,
)
from crubric_core.judges.gate_price import gate_prices

POSSIBLE = (1 + np.arange(16)) / 17  # of 15 instances, under a flat prior


def heights(fig: object, name: str) -> float:
    return sum(float(np.sum(t.y)) for t in fig.data if t.name.startswith(name))


def test_every_rubric_stands_in_one_bar() -> None:
    q = np.random.default_rng(0).beta(5, 1, 4000)
    fig = measurability_histogram(q, q >= 0.8, 0.8, POSSIBLE)
    assert heights(fig, "kept") == (q >= 0.8).sum()
    assert heights(fig, "dropped") == (q < 0.8).sum()


@pytest.mark.parametrize(("rubrics", "bars"), [(4, 10), (36, 10), (900, 30), (40_000, 50)])
def test_few_rubrics_stand_in_few_bars(rubrics: int, bars: int) -> None:
    assert len(histogram_edges(np.linspace(0, 1, rubrics))) - 1 == bars


def test_bars_stand_around_the_values_that_q_can_have() -> None:
    """With 15 instances q is (1 + k) / 17; bins of another width would leave gaps between full bars."""
    q = np.repeat((1 + np.arange(16)) / 17, 10)
    bars = measurability_histogram(q, q > 2, 0.8, POSSIBLE).data[0]
    filled = np.asarray(bars.y) > 0
    assert np.asarray(bars.y)[filled].tolist() == [10] * 16
    assert np.asarray(bars.x)[filled] == pytest.approx(np.unique(q))


def test_a_statistic_below_zero_and_an_unknown_one_are_drawn_and_left_aside() -> None:
    kappa = np.array([-0.4, -0.1, 0.3, 0.9, np.nan])
    fig = measurability_histogram(kappa, ~(kappa < 0), 0.0, name="kappa")
    assert (heights(fig, "kept"), heights(fig, "dropped")) == (2, 2)
    assert fig.layout.xaxis.range[0] == -0.4
    assert fig.layout.xaxis.dtick == 0.2


@pytest.mark.parametrize(
    ("threshold", "shown"), [(0.8, "0.8"), (0.415, "0.415"), (0.03543, "0.035"), (-0.0784, "−0.078")]
)
def test_the_line_of_the_threshold_says_the_number_that_the_page_says(threshold: float, shown: str) -> None:
    fig = measurability_histogram(np.array([-0.5, 0.5, 0.9]), np.array([False, True, True]), threshold)
    assert fig.layout.annotations[0].text.strip().endswith(f"= {shown}")


def test_the_name_of_the_threshold_is_above_the_highest_bar() -> None:
    kappa = np.array([0.1, 0.3, 0.3, 0.3])
    fig = measurability_histogram(kappa, kappa > 0.3, 0.3)
    assert fig.layout.yaxis.range[1] > 3.3


def test_without_a_gate_there_is_no_threshold_line() -> None:
    q = np.array([0.5, 0.9])
    assert not measurability_histogram(q, np.array([True, True]), None).layout.shapes
    assert measurability_histogram(q, q > 0.8, 0.8).layout.shapes[0].x0 == 0.8


def words(read: np.ndarray, given: np.ndarray, levels: int, *, graded: bool = False) -> list[list[str]]:
    systems, judges = [f"s{i}" for i in range(len(read))], [f"j{k}" for k in range(read.shape[1])]
    return np.asarray(label_grid(read, given, systems, judges, levels, graded=graded).data[0].text).tolist()


@pytest.mark.parametrize("systems", [31, 63, 80, 400])
def test_a_label_grid_of_many_systems_is_no_higher_than_two_screens(systems: int) -> None:
    labels = np.ones((systems, 3))
    fig = label_grid(labels, labels, [f"s{i}" for i in range(systems)], ["a", "b", "c"], 2)
    assert fig.layout.height < 1_300
    assert (fig.layout.yaxis.ticktext is not None) == (systems <= MOST_NAMED)


def test_an_unknown_label_is_a_dash_and_not_a_fail() -> None:
    labels = np.array([[1.0, np.nan], [0.0, 1.0]])
    assert words(labels, labels, 2) == [["pass", "—"], ["fail", "pass"]]


def test_graded_labels_are_shown_on_the_scale_they_came_in() -> None:
    assert words(np.array([[0.0, 4.0]]), np.array([[1.0, 5.0]]), 5) == [["1", "5"]]


def test_a_graded_label_read_as_pass_keeps_its_number_under_the_colour() -> None:
    read, given = np.array([[1.0, 0.0, np.nan]]), np.array([[4.0, 1.0, np.nan]])
    assert words(read, given, 2, graded=True) == [["4", "1", "—"]]
    assert np.asarray(label_grid(read, given, ["s"], ["a", "b", "c"], 2).data[0].z)[0, :2].tolist() == [1, 0]


def test_labels_of_a_graded_rubric_that_are_all_low_are_no_passes() -> None:
    """1 of 0 to 4 does not count as met, and stood there as "pass"."""
    assert words(np.zeros((1, 2)), np.array([[1.0, 0.0]]), 2, graded=True) == [["1", "0"]]


def test_a_fault_that_was_found_is_no_pass() -> None:
    assert words(np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]]), 2) == [["fail", "pass"]]


def test_every_known_value_lies_between_the_first_and_the_last_edge() -> None:
    q = np.array([-0.2, 0.1, 0.97, np.nan])
    for centres in (None, POSSIBLE):
        edges = histogram_edges(q, centres)
        assert edges[0] <= -0.2
        assert edges[-1] >= 0.97
        assert (np.diff(edges) > 0).all()


def test_the_price_curve_starts_at_everything_and_falls() -> None:
    rng = np.random.default_rng(1)
    values, nu, query = rng.random(60), rng.random(60), np.arange(60) % 7
    prices = gate_prices(values, np.linspace(0, 1, 11), nu, query, 3)
    curves = {t.name: np.asarray(t.y) for t in price_curve(prices, 60, 0.5, "κ").data}
    assert set(curves) == {"information", "rubrics", "queries"}
    for share in curves.values():
        assert share[0] == pytest.approx(1)
        assert share[-1] == 0
        assert (np.diff(share) <= 1e-12).all()


def test_labels_of_many_judges_are_signs_that_fit_their_cells() -> None:
    labels = np.array([[1.0, 0.0, np.nan, 1.0, 1.0, 0.0, 0.0]])
    cells = label_grid(labels, labels, ["s"], [f"judge {k}" for k in range(7)], 2).data[0]
    assert np.asarray(cells.text).tolist() == [["✓", "✕", "—", "✓", "✓", "✕", "✕"]]


def test_labels_of_very_many_systems_are_bands_without_a_name_and_a_text_each() -> None:
    size = MOST_NAMED + 1
    labels = np.random.default_rng(0).integers(0, 2, (size, 3)).astype(float)
    labels[0] = [1, np.nan, np.nan]
    systems = [f"system {i}" for i in range(size)]
    fig = label_grid(labels, labels, systems, ["a", "b", "c"], 2)
    cells = fig.data[0]
    assert cells.texttemplate is None
    assert fig.layout.yaxis.ticktext is None
    assert fig.layout.height < 800
    rows = [(np.nanmean(row), *np.nan_to_num(row, nan=-1)) for row in np.asarray(cells.z)]
    assert rows == sorted(rows, reverse=True)
    at = {str(name): row for name, row in zip(np.asarray(cells.customdata)[:, 0], cells.z, strict=True)}
    for name, row in zip(systems, labels, strict=True):
        np.testing.assert_array_equal(at[name], row)


def test_upright_names_of_judges_take_no_room_of_the_cells_of_a_label_grid() -> None:
    read = np.zeros((15, 3))
    room = {
        name: grid.layout.height - grid.layout.margin.t
        for name in ("j", "a-judge-with-a-long-name-")
        for grid in [label_grid(read, read, [str(i) for i in range(15)], [f"{name}{k}" for k in range(3)], 2)]
    }
    assert len(set(room.values())) == 1
