from __future__ import annotations

import numpy as np

from crubric_core.figures.task_types import certainty, contributions, probabilities, scored_as
from tests.figures.conftest import HOSTILE


def test_every_query_with_probabilities_stands_in_one_bar() -> None:
    fig = certainty(np.array([0.3, 0.51, 1.0, np.nan]), 0.5)
    assert sum(fig.data[0].y) == 3
    assert fig.layout.shapes[0].x0 == 0.5


def test_queries_without_a_type_s_rules_are_grey() -> None:
    colours = scored_as({"decision support": 5, "pass or fail": 2}, "pass or fail").data[0].marker.color
    assert colours[0] != colours[1]


def test_stressed_and_punished_rubrics_stand_apart() -> None:
    many = contributions([f"r{i}" for i in range(60)], np.ones(60), np.ones(60))
    assert many.layout.height < 900, "sixty rubrics are in sight beside their table"
    fig = contributions([HOSTILE, "b", "c"], np.array([0.2, 0.5, -0.1]), np.array([1.0, 5.0, 1.0]))
    assert {trace.name: list(trace.x) for trace in fig.data} == {
        "counts once": [0.2],
        "counts more": [0.5],
        "subtracts": [-0.1],
    }
    assert "<img" not in str(fig.data[0].customdata[0])


def test_one_bar_for_each_type() -> None:
    assert list(probabilities(["a", "b"], np.array([0.25, 0.75]), 0.5).data[0].text) == ["25%", "75%"]


def test_the_name_of_the_threshold_is_above_the_bars() -> None:
    assert certainty(np.full(20, 0.5), 0.5).layout.yaxis.range[1] > 22
    assert probabilities(["a", "b"], np.array([0.25, 0.75]), 0.5).layout.yaxis.range[1] < -1
