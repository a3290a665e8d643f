"""Expected losses: by hand on small tables, the mean failed share where all cost the same, limits of rare events."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from crubric_core.analysis.agreement import mean_standing
from crubric_core.judges.unequal_panels import Allowance
from crubric_core.leaderboard.inference import infer
from crubric_core.leaderboard.influence import Domains
from crubric_core.leaderboard.losses import expected_loss, gamma_limit
from tests.tiers import examples

LOST = np.array([[0.0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]])
QUERY, COSTS = np.array([0, 0, 1, 2]), np.array([10.0, 1, 1, 10])


def standing(found):
    return infer(found.evidence, np.random.default_rng(0))


def test_the_loss_of_a_query_is_the_sum_of_what_its_violations_cost():
    found = expected_loss(LOST, COSTS, QUERY, np.ones(3))
    np.testing.assert_allclose(-found.evidence.estimate, [(1 + 0 + 10) / 3, 10 / 3, 0], atol=1e-12)
    assert (found.most, found.queries) == (pytest.approx(22 / 3), 3)


def test_queries_weigh_as_in_the_score_and_those_without_a_loss_do_not_count():
    found = expected_loss(LOST, np.array([10.0, 1, 0, 10]), QUERY, np.array([1.0, 5, 3]))
    np.testing.assert_allclose(-found.evidence.estimate, [(1 + 3 * 10) / 4, 10 / 4, 0], atol=1e-12)
    assert found.queries == 2


def test_the_error_is_that_of_the_queries_sums_where_all_can_lose_the_same():
    lost = (np.random.default_rng(1).random((4, 60)) < 0.3).astype(float)
    query, costs = np.repeat(np.arange(20), 3), np.tile([10.0, 1, 1], 20)
    sums = np.add.reduceat(lost * costs, np.arange(0, 60, 3), axis=1)
    found = standing(expected_loss(lost, costs, query, np.ones(20)))
    np.testing.assert_allclose(found.se, sums.std(axis=1, ddof=1) / np.sqrt(20))
    assert found.difference_se[0, 1] == pytest.approx((sums[0] - sums[1]).std(ddof=1) / np.sqrt(20))


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_losses_that_are_all_equal_are_the_mean_failed_share(data):
    systems, queries, each = (data.draw(st.integers(2, most)) for most in (5, 8, 4))
    cost, seed = data.draw(st.floats(0.01, 1e4)), data.draw(st.integers(0, 10**6))
    lost = (np.random.default_rng(seed).random((systems, queries * each)) < 0.4).astype(float)
    found = expected_loss(
        lost, np.full(queries * each, cost), np.repeat(np.arange(queries), each), np.ones(queries)
    )
    share = lost.reshape(systems, queries, each).mean(axis=2)
    np.testing.assert_allclose(-found.evidence.estimate / (cost * each), share.mean(axis=1), atol=1e-9)
    plain, ours = mean_standing(1 - share, 0.95, 0, simultaneous=True), standing(found)
    np.testing.assert_allclose(ours.se / (cost * each), plain.se, atol=1e-9)


def test_unknown_labels_of_costly_rubrics_are_no_violations_and_no_passes():
    rng = np.random.default_rng(2)
    ability, hard = rng.uniform(0, 0.4, 6), rng.uniform(0, 0.4, 200)
    lost, query = ability[:, None] + hard, np.repeat(np.arange(50), 4)
    costs = np.tile([10.0, 10, 1, 1], 50)
    hidden = np.where(rng.random(lost.shape) < 0.3, np.nan, lost)
    hidden[0, (costs == 10) & (hard > 0.2)] = np.nan  # the first is labelled on what is easy
    whole, part = (expected_loss(each, costs, query, np.ones(50)) for each in (lost, hidden))
    np.testing.assert_allclose(part.evidence.estimate, whole.evidence.estimate, atol=1e-9)


def test_without_a_rubric_that_costs_and_has_a_label_there_is_no_loss():
    assert expected_loss(LOST, np.zeros(4), QUERY, np.ones(3)) is None
    assert expected_loss(np.full((2, 4), np.nan), COSTS, QUERY, np.ones(3)) is None


@pytest.mark.parametrize("events", [0, 1, 5])
def test_the_gamma_limit_of_events_that_all_cost_the_same_is_the_exact_one_of_their_number(events):
    n, cost = 40, 7.0
    found = gamma_limit(np.array([events * cost / n]), np.array([events * (cost / n) ** 2]), cost / n, 0.025)
    assert found[0] == pytest.approx(cost / n * chi2.ppf(0.975, 2 * events + 2) / 2)


def test_no_violation_leaves_the_loss_of_three_queries_possible_and_all_violations_the_same_from_above():
    found = expected_loss(
        np.array([np.zeros(60), np.ones(60), np.arange(60) % 2]), np.full(60, 5.0), np.arange(60), np.ones(60)
    )
    low, high = found.limits(standing(found))
    assert (low[0], high[1]) == (0, 5)
    assert high[0] == pytest.approx(5 * 3.69 / 60, rel=0.01)
    assert low[1] == pytest.approx(5 - high[0])
    assert low[2] < 2.5 < high[2]


def test_a_system_with_labels_on_half_of_the_queries_may_lose_twice_as_much_unseen():
    lost = np.zeros((3, 60))
    lost[2, ::7] = 1
    lost[1, ::2] = np.nan
    found = expected_loss(lost, np.full(60, 5.0), np.arange(60), np.ones(60))
    assert found.jump[1] == pytest.approx(2 * found.jump[0])


def test_domains_are_the_units_where_claims_hold_for_domains():
    lost = np.repeat((np.random.default_rng(3).random((3, 10)) < 0.4).astype(float), 6, axis=1)
    domains = Domains(np.repeat(np.arange(10), 6), np.ones(10, dtype=bool))
    asked = lost, np.ones(60), np.arange(60), np.ones(60)
    by_query, by_domain = expected_loss(*asked), expected_loss(*asked, domains)
    assert (by_query.evidence.unit, by_domain.evidence.unit) == ("query", "domain")
    assert by_domain.evidence.n_units.tolist() == [10] * 3
    np.testing.assert_allclose(by_domain.jump, 6 * by_query.jump)
    assert (standing(by_domain).se > 2 * standing(by_query).se).all()


def test_where_panels_differ_each_end_is_further_out_by_what_judges_may_differ():
    lost = (np.random.default_rng(4).random((3, 80)) < 0.4).astype(float)
    found = expected_loss(lost, np.full(80, 10.0), np.arange(80), np.ones(80))
    zero = np.zeros((3, 3))
    may = replace(
        found.evidence, allowance=Allowance(zero, high=np.array([0.5, 0, 0]), low=np.array([0, 0.25, 0]))
    )
    (low, high), (lower, higher) = (
        each.limits(standing(each)) for each in (found, replace(found, evidence=may))
    )
    np.testing.assert_allclose(
        low - lower, [0, 0.25, 0], atol=1e-12
    )  # an estimate that is too low: a loss too high
    np.testing.assert_allclose(higher - high, [0.5, 0, 0], atol=1e-12)


def test_one_query_gives_no_interval_and_separates_nothing():
    found = expected_loss(np.array([[0.0, 1], [1, 1]]), np.array([10.0, 1]), np.array([0, 0]), np.ones(1))
    claims = standing(found)
    low, high = found.limits(claims)
    assert not claims.separated.any()
    assert low.tolist() == [0, 0]
    assert high.tolist() == [11, 11]
