"""The sentences about a fitted model are those of its figures."""

from __future__ import annotations

import numpy as np
import pytest

from crubric_core.analysis.calibration import information_sentences


@pytest.mark.parametrize(
    ("nu", "half"), [([4.0, 1, 1, 1, 1], "1 of 5"), ([1.0, 3, 3, 1], "2 of 4"), ([0.0, 2, 0], "1 of 3")]
)
def test_half_of_the_information_comes_from_the_fewest_rubrics_that_have_it(
    nu: list[float], half: str
) -> None:
    first, none = information_sentences(np.array(nu), 0)
    assert f"comes from {half} rubrics." in first
    assert none == ""


def test_rubrics_without_information_are_counted() -> None:
    assert information_sentences(np.ones(3), 1)[1] == "1 gives none: the same label for every system."
    assert information_sentences(np.ones(3), 2)[1].startswith("2 give none")
