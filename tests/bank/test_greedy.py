from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crubric_core.bank import greedy
from crubric_core.bank.greedy import greedy_bank
from crubric_core.bank.utility import utility_grid
from crubric_core.errors import AssemblyError
from tests import oracles
from tests.bank.conftest import realistic_bank, small_banks
from tests.tiers import examples


@given(small_banks(max_rubrics=12), st.integers(1, 13))
def test_greedy_is_the_naive_algorithm_ties_and_empty_rubrics_included(bank, budget):
    info, weights, feasible = bank
    order, gains = greedy_bank(info, weights, budget, feasible)
    expected, expected_gains = oracles.naive_greedy(info, weights, budget, feasible)
    assert order.tolist() == expected
    np.testing.assert_allclose(gains, expected_gains, rtol=1e-12)


@given(small_banks(max_rubrics=12), st.integers(1, 12), st.integers(1, 4))
def test_the_size_of_the_pool_changes_nothing(bank, budget, pool):
    info, weights, feasible = bank
    with patch.object(greedy, "_POOL", pool):
        order, _ = greedy_bank(info, weights, budget, feasible)
    assert order.tolist() == oracles.naive_greedy(info, weights, budget, feasible)[0]


@pytest.mark.parametrize("seed", range(3))
def test_greedy_is_the_naive_algorithm_on_a_realistic_bank_to_the_last_rubric(seed):
    info, weights = realistic_bank(1200, seed)
    order, gains = greedy_bank(info, weights, 1200)
    expected, expected_gains = oracles.naive_greedy(info, weights, 1200)
    assert order.tolist() == expected
    np.testing.assert_allclose(gains, expected_gains, rtol=1e-12)


@pytest.mark.parametrize("distinct", [3, 40, 400])
def test_of_equal_rubrics_the_lowest_index_comes_first(distinct):
    info, weights = realistic_bank(distinct)
    info = info[:, np.random.default_rng(1).integers(0, distinct, 900)]
    order, _ = greedy_bank(info, weights, 900)
    assert order.tolist() == oracles.naive_greedy(info, weights, 900)[0]


def test_rubrics_that_differ_by_one_rounding_are_told_apart():
    info, weights = realistic_bank(30)
    info = info[:, np.arange(600) % 30]
    nudged = np.random.default_rng(2).random(info.shape) < 0.02
    info = np.where(nudged, np.nextafter(info, 9), info)
    # On rubric-major rows, since one rounding is all there is between them, and layouts round differently.
    rows, covered, left, expected = info.T.copy(), np.zeros(41), np.ones(600, dtype=bool), []
    for _ in range(600):
        gain = np.where(left, (np.log1p(rows / (1 + covered)) * weights).sum(axis=1), -1)
        expected.append(int(gain.argmax()))
        left[expected[-1]] = False
        covered += rows[expected[-1]]
    assert greedy_bank(info, weights, 600)[0].tolist() == expected


def test_very_large_and_very_small_information_keep_the_naive_order():
    info, weights = realistic_bank(400)
    info *= 10.0 ** np.random.default_rng(3).integers(-200, 60, 400)
    order, _ = greedy_bank(info, weights, 400)
    assert order.tolist() == oracles.naive_greedy(info, weights, 400)[0]


def test_rubrics_that_inform_only_where_the_weight_is_zero_come_last_by_index():
    info = np.array([[0.0, 1.0, 0.0, 2.0], [5.0, 0.0, 5.0, 0.0]])
    order, gains = greedy_bank(info, np.array([1.0, 0.0]), 4)
    assert order.tolist() == [3, 1, 0, 2]
    assert gains[2:].tolist() == [0.0, 0.0]


@given(small_banks())
def test_a_smaller_budget_is_a_prefix(bank):
    info, weights, feasible = bank
    whole, gains = greedy_bank(info, weights, info.shape[1], feasible)
    for budget in range(len(whole) + 1):
        order, some = greedy_bank(info, weights, budget, feasible)
        assert order.tolist() == whole[:budget].tolist()
        assert some.tolist() == gains[:budget].tolist()


@settings(max_examples=examples(25))
@given(st.permutations(range(60)))
def test_the_choice_does_not_depend_on_the_order_of_the_rubrics(permutation):
    info, weights = realistic_bank(60)
    order, _ = greedy_bank(info, weights, 60)
    shuffled, _ = greedy_bank(info[:, permutation], weights, 60)
    assert np.array(permutation)[shuffled].tolist() == order.tolist()


@given(small_banks(), st.integers(1, 5))
def test_greedy_reaches_63_percent_of_the_best_bank(bank, budget):
    info, weights, feasible = bank
    order, gains = greedy_bank(info, weights, budget, feasible)
    best = oracles.best_coverage(info, weights, budget, feasible)
    assert oracles.coverage(info, weights, order) >= (1 - 1 / np.e) * best - 1e-12
    assert gains.sum() == pytest.approx(oracles.coverage(info, weights, order), abs=1e-12)


def test_gains_never_rise():
    _, gains = greedy_bank(*realistic_bank(700), 700)
    assert (np.diff(gains) <= 1e-15).all()


def test_infeasible_and_uninformative_rubrics_are_never_chosen():
    info, weights = realistic_bank(6)
    info[:, 2] = 0
    order, _ = greedy_bank(info, weights, 6, np.array([True, False, True, True, False, True]))
    assert sorted(order) == [0, 3, 5]


@pytest.mark.parametrize("budget", [0, 5])
def test_without_candidates_or_budget_the_bank_is_empty(budget):
    info, weights = np.zeros((41, 3)), utility_grid().weights
    order, gains = greedy_bank(info if budget else info + 1, weights, budget)
    assert order.size == gains.size == 0


def test_the_inputs_are_left_alone():
    info, weights = realistic_bank(300)
    feasible = np.ones(300, dtype=bool)
    before = info.copy(), weights.copy()
    greedy_bank(info, weights, 300, feasible)
    np.testing.assert_array_equal(info, before[0])
    np.testing.assert_array_equal(weights, before[1])
    assert feasible.all()


@pytest.mark.parametrize(
    ("info", "weights", "feasible", "sentence"),
    [
        (np.ones((3, 4)), np.ones(4), None, r"do not fit: give \(G, J\) and \(G,\)"),
        (np.ones((3, 4)), np.ones(3), np.ones(3, dtype=bool), "feasible must be 4 booleans"),
        (np.ones((3, 4)), np.ones(3), np.ones(4), r"not float64 of \(4,\)"),
        (np.full((3, 4), np.nan), np.ones(3), None, "info must be finite and at least 0"),
        (-np.ones((3, 4)), np.ones(3), None, "info must be finite and at least 0"),
        (
            np.ones((3, 4)),
            np.array([1.0, np.inf, 0.0]),
            None,
            "at least 0: give the weights",
        ),
    ],
)
def test_impossible_input_is_refused_in_one_sentence(info, weights, feasible, sentence):
    with pytest.raises(AssemblyError, match=sentence):
        greedy_bank(info, weights, 2, feasible)
