"""The sentences about a fitted model are those of its figures."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from crubric_core.analysis.calibration import information_sentences, reasons_of_none
from crubric_core.irt.fit import constant_rubrics
from crubric_core.settings import Model


@pytest.mark.parametrize(
    ("nu", "half"), [([4.0, 1, 1, 1, 1], "1 of 5"), ([1.0, 3, 3, 1], "2 of 4"), ([0.0, 2, 0], "1 of 3")]
)
def test_half_of_the_information_comes_from_the_fewest_rubrics_that_have_it(
    nu: list[float], half: str
) -> None:
    first, none = information_sentences(np.array(nu), {}, "2PL", 60)
    assert f"comes from {half} rubrics." in first
    assert none == ""


def none_of(y: list[list[float]], model: Model) -> str:
    """What is said of the rubrics of these labels that give no information."""
    labels = np.array(y, dtype=float)
    fit = SimpleNamespace(constant=constant_rubrics(labels), model=model)
    return information_sentences(np.ones(3), reasons_of_none(labels, fit), model, 8)[1]


def test_rubrics_without_information_are_counted() -> None:
    """To the 2PL, 4 and 5 of 5 both are a pass: the rubric gives no information, yet its labels differ."""
    assert none_of([[1, 0], [1, 1]], "GRM") == "1 gives none: all systems have the same label."
    assert none_of([[1, 0, 0], [1, 0, 1]], "2PL") == "2 give none: all systems pass, or all fail."
    assert none_of([[1, 0], [0, 1]], "2PL") == ""


def test_a_rubric_with_a_label_of_one_system_is_not_said_to_be_alike_for_all() -> None:
    alone = "at most one system has a consensus label"
    assert none_of([[1, np.nan], [0, np.nan]], "2PL") == f"1 gives none: {alone}."
    assert none_of([[1, np.nan, 1, 1], [1, np.nan, np.nan, 0]], "2PL") == (
        f"3 give none: on 1 all systems pass, or all fail; on 2 {alone}."
    )


@pytest.mark.parametrize(
    ("model", "systems", "unsure"), [("2PL", 49, True), ("2PL", 50, False), ("1PL", 8, False)]
)
def test_few_systems_make_equal_slopes_look_unlike(model: Model, systems: int, unsure: bool) -> None:
    first, _ = information_sentences(np.ones(3), {}, model, systems)
    assert ("much the same if all slopes were equal" in first) is unsure
