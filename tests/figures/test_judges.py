from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crubric_core.figures.judges import error_correlation, judge_rates, leniency, ranks_without
from crubric_core.figures.measurability import (
    dropped_for_few_splits,
    kappa_against_coverage,
    label_grid,
    retention,
)
from tests.figures.conftest import HOSTILE


@pytest.fixture
def table() -> pd.DataFrame:
    rates = {"sensitivity": [0.9, 0.8], "specificity": [0.7, 0.95], "leniency": [0.05, -0.05]}
    bounds = {
        f"{n}_{end}": np.add(v, d) for n, v in rates.items() for end, d in (("low", -0.02), ("high", 0.03))
    }
    return pd.DataFrame({"judge": [HOSTILE, "second"], **rates, **bounds})


def test_each_judge_has_a_point_for_each_rate_inside_its_interval(table: pd.DataFrame) -> None:
    right, refused = judge_rates(table).data
    assert list(right.x) == [0.9, 0.8]
    assert list(refused.x) == [0.7, 0.95]
    assert np.asarray(right.error_x.array) == pytest.approx([0.03, 0.03])
    assert np.asarray(right.error_x.arrayminus) == pytest.approx([0.02, 0.02])


def test_the_axis_holds_each_interval_whole(table: pd.DataFrame) -> None:
    low, high = judge_rates(
        table.assign(specificity=[0.3, 0.9], specificity_low=[0.2, 0.8])
    ).layout.xaxis.range
    assert low < 0.2
    assert high > 1


def test_one_points_at_an_interval_that_is_unknown_and_sees_a_dash(table: pd.DataFrame) -> None:
    fig = judge_rates(table.assign(sensitivity_low=[np.nan, 0.7], sensitivity_high=[np.nan, 0.9]))
    said = [row[0] for row in fig.data[0].customdata]
    assert said[0].endswith(": 0.900 —")
    assert said[1] == "second: 0.800 [0.700, 0.900]"


def test_a_judge_s_name_is_no_markup(table: pd.DataFrame) -> None:
    for fig in (judge_rates(table), leniency(table)):
        assert "<img" not in fig.to_json().replace("\\u003c", "<")


def test_shared_errors_are_starred_and_framed_and_the_unknown_is_empty() -> None:
    r = np.array([[np.nan, 0.4, 0.1], [0.4, np.nan, np.nan], [0.1, np.nan, np.nan]])
    flagged = np.zeros((3, 3), dtype=bool)
    flagged[0, 1] = flagged[1, 0] = True
    fig = error_correlation(r, flagged, ["a", "b", "c"])
    words = np.asarray(fig.data[0].text)
    assert words[0].tolist() == ["", "0.40 ★", "0.10"]
    assert words[1, 2] == ""
    assert len(fig.layout.shapes) == 2


def test_a_correlation_that_rounds_to_nothing_has_no_sign() -> None:
    none = np.array([[np.nan, -0.004], [-0.004, np.nan]])
    fig = error_correlation(none, np.zeros((2, 2), dtype=bool), ["a", "b"])
    assert np.asarray(fig.data[0].text).tolist() == [["", "0.00"], ["0.00", ""]]


def test_ticks_of_judges_that_are_nearly_alike_are_told_apart(table: pd.DataFrame) -> None:
    assert leniency(table).layout.xaxis.tickformat == ".1~%"


def test_places_gained_are_positive_and_an_unranked_system_is_a_dash() -> None:
    systems = pd.DataFrame(
        {
            "judge": ["x"] * 3,
            "system": ["low", "top", "gone"],
            "rank": [2.0, 1.0, 3.0],
            "rank_without": [1.0, 2.0, np.nan],
        }
    )
    heat = ranks_without(systems).data[0]
    assert np.asarray(heat.z)[:, 0].tolist()[:2] == [-1.0, 1.0]
    assert np.asarray(heat.text)[:, 0].tolist() == ["-1", "+1", "—"]


def test_the_chosen_threshold_stands_out() -> None:
    rows = pd.DataFrame(
        {
            "tau_c": [np.nan, 0.5, 0.8],
            "share": [1.0, 0.9, 0.5],
            "kept": [10, 9, 5],
            "kappa": [0.5, 0.6, 0.8],
            "kappa_low": [0.4, 0.5, 0.7],
            "kappa_high": [0.6, 0.7, 0.9],
        }
    )
    curve = kappa_against_coverage(rows, 0.8, "human gold").data[0]
    assert len(set(curve.marker.color[:2])) == 1
    assert curve.marker.color[2] != curve.marker.color[0]
    assert list(curve.text) == ["all", "0.50", "0.80"]


def test_models_go_on_where_the_systems_end() -> None:
    m, further = np.arange(1, 4), np.arange(1, 11)
    fig = retention({"seen": 0.8**m}, m, {"model": 0.8**further}, further)
    assert [len(trace.x) for trace in fig.data] == [3, 10]


def test_every_dropped_rubric_is_counted_at_its_splits() -> None:
    bar = dropped_for_few_splits(np.array([1, 1, 2, 4])).data[0]
    assert dict(zip(bar.x, bar.y, strict=True)) == {1: 2, 2: 1, 4: 1}


@pytest.mark.parametrize("size", [7, 9, 12])
def test_every_one_of_many_judges_is_named_once_and_every_cell_written(size: int) -> None:
    names = [f"vendor/model-{k}-instruct-2025" for k in range(size)]
    fig = error_correlation(np.full((size, size), 0.25), np.zeros((size, size), dtype=bool), names)
    rows, columns = fig.layout.yaxis.ticktext, fig.layout.xaxis.ticktext
    assert [row.split(". ")[0] for row in rows] == list(columns) == [str(n + 1) for n in range(size)]
    assert len(set(rows)) == size
    assert set(np.asarray(fig.data[0].text).ravel()) == {".25"}
    assert fig.layout.height >= 30 * size


@pytest.mark.parametrize("size", [3, 9, 12])
def test_a_rubrics_label_grid_names_every_judge(size: int) -> None:
    names = [f"vendor/model-{k}-instruct-2025" for k in range(size)]
    labels = np.ones((4, size))
    axis = label_grid(labels, labels, list("abcd"), names, 2).layout.xaxis
    assert len(set(axis.ticktext)) == size
    assert axis.tickangle == -90, "long ones stand upright"
