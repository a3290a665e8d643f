"""Abilities by dimension: what they are made of, what is said of them, and why there may be none."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.claims_traits import NAMES, found_of, simulated
from crubric_core import Settings, fit_irt
from crubric_core.analysis.agreement import mean_standing
from crubric_core.analysis.dimensions import (
    Dimensions,
    by_dimension,
    dimension_fits,
    measurable,
    numbered,
    one_ability_sentence,
    opposed,
    order_sentence,
    unfit,
)
from crubric_core.leaderboard.cross_fit import cross_fit
from crubric_core.leaderboard.influence import Domains, ability_influence
from crubric_core.leaderboard.traits import Correlation

SETTINGS = Settings()
DESIGN = (8, 20, 0.0, 0.0, 0.5)


@pytest.fixture(scope="module")
def table():
    """Labels of two dimensions, their queries, and the query of each rubric."""
    return simulated(DESIGN, 1)


@pytest.fixture(scope="module")
def found(table):
    return found_of(*table)[0]


def standing(levels, noise=0.1, seed=1):
    """Claims about systems of these levels."""
    scores = np.asarray(levels)[:, None] + noise * np.random.default_rng(seed).normal(size=(len(levels), 60))
    return mean_standing(scores, 0.95, 1, simultaneous=True)


def told(*correlations, levels=((0.9, 0.5, 0.1), (0.8, 0.5, 0.2))):
    """Of two or three dimensions a, b and c."""
    names, pairs = ("a", "b", "c")[: len(levels)], [(0, 1), (0, 2), (1, 2)]
    ends = np.zeros((len(levels), len(levels[0])))
    boards = tuple(standing(each, seed=at) for at, each in enumerate(levels))
    return Dimensions(names, (), boards, ends, ends, tuple(pairs[: len(correlations)]), correlations)


def test_each_dimension_is_placed_by_its_own_rubrics_without_the_systems_own_labels(table, found):
    reduction, _, query = table
    assert found.names == tuple(sorted(NAMES))
    for name, board in zip(found.names, found.standings, strict=True):
        varies = ~fit_irt(reduction.y).constant
        its = np.flatnonzero((reduction.rubrics["dimension"] == name).to_numpy() & varies)
        y = reduction.y[:, its]
        alone = ability_influence(cross_fit(y, fit_irt(y)), np.ones(len(its), dtype=bool), query[its])
        np.testing.assert_allclose(board.estimate, alone.estimate)
        assert board.confidence == pytest.approx(1 - 0.05 / 2)


def test_intervals_of_single_abilities_are_at_the_level_asked_for(found):
    wide = np.stack([board.high - board.low for board in found.standings])
    assert (found.high - found.low < wide).all()


def test_a_dimension_needs_rubrics_on_ten_queries(table):
    reduction, _, query = table
    every = np.ones(len(query), dtype=bool)
    assert measurable(reduction, every, query) == (["facts", "tone"], [])
    few = every & ((query < 9) | (reduction.rubrics["dimension"] == "tone").to_numpy())
    assert measurable(reduction, few, query) == (["tone"], ["facts"])


def test_too_few_queries_or_domains_are_said(table):
    reduction, queries, query = table
    varies = ~fit_irt(reduction.y).constant
    fits = dimension_fits(reduction, varies, query, SETTINGS)
    few = varies & (query < 9)
    assert "on 10 queries or more" in by_dimension(reduction, fits, varies, few, queries, SETTINGS)
    domains = Domains(np.arange(20) // 4, np.ones(5, dtype=bool))
    assert "on 10 domains or more" in by_dimension(
        reduction, fits, varies, varies, queries, SETTINGS, domains
    )


def test_domains_are_the_units_where_claims_are_of_these(table):
    reduction, queries, query = table
    varies = ~fit_irt(reduction.y).constant
    fits = dimension_fits(reduction, varies, query, SETTINGS)
    domains = Domains(np.arange(20) // 2, np.ones(10, dtype=bool))
    found = by_dimension(reduction, fits, varies, varies, queries, SETTINGS, domains)
    assert {board.unit for board in found.standings} == {"domain"}


def test_systems_that_too_few_queries_link_are_not_placed(table):
    reduction, queries, query = table
    y = reduction.y.copy()
    y[:4, query >= 10] = y[4:, query < 10] = np.nan
    said = found_of(SimpleNamespace(y=y, levels=reduction.levels, rubrics=reduction.rubrics), queries, query)[
        0
    ]
    assert "link" in said


def test_settings_and_panels_that_allow_no_abilities_by_dimension_say_so():
    assert unfit(6, False, SETTINGS) == ""
    assert "6 systems" in unfit(5, False, SETTINGS)
    assert "cross-fitted" in unfit(6, False, replace(SETTINGS, cross_fitted=False))
    assert "judges" in unfit(6, True, SETTINGS)


def test_groups_are_numbered_by_name_and_what_is_in_none_has_no_number():
    assert numbered(np.array(["b", "", "a", None, "b"], dtype=object)).tolist() == [1, -1, 0, -1, 1]


def test_an_interval_that_reaches_one_cannot_tell_two_dimensions_from_one_ability():
    said = one_ability_sentence(told(Correlation(0.83, 0.42, 1.0)), "95%")
    assert said == (
        "By correlation, 3 systems cannot tell the two dimensions from one ability: their correlation, 0.83, may be "
        "anything from 0.42 to 1 at 95%, corrected for noise."
    )


def test_an_interval_below_one_tells_them_apart():
    said = one_ability_sentence(told(Correlation(0.31, -0.2, 0.997)), "95%")
    assert (
        said
        == "a and b are not one ability: they correlate at 0.31 (−0.20 to 0.997 at 95%), corrected for noise."
    )


def test_of_several_dimensions_the_pair_that_is_furthest_from_one_is_named():
    levels = [(0.9, 0.5, 0.1)] * 3
    one, other = Correlation(0.9, 0.5, 1.0), Correlation(0.3, 0.0, 0.6)
    said = one_ability_sentence(told(one, other, Correlation(0.2, 0.0, 0.7), levels=levels), "95%")
    assert said.startswith("a and c are not one ability: they correlate at 0.30")
    assert said.endswith(" 2 of 3 pairs of dimensions are more than one ability.")
    none = one_ability_sentence(told(one, one, one, levels=levels), "95%")
    assert (
        "cannot tell any two dimensions from one ability: the intervals of all 3 correlations reach 1" in none
    )


def test_a_correlation_of_which_nothing_is_known_is_said_to_be_unknown():
    said = one_ability_sentence(told(Correlation(np.nan, -1.0, 1.0)), "95%")
    assert said == "3 systems show nothing about how the two dimensions correlate at 95%."


def test_a_pair_that_dimensions_separate_in_opposite_ways_is_named():
    board = standing([0.6, 0.55, 0.1])
    found = told(Correlation(0, -1, 1), levels=((0.9, 0.5, 0.1), (0.5, 0.9, 0.1)))
    assert np.argwhere(opposed(found, board)).tolist() == [[0, 1]]
    assert order_sentence(found, board, "xyz", "95%") == (
        "The order depends on the dimension, so there is more than one ability: 1 of 3 separated pairs of systems is "
        "separated both ways at 95%. x is ahead of y in a, behind in b."
    )


def test_a_dimension_that_contradicts_the_board_alone_is_told():
    board = standing([0.9, 0.1, 0.5])
    found = told(Correlation(0, -1, 1), levels=((0.5, 0.5, 0.5), (0.1, 0.9, 0.5)))
    assert order_sentence(found, board, "xyz", "95%").endswith("x is ahead of y on the board, behind in b.")


def test_dimensions_that_agree_are_said_to_and_so_are_those_that_separate_nobody():
    board, found = standing([0.9, 0.5, 0.1]), told(Correlation(1, 0, 1))
    assert not opposed(found, board).any()
    assert order_sentence(found, board, "xyz", "95%") == (
        "No two dimensions, nor a dimension and the board, separate any two systems in opposite ways at 95%; "
        "3 pairs are separated by at least one of them."
    )
    equal = standing([0.5] * 3)
    nobody = replace(found, standings=(equal, equal))
    assert order_sentence(nobody, equal, "xyz", "95%") == "No dimension separates any pair of systems at 95%."


def test_tables_have_a_row_a_pair_and_a_row_a_system_and_dimension(found):
    systems = [f"s{i}" for i in range(8)]
    abilities, correlations = found.ability_table(systems), found.correlation_table()
    assert len(abilities) == 16
    np.testing.assert_array_equal(
        abilities["theta"], np.r_[found.standings[0].estimate, found.standings[1].estimate]
    )
    assert correlations[["first", "second"]].to_numpy().tolist() == [["facts", "tone"]]


def test_a_correlation_of_which_nothing_is_known_has_no_value(found):
    nothing = replace(found, correlations=(Correlation(-1.0, -1.0, 1.0),))
    assert nothing.correlation_table()[["correlation", "low", "high"]].isna().to_numpy().tolist() == [
        [True, False, False]
    ]
