"""A judge departs where its label is not that of the strict majority of the others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crubric_core.judges import departures
from crubric_core.judges.departures import Departures, departures_of, departures_sentence
from tests.tiers import examples


def counted(panel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The definition, cell by cell."""
    found = np.zeros((2, *panel.shape[1:]), dtype=int)
    for system in panel:
        for rubric, labels in enumerate(system):
            for judge, own in enumerate(labels):
                others = [x for k, x in enumerate(labels) if k != judge and not np.isnan(x)]
                passed = sum(others)
                if not np.isnan(own) and 2 * passed != len(others):
                    found[1, rubric, judge] += 1
                    found[0, rubric, judge] += own != (2 * passed > len(others))
    return found[0], found[1]


@settings(max_examples=examples(60))
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 4), st.integers(1, 5))
def test_departures_are_counted_by_their_definition(
    seed: int, systems: int, rubrics: int, n_judges: int
) -> None:
    panel = np.random.default_rng(seed).choice([0.0, 1.0, np.nan], (systems, rubrics, n_judges))
    found = departures_of(panel)
    for one, other in zip((found.departs, found.compared), counted(panel), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("departs", "compared", "said"),
    [
        (
            [[1, 0, 0], [2, 0, 0]],
            [[4, 4, 4], [4, 4, 4]],
            "departs from the majority of the others on 3 of 8 labels, of 2 rubrics",
        ),
        ([[1, 1]], [[1, 1]], "departs from the other judge on 1 of 1 label, of 1 rubric. A departure"),
        ([[0, 0, 0]], [[0, 0, 0]], "No label of j can be compared with the majority of the others."),
    ],
)
def test_a_sentence_says_how_often_and_where(
    departs: list[list[int]], compared: list[list[int]], said: str
) -> None:
    found = Departures(np.array(departs), np.array(compared))
    assert said in departures_sentence(found, 0, "j")


def test_blocks_of_rubrics_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    panel = np.random.default_rng(1).choice([0.0, 1.0, np.nan], (5, 23, 3))
    whole = departures_of(panel)
    monkeypatch.setattr(departures, "BLOCK", 100)
    np.testing.assert_array_equal(departures_of(panel).departs, whole.departs)
    np.testing.assert_array_equal(departures_of(panel).compared, whole.compared)
