"""The sentences about a fitted model are those of its figures."""

from __future__ import annotations

import numpy as np
import pytest

from crubric_core.analysis.calibration import information_sentences
from crubric_core.settings import Model


@pytest.mark.parametrize(
    ("nu", "half"), [([4.0, 1, 1, 1, 1], "1 of 5"), ([1.0, 3, 3, 1], "2 of 4"), ([0.0, 2, 0], "1 of 3")]
)
def test_half_of_the_information_comes_from_the_fewest_rubrics_that_have_it(
    nu: list[float], half: str
) -> None:
    first, none = information_sentences(np.array(nu), 0, "2PL", 60)
    assert f"comes from {half} rubrics." in first
    assert none == ""


def test_rubrics_without_information_are_counted() -> None:
    assert (
        information_sentences(np.ones(3), 1, "GRM", 8)[1] == "1 gives none: all systems have the same label."
    )
    assert information_sentences(np.ones(3), 2, "2PL", 8)[1].startswith("2 give none")


def test_graded_labels_that_all_pass_are_not_called_the_same() -> None:
    """Of 4 and 5 of 5 both are a pass: the rubric gives no information, yet its labels differ."""
    assert information_sentences(np.ones(3), 1, "2PL", 8)[1] == "1 gives none: all systems pass, or all fail."


@pytest.mark.parametrize(
    ("model", "systems", "unsure"), [("2PL", 49, True), ("2PL", 50, False), ("1PL", 8, False)]
)
def test_few_systems_make_equal_slopes_look_unlike(model: Model, systems: int, unsure: bool) -> None:
    first, _ = information_sentences(np.ones(3), 0, model, systems)
    assert ("much the same if all slopes were equal" in first) is unsure
