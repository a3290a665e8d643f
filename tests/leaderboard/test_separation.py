from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from crubric_core.leaderboard.separation import (
    excludes_zero,
    holm_rejects,
    separation,
    two_sided_p,
    with_holm,
)
from tests import oracles


def simulated(theta, noise=0.1, replicates=200, seed=0):
    """Draws around theta (M,) with a shared part that a paired difference removes."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(0, 1, (replicates, 1))
    return np.asarray(theta) + shared + rng.normal(0, noise, (replicates, len(theta)))


@given(
    st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0]), min_size=2, max_size=60),
    st.sampled_from([0.5, 0.8, 0.9, 0.95]),
)
def test_counting_gives_what_the_percentile_interval_says(values, confidence):
    difference = np.array(values)[:, None]
    low, high = np.percentile(values, [50 * (1 - confidence), 100 - 50 * (1 - confidence)])
    assert excludes_zero(difference, confidence).tolist() == [bool(low > 0 or high < 0)]


def test_counting_gives_what_the_percentile_interval_says_where_zero_is_near_its_end():
    difference = np.random.default_rng(1).normal(0.2, 0.1, (300, 2000))
    low, high = np.percentile(difference, [2.5, 97.5], axis=0)
    expected = (low > 0) | (high < 0)
    assert 0.1 < expected.mean() < 0.9
    np.testing.assert_array_equal(excludes_zero(difference, 0.95), expected)


def test_differences_are_paired_within_a_replicate():
    draws = simulated([0.0, 0.5])
    assert separation(draws).separated[0, 1]
    unpaired = draws.copy()
    unpaired[:, 1] = np.random.default_rng(1).permutation(unpaired[:, 1])
    assert not separation(unpaired).separated[0, 1]


def test_the_matrices_mirror_each_other():
    apart = separation(simulated([0.4, 0.0, 0.05, -0.6]))
    np.testing.assert_array_equal(apart.separated, apart.separated.T)
    np.testing.assert_array_equal(apart.p_value, apart.p_value.T)
    np.testing.assert_allclose(apart.ahead + apart.ahead.T, 1)
    assert apart.ahead[0, 3] == 1
    assert not apart.separated.diagonal().any()


def test_the_share_ahead_counts_ties_half():
    draws = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [2.0, 1.0]])
    assert separation(draws).ahead[0, 1] == pytest.approx(2.5 / 4)


def test_identical_systems_are_never_separated():
    draws = simulated([0.0])[:, [0, 0]]
    apart = separation(draws)
    assert apart.p_value[0, 1] == 1
    assert apart.ahead[0, 1] == 0.5
    assert not apart.separated[0, 1]


def test_a_constant_difference_is_certain():
    draws = np.array([[1.0, 0.0], [3.0, 2.0], [2.0, 1.0]])
    apart = separation(draws)
    assert apart.p_value[0, 1] == 0
    assert apart.separated[0, 1]


def test_the_p_value_is_that_of_the_normal_approximation():
    difference = np.random.default_rng(0).normal(1.0, 0.7, (50, 3))
    z = np.abs(difference.mean(axis=0)) / difference.std(axis=0, ddof=1)
    np.testing.assert_allclose(two_sided_p(difference), 2 * norm.cdf(-z))


def test_a_system_that_is_not_ranked_is_separated_from_none():
    draws = simulated([0.0, 5.0, -5.0])
    draws[3, 1] = np.nan
    apart = separation(draws)
    assert np.isnan(apart.ahead[1]).all()
    assert np.isnan(apart.p_value[:, 1]).all()
    assert not apart.separated[1].any()
    alone = separation(draws[:, [0, 2]])
    assert apart.separated[0, 2] == alone.separated[0, 1]
    assert apart.p_value[0, 2] == alone.p_value[0, 1]


@given(st.lists(st.sampled_from([0.0, 0.004, 0.01, 0.012, 0.03, 0.2, 1.0]), max_size=8))
def test_holm_steps_down_until_the_first_that_fails(p_values):
    assert holm_rejects(np.array(p_values), 0.05).tolist() == oracles.naive_holm(p_values, 0.05)


def test_holm_by_hand():
    # .01 ≤ .05/4, .013 ≤ .05/3, .03 > .05/2: stop, though .04 ≤ .05/1.
    assert holm_rejects(np.array([0.04, 0.01, 0.03, 0.013]), 0.05).tolist() == [False, True, False, True]


def test_holm_over_all_pairs_keeps_some_of_what_single_tests_found():
    draws = simulated(np.cumsum(np.linspace(0.05, 0.35, 9)))
    alone = separation(draws)
    corrected = with_holm(alone, 0.95)
    pairs = np.triu_indices(9, 1)
    expected = alone.separated[pairs] & oracles.naive_holm(alone.p_value[pairs].tolist(), 0.05)
    np.testing.assert_array_equal(corrected.separated[pairs], expected)
    np.testing.assert_array_equal(corrected.separated, corrected.separated.T)
    assert 0 < corrected.separated.sum() < alone.separated.sum()


def test_holm_does_not_count_pairs_with_an_unranked_system():
    draws = simulated(np.cumsum(np.linspace(0.05, 0.35, 9)))
    with_unranked = np.insert(draws, 4, np.nan, axis=1)
    kept = [0, 1, 2, 3, 5, 6, 7, 8, 9]
    corrected = with_holm(separation(with_unranked), 0.95).separated[np.ix_(kept, kept)]
    np.testing.assert_array_equal(corrected, with_holm(separation(draws), 0.95).separated)
