from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crubric_core.bank.certificate import certify, certify_curve
from crubric_core.bank.greedy import greedy_bank
from crubric_core.bank.pairs import pair_distances
from crubric_core.bank.pairs_order import pairs_order
from crubric_core.bank.utility import Coverage
from crubric_core.errors import AssemblyError
from tests import oracles
from tests.bank.conftest import realistic_bank, small_banks
from tests.bank.test_item_posterior import table
from tests.bank.test_pairs_order import small_pools


@given(small_banks(), st.integers(1, 6))
def test_no_bank_is_better_than_the_certificate_allows(bank, budget):
    info, weights, feasible = bank
    order, _ = greedy_bank(info, weights, info.shape[1], feasible)
    assume(order.size)
    best = oracles.best_coverage(info, weights, budget, feasible)
    share = oracles.coverage(info, weights, order[:budget]) / best
    proven = certify(Coverage(info, weights), order, budget, feasible)
    assert 0 < proven <= share + 1e-12
    assert share <= 1 + 1e-12


@given(small_banks(), st.integers(1, 6))
def test_the_certificate_is_the_least_bound_over_all_prefixes(bank, budget):
    info, weights, feasible = bank
    order, _ = greedy_bank(info, weights, budget, feasible)
    assume(order.size)
    expected = oracles.naive_certificate(info, weights, order, budget, feasible)
    assert certify(Coverage(info, weights), order, budget, feasible) == pytest.approx(
        min(expected, 1.0), rel=1e-12
    )


@pytest.mark.parametrize("budget", [1, 2, 30, 77, 119, 120])
def test_leaving_prefixes_out_unevaluated_loses_nothing(budget):
    info, weights = realistic_bank(120)
    order, _ = greedy_bank(info, weights, 120)
    everything = np.ones(120, dtype=bool)
    expected = oracles.naive_certificate(info, weights, order, budget, everything)
    assert certify(Coverage(info, weights), order, budget) == pytest.approx(expected, rel=1e-12)


def test_a_bank_of_all_rubrics_or_of_the_best_one_is_proven_optimal():
    info, weights = realistic_bank(40)
    order, _ = greedy_bank(info, weights, 40)
    assert certify(Coverage(info, weights), order, 40) == pytest.approx(1.0)
    assert certify(Coverage(info, weights), order, 1) == pytest.approx(1.0)
    assert certify(Coverage(info, weights), order, 400) == pytest.approx(1.0)


def test_a_bank_that_reaches_outside_the_feasible_set_still_has_a_share_of_at_most_one():
    info, weights = realistic_bank(30)
    feasible = np.arange(30) >= 25
    order, _ = greedy_bank(info, weights, 30)
    assert certify(Coverage(info, weights), order, 5, feasible) <= 1
    assert (certify_curve(Coverage(info, weights), order, range(1, 31), feasible) <= 1).all()


@given(small_banks(), st.integers(1, 4))
def test_the_curve_never_promises_more_than_the_certificate(bank, prefixes):
    info, weights, feasible = bank
    order, _ = greedy_bank(info, weights, info.shape[1], feasible)
    assume(order.size)
    budgets = np.arange(1, info.shape[1] + 2)
    curve = certify_curve(Coverage(info, weights), order, budgets, feasible, prefixes)
    exact = np.array([certify(Coverage(info, weights), order, budget, feasible) for budget in budgets])
    assert (curve > 0).all()
    assert (curve <= exact + 1e-12).all()


def test_the_curve_with_every_prefix_is_the_certificate_and_with_64_within_a_percent():
    info, weights = realistic_bank(500)
    order, _ = greedy_bank(info, weights, 500)
    budgets = [1, 10, 60, 250, 499]
    exact = [certify(Coverage(info, weights), order, budget) for budget in budgets]
    every = certify_curve(Coverage(info, weights), order, budgets, prefixes=20_000)
    np.testing.assert_allclose(every, exact, rtol=1e-12)
    np.testing.assert_allclose(certify_curve(Coverage(info, weights), order, budgets), exact, rtol=0.01)


def test_without_information_there_is_nothing_to_certify():
    info, weights, none = np.zeros((3, 4)), np.ones(3), np.empty(0, dtype=np.int64)
    assert np.isnan(certify(Coverage(info, weights), none, 2))
    assert np.isnan(certify_curve(Coverage(info, weights), none, [1, 2])).all()
    assert certify_curve(Coverage(info + 1, weights), np.arange(4), []).size == 0


def test_a_budget_of_none_is_refused():
    info, weights = realistic_bank(5)
    with pytest.raises(AssemblyError, match="budget of at least 1"):
        certify(Coverage(info, weights), np.arange(5), 0)
    with pytest.raises(AssemblyError, match="budget of at least 1"):
        certify_curve(Coverage(info, weights), np.arange(5), [3, 0])


@given(small_pools(), st.integers(1, 6))
def test_no_bank_separates_pairs_better_than_the_certificate_allows(pool, budget):
    distances, query, feasible = pool
    order = pairs_order(distances, query, feasible).order
    assume(order.size)

    def utility(bank):
        return oracles.pair_utility(distances.rows[distances.row], distances.weights, bank)

    share = utility(order[:budget]) / oracles.best_utility(utility, budget, feasible)
    proven = certify(distances, order, budget, feasible)
    assert 0 < proven <= share + 1e-9
    expected = oracles.least_bound_certificate(utility, order, budget, feasible)
    assert proven == pytest.approx(min(expected, 1.0), rel=1e-9)


def test_banks_of_pairs_are_proven_to_be_close_to_the_best_although_balanced_over_queries():
    y, theta, _ = table(15, 1000)
    distances, query = pair_distances(y, theta, np.full(15, 0.2)), np.arange(1000) // 10
    order = pairs_order(distances, query, budget=200).order
    proven = [certify(distances, order, budget) for budget in (20, 200)]
    assert 0.85 < proven[0] < proven[1] < 1
    assert (certify_curve(distances, order, [20, 200]) <= np.array(proven) + 1e-12).all()
