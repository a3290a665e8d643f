"""Gaps of a bank and rubrics worth rewriting, counted by hand and by slow oracles."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from crubric_core.analysis.gaps import (
    NEAR_WORST,
    find_gaps,
    find_rewrites,
    gap_sentences,
    rewrite_sentence,
    worst_range,
)

NODES = np.linspace(-4, 4, 161)


def a_bank(bank=(0, 1), information=None):
    query = np.array([0, 0, 1, 2, 2])
    pool = np.array([True, True, True, False, False])
    known = np.full(161, 4.0) if information is None else information
    return find_gaps(
        query,
        4,
        ["a", "a", "b", None, "c"],
        pool,
        np.array(bank),
        NODES,
        known,
        np.array([-1.0, 0.5, np.nan]),
    )


def test_queries_without_a_rubric_are_split_by_whether_one_could_enter():
    found = a_bank()
    assert found.missing.tolist() == [1, 2, 3]
    assert found.unwritten.tolist() == [2, 3]
    assert gap_sentences(found, 4)[0] == (
        "3 of 4 queries have no rubric in the bank; 2 of them have no rubric that could enter it: write rubrics there."
    )
    assert gap_sentences(a_bank((0, 2)), 4)[0] == (
        "2 of 4 queries have no rubric in the bank, and no other rubric that could enter it: write rubrics there."
    )


def test_dimensions_count_rubrics_that_have_one():
    table = a_bank().dimensions.set_index("dimension")
    assert table.loc["a"].tolist() == [2, 2, 2]
    assert table.loc["b"].tolist() == [1, 1, 0]
    assert table.loc["c"].tolist() == [1, 0, 0]
    assert gap_sentences(a_bank(), 4)[-1] == "2 of 3 dimensions have no rubric in the bank."


def test_the_worst_range_is_around_the_largest_error_among_the_systems():
    information = 1 / (1 + (NODES - 0.25) ** 2) ** 2  # SE = 1 + (θ - .25)², worst far from .25
    low, high, worst, best = worst_range(NODES, information, np.array([-2.0, 1.0]))
    inside = (NODES >= -2) & (NODES <= 1)
    error = 1 / np.sqrt(information)
    assert worst == pytest.approx(error[inside].max())
    assert best == pytest.approx(error[inside].min())
    near = NODES[inside & (error >= NEAR_WORST * worst)]
    assert (low, high) == (near[0], near[-1]), "one stretch, at the lower end"
    assert low == pytest.approx(-2)


def test_the_worst_range_ends_at_the_last_system_and_not_at_the_node_before_it():
    low, high, worst, _ = worst_range(NODES, 1 / np.exp(NODES), np.array([-1.0, 1.234]))
    assert high == 1.234
    assert worst == pytest.approx(np.exp(1.234 / 2), rel=1e-3)
    assert low < high
    assert worst_range(NODES, np.full(161, 4.0), np.array([0.01, 0.01])) == (0.01, 0.01, 0.5, 0.5)


def test_where_the_bank_measures_all_systems_alike_no_range_is_called_the_worst():
    assert (
        gap_sentences(a_bank(), 4)[1]
        == "The bank measures all of these systems alike: SE(θ) 0.50 by the model alone."
    )
    nearly = gap_sentences(a_bank(information=4 + 0.4 * NODES), 4)[1]
    assert nearly == "The bank measures all of these systems alike: SE(θ) 0.49 to 0.53 by the model alone."
    assert gap_sentences(a_bank(information=np.exp(NODES)), 4)[1].startswith(
        "The bank measures worst at θ from"
    )


def test_without_information_the_range_claims_no_error():
    low, _, worst, _ = worst_range(NODES, np.zeros(161), np.array([-1.0, 1.0]))
    assert np.isinf(worst)
    assert low == pytest.approx(-1)
    assert gap_sentences(a_bank(information=np.zeros(161)), 4)[1].startswith("The bank has no information")
    assert np.isnan(worst_range(NODES, np.ones(161), np.full(2, np.nan))).all()


def test_rewrites_are_dropped_rubrics_as_informative_as_the_median_kept_one():
    nu = np.array([0.1, 0.2, 0.3, 0.25, 0.5, 0.05, 0.0])
    feasible = np.array([True, True, True, False, False, False, False])
    found = find_rewrites(nu, feasible)
    assert found.at.tolist() == [4, 3]
    assert found.information == pytest.approx(0.75 / 1.4)
    numbers = re.findall(r"\d+", rewrite_sentence(found, given=True))
    assert "equally clear" in rewrite_sentence(found, given=False)
    one = rewrite_sentence(replace(found, at=found.at[:1]), given=True)
    assert "together" not in one
    assert "1 rubric that the gate drops informs" in one
    assert numbers == ["2", f"{100 * found.information:.0f}"]


def test_where_all_pass_nothing_is_worth_rewriting():
    found = find_rewrites(np.ones(3), np.ones(3, dtype=bool))
    assert len(found.at) == 0
    assert rewrite_sentence(found, given=False).startswith("No rubric that the gate drops")


def test_without_a_kept_rubric_none_is_held_against_the_median_of_those():
    said = rewrite_sentence(find_rewrites(np.ones(20), np.zeros(20, dtype=bool)), given=True)
    assert said.startswith("The gate keeps no rubric that separates systems, and drops 20 that do. Read")
    assert "median" not in said
    nothing = find_rewrites(np.zeros(3), np.zeros(3, dtype=bool))
    assert rewrite_sentence(nothing, given=True) == "No rubric separates systems."


def test_a_little_information_is_not_none_and_nearly_all_is_not_all():
    many, one = np.ones(401), np.zeros(401, dtype=bool)
    one[0] = True
    assert "under 1% of all" in rewrite_sentence(find_rewrites(many, ~one), given=True)
    assert "over 99% of all" in rewrite_sentence(find_rewrites(many, one), given=True)
