"""Figures that check the model."""

from __future__ import annotations

import numpy as np
import pandas as pd

from crubric_core.figures import diagnostics


def test_the_scree_shows_the_largest_eigenvalues_in_order():
    fig = diagnostics.scree(np.arange(40.0)[::-1])
    np.testing.assert_array_equal(fig.data[0].y, np.arange(40.0)[::-1][:15])


def test_the_histogram_marks_where_pairs_are_flagged():
    fig = diagnostics.q3_histogram(np.array([1, 5, 2]), np.array([-1.0, -0.3, 0.3, 1.0]), 0.1, 0.5)
    assert fig.data[0].y.tolist() == [1, 5, 2]
    assert [line.x0 for line in fig.layout.shapes] == [0.6, -0.4]
    assert fig.layout.annotations[0].text.strip() == "flagged beyond"
    beyond_reach = diagnostics.q3_histogram(np.array([3]), np.array([-1.0, 1.0]), -0.1, 0.95)
    assert [line.x0 for line in beyond_reach.layout.shapes] == [0.85]


def test_names_in_the_heat_map_are_text_not_markup():
    fig = diagnostics.q3_heat_map(np.array([[np.nan, 0.9], [0.9, np.nan]]), ["<b>a</b>", "b"])
    assert fig.data[0].z[0, 1] == 0.9
    assert fig.layout.xaxis.ticktext[0] == "&lt;b&gt;a&lt;/b&gt;"


def test_misfitting_rubrics_have_a_trace_of_their_own():
    statistic, p = np.array([1.0, 3.0, np.nan]), np.array([0.6, 0.01, np.nan])
    fig = diagnostics.outfit(np.array([0.0, 1.0, np.nan]), statistic, p, ["a", "<i>", "c"])
    assert [trace.x.tolist() for trace in fig.data] == [[0.0], [1.0]]
    assert fig.data[1].customdata[0][0] == "&lt;i&gt;"


def test_the_pointer_tells_rubrics_apart_whose_names_begin_alike_for_60_characters():
    names = [f"{'a very long name of a query ' * 3}/criterion-{j}" for j in range(9)]
    fig = diagnostics.outfit(np.zeros(9), np.ones(9), np.ones(9), names)
    told = [point[0] for point in fig.data[0].customdata]
    assert len(set(told)) == 9
    assert all(name.endswith(f"criterion-{j}") for j, name in enumerate(told))


def test_the_band_closes_around_the_curve_and_points_carry_their_interval():
    theta = np.array([-1.0, 0.0, 1.0])
    points = pd.DataFrame({"theta": [0.0], "share": [0.5], "low": [0.2], "high": [0.9], "systems": [7]})
    fig = diagnostics.curve_fit(
        theta, theta * 0 + 0.5, theta * 0 + 0.3, theta * 0 + 0.7, points, "P", "90% band"
    )
    band, curve, marks = fig.data
    assert len(band.x) == 2 * len(theta)
    np.testing.assert_array_equal(curve.y, [0.5, 0.5, 0.5])
    assert marks.error_y.array[0] == 0.9 - 0.5
    assert marks.error_y.arrayminus[0] == 0.5 - 0.2
