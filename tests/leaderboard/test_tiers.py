from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crubric_core.leaderboard.separation import separation
from crubric_core.leaderboard.tiers import equal_where_alike, rank_intervals, rank_probabilities, standings
from tests import oracles

RULES = ("adjacent", "leader")


def tiers_of(theta, draws, rule="adjacent", confidence=0.95, holm=False):
    return standings(theta, draws, confidence, rule, holm).tier


def simulated(theta, noise=0.1, replicates=200, seed=0):
    rng = np.random.default_rng(seed)
    return np.asarray(theta) + rng.normal(0, noise, (replicates, len(theta)))


@given(
    st.lists(st.floats(-1, 1), min_size=1, max_size=8, unique=True),
    st.integers(0, 5),
    st.sampled_from(RULES),
    st.sampled_from([0.8, 0.95]),
)
def test_tiers_are_those_of_the_walk_down_the_ranking(theta, seed, rule, confidence):
    theta, draws = np.array(theta), simulated(theta, replicates=60, seed=seed)
    expected = oracles.naive_tiers(theta, draws, confidence, rule)
    assert tiers_of(theta, draws, rule, confidence).tolist() == expected.tolist()


def test_systems_that_pass_all_have_their_mean_in_each_draw_and_so_have_those_that_fail_all() -> None:
    draws = np.array([[2.0, 4, 0, -1, -5], [1, 0, 5, -2, -3]])
    found = equal_where_alike(draws, np.array([1, 1, 0, -1, -1]))
    assert found.tolist() == [[3, 3, 0, -3, -3], [0.5, 0.5, 5, -2.5, -2.5]]


def test_close_neighbours_chain_into_one_tier_unless_the_leader_is_compared():
    theta = np.array([0.6, 0.4, 0.2, 0.0])
    draws = simulated(theta)
    assert tiers_of(theta, draws, "adjacent").tolist() == [1, 1, 1, 1]
    assert tiers_of(theta, draws, "leader").tolist() == [1, 1, 2, 2]


@given(st.permutations(range(6)), st.sampled_from(RULES))
def test_the_order_in_which_systems_are_listed_does_not_matter(permutation, rule):
    theta = np.array([1.0, 0.9, 0.5, 0.2, 0.15, -1.0])
    draws = simulated(theta)
    tiers = tiers_of(theta, draws, rule)
    assert tiers_of(theta[permutation], draws[:, permutation], rule).tolist() == tiers[permutation].tolist()


@pytest.mark.parametrize("rule", RULES)
def test_holm_gives_at_most_as_many_tiers(rule):
    theta = -np.cumsum(np.linspace(0.05, 0.35, 15))
    draws = simulated(theta, noise=0.07)
    alone = tiers_of(theta, draws, rule)
    corrected = tiers_of(theta, draws, rule, holm=True)
    assert 1 < corrected.max() < alone.max()
    assert (corrected <= alone).all()


def test_holm_for_neighbours_corrects_for_the_neighbours_alone():
    theta = -np.cumsum(np.linspace(0.05, 0.35, 15))
    draws = simulated(theta, noise=0.07)
    p_values = [separation(draws[:, [k, k + 1]]).p_value[0, 1] for k in range(14)]
    apart = [separation(draws[:, [k, k + 1]]).separated[0, 1] for k in range(14)]
    starts = np.array(oracles.naive_holm(p_values, 0.05)) & apart
    assert tiers_of(theta, draws, holm=True).tolist() == np.cumsum([1, *starts]).tolist()


def test_a_single_system_is_the_first_tier():
    assert tiers_of(np.array([0.3]), simulated([0.3])).tolist() == [1]


def test_tied_abilities_share_a_tier_and_a_rank():
    theta = np.array([0.0, 1.0, 1.0, -3.0])
    draws = simulated([0.0, 1.0, 1.0, -3.0])
    draws[:, 2] = draws[:, 1]
    standing = standings(theta, draws)
    assert standing.rank.tolist() == [3, 1, 1, 4]
    assert standing.tier.tolist() == [2, 1, 1, 3]


def test_rank_probabilities_count_replicates():
    draws = simulated([0.3, 0.2, 0.25, -0.1], replicates=150)
    np.testing.assert_allclose(rank_probabilities(draws), oracles.naive_rank_probabilities(draws), atol=1e-12)


