from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from crubric_core.bank.assembly import greedy_bank, order_bank, plain_bank, random_bank
from crubric_core.bank.pairs import pair_distances
from crubric_core.bank.pairs_order import pairs_order
from crubric_core.errors import AssemblyError
from tests import oracles
from tests.bank.conftest import realistic_bank, small_banks
from tests.bank.test_item_posterior import table

STRATEGIES = ("greedy", "plain", "random", "hard_random")


def ordered(strategy, n=50, seed=0, candidates=None):
    info, weights = realistic_bank(n)
    candidates = np.ones(n, dtype=bool) if candidates is None else candidates
    return order_bank(strategy, info, weights, candidates, np.random.default_rng(seed))


@given(small_banks())
def test_plain_takes_the_largest_mean_information_first(bank):
    info, weights, feasible = bank
    order, gains = plain_bank(info, weights, info.shape[1], feasible)
    mean = [sum(w * x for w, x in zip(weights, column, strict=True)) for column in info.T]
    candidates = [j for j in range(info.shape[1]) if feasible[j] and info[:, j].any()]
    assert order.tolist() == sorted(candidates, key=lambda j: (-mean[j], j))
    assert gains.sum() == pytest.approx(oracles.coverage(info, weights, order), abs=1e-12)


def test_plain_ignores_what_is_covered_and_greedy_does_not():
    info = np.array([[2.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    weights = np.array([0.5, 0.5])
    assert plain_bank(info, weights, 2)[0].tolist() == [0, 1]
    assert greedy_bank(info, weights, 2)[0].tolist() == [0, 2]


def test_a_random_bank_draws_candidates_without_replacement():
    candidates = np.arange(20) % 2 == 0
    bank = random_bank(candidates, 6, np.random.default_rng(0))
    assert len(set(bank)) == 6
    assert candidates[bank].all()
    assert sorted(random_bank(candidates, 99, np.random.default_rng(0))) == list(range(0, 20, 2))


def test_random_draws_depend_on_the_generator_alone():
    assert ordered("random", seed=3).order.tolist() == ordered("random", seed=3).order.tolist()
    assert ordered("random", seed=3).order.tolist() != ordered("random", seed=4).order.tolist()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_strategy_orders_all_candidates(strategy):
    candidates = np.random.default_rng(5).random(50) < 0.5
    assert sorted(ordered(strategy, candidates=candidates).order) == np.flatnonzero(candidates).tolist()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_utility_and_gains_are_those_of_every_prefix(strategy):
    info, weights = realistic_bank(50)
    bank = ordered(strategy)
    expected = [oracles.coverage(info, weights, bank.order[:size]) for size in range(1, 51)]
    np.testing.assert_allclose(bank.utility, expected, rtol=1e-12)
    np.testing.assert_allclose(bank.gains, np.diff(expected, prepend=0.0), atol=1e-12)


def test_the_orders_of_greedy_and_plain_are_those_of_their_banks():
    info, weights = realistic_bank(50)
    order, gains = greedy_bank(info, weights, 50)
    assert ordered("greedy").order.tolist() == order.tolist()
    assert ordered("greedy").gains.tolist() == gains.tolist()
    assert ordered("plain").order.tolist() == plain_bank(info, weights, 50)[0].tolist()


def test_no_strategy_of_one_step_beats_greedy_at_the_first_rubric_and_all_end_alike():
    banks = {strategy: ordered(strategy) for strategy in STRATEGIES}
    assert max(bank.utility[0] for bank in banks.values()) == banks["greedy"].utility[0]
    assert len({round(bank.utility[-1], 9) for bank in banks.values()}) == 1


@pytest.mark.parametrize(
    ("strategy", "remedy"),
    [
        ("greedy", "lower τ_c"),
        ("plain", "lower τ_c"),
        ("random", "All systems are alike"),
        ("hard_random", "choose pairs"),
    ],
)
def test_a_strategy_without_candidates_says_what_to_do(strategy, remedy):
    with pytest.raises(AssemblyError, match=remedy):
        ordered(strategy, candidates=np.zeros(50, dtype=bool))


def pairs_ordered(**given_):
    y, theta, _ = table(7, 50)
    inputs = {
        "distances": pair_distances(y, theta, np.full(7, 0.3)),
        "query_index": np.arange(50) % 9,
        "candidates": np.ones(50, dtype=bool),
    } | given_
    info, weights = realistic_bank(50)
    return order_bank("pairs", info, weights, rng=np.random.default_rng(0), **inputs), inputs


def test_pairs_orders_the_candidates():
    candidates = np.random.default_rng(5).random(50) < 0.5
    found, inputs = pairs_ordered(candidates=candidates)
    expected = pairs_order(inputs["distances"], inputs["query_index"], candidates)
    assert found.order.tolist() == expected.order.tolist()
    assert sorted(found.order) == np.flatnonzero(candidates).tolist()
    assert pairs_ordered(budget=6)[0].order.size == 6


def test_pairs_without_candidates_or_distances_says_what_is_missing():
    with pytest.raises(AssemblyError, match="lower τ_c"):
        pairs_ordered(candidates=np.zeros(50, dtype=bool))
    with pytest.raises(AssemblyError, match="needs the distances"):
        pairs_ordered(distances=None)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_budget_gives_the_beginning_of_the_whole_order(strategy):
    info, weights = realistic_bank(50)
    every = np.ones(50, dtype=bool)
    short = order_bank(strategy, info, weights, every, np.random.default_rng(0), budget=7)
    assert short.order.tolist() == ordered(strategy).order[:7].tolist()