def test_systems_tied_in_a_replicate_share_its_ranks_evenly():
    draws = np.array([[1.0, 1.0, 0.0], [2.0, 3.0, 3.0]])
    expected = [[1 / 4, 1 / 2, 1], [1 / 2, 1, 1], [1 / 4, 1 / 2, 1]]
    np.testing.assert_allclose(rank_probabilities(draws), expected, atol=1e-12)


@given(st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), min_size=1, max_size=6))
def test_k_systems_are_among_the_first_k(draws):
    probabilities = rank_probabilities(np.array(draws, dtype=float))
    np.testing.assert_allclose(probabilities.sum(axis=0), np.arange(1, 6))
    assert (np.diff(probabilities, axis=1) >= -1e-12).all()
    assert probabilities.min() >= 0
    assert probabilities.max() <= 1


def test_rank_intervals_hold_whole_ranks_and_all_ranks_that_ties_allow():
    draws = np.tile([3.0, 2.0, 2.0, 0.0], (50, 1))
    low, high = rank_intervals(draws)
    assert low.tolist() == [1, 2, 2, 4]
    assert high.tolist() == [1, 3, 3, 4]
    draws = simulated([0.1, 0.05, -4.0], replicates=300)
    low, high = rank_intervals(draws)
    assert low.tolist() == [1, 1, 3]
    assert high.tolist() == [2, 2, 3]


def test_rank_intervals_leave_out_the_tails():
    draws = np.zeros((100, 2))
    draws[:, 0] = np.where(np.arange(100) < 2, -1, 1)
    assert [bound[0] for bound in rank_intervals(draws, 0.95)] == [1, 1]
    assert [bound[0] for bound in rank_intervals(draws, 0.97)] == [1, 2]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("holm", [False, True])
def test_a_system_without_labels_is_unranked_and_takes_no_place(rule, holm):
    theta = np.array([0.0, np.nan, 2.0, 1.9, -1.0])
    draws = simulated(np.nan_to_num(theta))
    standing = standings(theta, draws, rule=rule, holm=holm)
    kept = [0, 2, 3, 4]
    alone = standings(theta[kept], draws[:, kept], rule=rule, holm=holm)
    for name in ("theta_low", "theta_high", "rank", "rank_low", "rank_high", "tier"):
        assert np.isnan(getattr(standing, name)[1]), name
        np.testing.assert_array_equal(getattr(standing, name)[kept], getattr(alone, name), name)
    assert np.isnan(standing.rank_probability[1]).all()
    assert not standing.separated[1].any()
    np.testing.assert_array_equal(standing.separated[np.ix_(kept, kept)], alone.separated)


def test_nobody_ranked_is_no_error():
    standing = standings(np.full(2, np.nan), np.full((4, 2), np.nan))
    assert np.isnan(standing.tier).all()
    assert np.isnan(standing.rank_probability).all()


def test_a_standing_bundles_its_parts():
    theta = np.array([0.1, 0.5, -0.3])
    draws = simulated(theta)
    standing = standings(theta, draws, 0.9, "leader")
    assert standing.rank.tolist() == [2, 1, 3]
    np.testing.assert_array_equal(standing.separated, separation(draws, 0.9).separated)
    np.testing.assert_array_equal(standing.ahead, separation(draws, 0.9).ahead)
    low, high = np.percentile(draws, [5, 95], axis=0)
    np.testing.assert_allclose(standing.theta_low, low)
    np.testing.assert_allclose(standing.theta_high, high)


def test_a_perfect_system_that_a_replicate_leaves_without_labels_unranks_no_other():
    draws = np.random.default_rng(1).normal([2.0, 2.1, 2.05, 0.0], 0.1, (200, 4))
    draws[3, 2] = np.nan
    found = standings(np.array([2.0, 2.1, 2.05, 0.0]), draws, saturated=np.array([1, 1, 1, 0]))
    assert np.isfinite(found.rank).tolist() == [True, True, False, True]
    assert not found.separated[0, 1]
    assert found.separated[0, 3]
    assert found.theta_high[:2].tolist() == [np.inf, np.inf]
    assert np.isnan(found.theta_high[2])
    assert np.isfinite(found.theta_low[:2]).all()
