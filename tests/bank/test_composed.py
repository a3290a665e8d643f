"""Pins, exclusions, bounds on groups and costs are kept exactly, at what they may cost in utility and no more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crubric_core.bank.assembly import order_bank
from crubric_core.bank.certificate import Knapsack, certify
from crubric_core.bank.composed import require_room
from crubric_core.bank.constraints import Constraints, Family, smallest_set
from crubric_core.bank.guarantee import HALF, WHOLE, guarantee, within
from crubric_core.bank.utility import Coverage
from crubric_core.errors import AssemblyError
from tests import oracles
from tests.bank.conftest import realistic_bank
from tests.bank.test_pairs_order import as_distances
from tests.tiers import examples

NONE = 99


def family(name, code, least=None, most=None):
    code = np.asarray(code)
    n = int(code.max()) + 1
    return Family(
        name,
        tuple(f"{name} {g}" for g in range(n)),
        code,
        np.array(least if least is not None else [0] * n),
        np.array(most if most is not None else [NONE] * n),
    )


def constraints(n, pins=(), exclusions=(), families=(), cost=None, cost_budget=None):
    masks = [np.isin(np.arange(n), list(rubrics)) for rubrics in (pins, exclusions)]
    names = tuple(f"r{j}" for j in range(n))
    return Constraints(
        names, *masks, tuple(families), None if cost is None else np.asarray(cost, float), cost_budget
    )


@st.composite
def problems(draw, most_families=2, costs=True):
    """A few rubrics in a few groups with all kinds of constraints, many of which cannot be met."""
    n = draw(st.integers(2, 7))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    info = rng.choice([0.25, 1.0, 3.0], (3, n)) * rng.uniform(0.5, 1.5, (3, n))
    families = []
    for k in range(draw(st.integers(0, most_families))):
        code = rng.integers(-1, 3, n)
        code[0] = 2
        least = np.array(draw(st.tuples(*[st.integers(0, 2)] * 3)))
        most = np.array(draw(st.tuples(*[st.sampled_from([1, 2, NONE])] * 3)))
        families.append(family(f"family {k}", code, np.minimum(least, most), most))
    marks = rng.random(n)
    pins, exclusions = np.flatnonzero(marks < 0.15), np.flatnonzero(marks > 0.85)
    cost = rng.choice([0.5, 1.0, 2.0, 3.0], n)
    budget = draw(st.sampled_from([None, 2.0, 4.0, 6.5])) if costs else None
    size = draw(st.integers(1, n))
    return info, constraints(n, pins, exclusions, families, cost, budget), size


def allowed_banks(asked, size):
    return oracles.composed_banks(
        len(asked.pinned),
        size,
        np.flatnonzero(asked.pinned).tolist(),
        np.flatnonzero(asked.excluded).tolist(),
        [(f.code.tolist(), f.least.tolist(), f.most.tolist()) for f in asked.families],
        asked.prices.tolist(),
        np.inf if asked.cost_budget is None else asked.cost_budget,
    )


def composed(strategy, info, asked, size=None, query=None, seed=0):
    n = info.shape[1]
    return order_bank(
        strategy,
        info,
        np.full(len(info), 1 / len(info)),
        np.ones(n, dtype=bool),
        np.random.default_rng(seed),
        distances=as_distances(info.T),
        query_index=np.zeros(n, dtype=int) if query is None else query,
        budget=size,
        constraints=asked,
    )


@given(problems(), st.sampled_from(["greedy", "pairs", "plain", "random", "hard_random"]))
@settings(max_examples=examples(150))
def test_a_composed_bank_keeps_every_constraint_or_says_which_cannot_be_met(problem, strategy):
    info, asked, size = problem
    possible = [bank for bank in allowed_banks(asked, size) if bank]
    try:
        found = composed(strategy, info, asked, query=np.arange(info.shape[1]) % 3)
        require_room(found, size)
    except AssemblyError:
        assert not possible
        return
    assert possible
    for budget in range(max(found.least, 1), len(found.order) + 1):
        assert within(asked, found.order[:budget])
    assert tuple(sorted(found.order[:size].tolist())) in possible


@given(problems(costs=False))
@settings(max_examples=examples(100))
def test_the_least_size_is_that_of_the_smallest_bank_that_meets_all_bounds(problem):
    info, asked, _ = problem
    banks = allowed_banks(asked, info.shape[1])
    every = np.ones(info.shape[1], dtype=bool)
    if not banks:
        with pytest.raises(AssemblyError):
            smallest_set(asked, every)
        return
    assert len(smallest_set(asked, every)) == min(map(len, banks))


@given(problems(most_families=1))
@settings(max_examples=examples(200))
def test_where_a_bound_is_stated_the_utility_reaches_it(problem):
    info, asked, size = problem
    banks = allowed_banks(asked, size)
    if not any(banks):
        return
    found = composed("greedy", info, asked)
    bank = found.order[:size]
    stated = guarantee("greedy", asked, size_binds=len(found.order) > size or len(bank) == size)
    weights = np.full(len(info), 1 / len(info))
    best = max(oracles.coverage(info, weights, bank) for bank in banks)
    reached = oracles.coverage(info, weights, bank)
    assert np.isnan(stated.share) or reached >= stated.share * best - 1e-12
    knapsack = None if asked.cost_budget is None else Knapsack(asked.prices, asked.cost_budget)
    proven = certify(Coverage(info, weights), found.order, size, ~asked.excluded, knapsack=knapsack)
    assert np.isnan(proven) or reached >= proven * best - 1e-12


@pytest.mark.parametrize("strategy", ["greedy", "pairs", "plain", "random", "hard_random"])
def test_constraints_that_ask_for_nothing_change_nothing(strategy):
    info, _ = realistic_bank(80, seed=3)
    query = np.arange(80) % 7
    plain = composed(strategy, info, None, query=query)
    asked = composed(strategy, info, constraints(80), query=query)
    assert asked.order.tolist() == plain.order.tolist()
    np.testing.assert_allclose(asked.utility, plain.utility, rtol=1e-12)


@pytest.mark.parametrize("strategy", ["greedy", "pairs"])
def test_pins_lead_and_the_choice_goes_on_from_them(strategy):
    info, _ = realistic_bank(60, seed=1)
    found = composed(strategy, info, constraints(60, pins=[7, 31], exclusions=[4]))
    assert found.least == 2
    assert set(found.order[:2].tolist()) == {7, 31}
    assert 4 not in found.order
    assert len(found.order) == 59


def test_the_balance_over_queries_counts_the_pins():
    info, _ = realistic_bank(12, seed=2)
    query = np.arange(12) // 4
    order = composed("pairs", info, constraints(12, pins=[0, 1]), query=query).order
    assert sorted(query[order[2:4]].tolist()) == [1, 2]
    assert sorted(query[order[4:6]].tolist()) == [1, 2]


def test_a_bound_on_one_group_is_met_first_and_the_order_stays_nested():
    info, _ = realistic_bank(40, seed=5)
    law = family("domain", np.arange(40) % 2, least=[0, 6])
    found = composed("greedy", info, constraints(40, families=[law]))
    assert found.least == 6
    assert (law.code[found.order[:6]] == 1).all()
    for size in (6, 9, 20):
        again = composed("greedy", info, constraints(40, families=[law]), size)
        assert again.order.tolist() == found.order[:size].tolist()


def test_a_budget_in_cost_buys_more_where_gain_for_cost_counts():
    """One dear rubric that is a little better than each of ten cheap ones."""
    info = np.array([[1.2, *[1.0] * 10]])
    asked = constraints(11, cost=[10.0, *[1.0] * 10], cost_budget=10.0)
    found = composed("greedy", info, asked)
    assert sorted(found.order.tolist()) == list(range(1, 11))


def test_a_budget_in_cost_does_not_fall_for_one_cheap_rubric():
    """By gain for cost alone the cheap rubric would leave no room for one that is worth a hundred of it."""
    info = np.array([[0.02, 100.0]])
    asked = constraints(2, cost=[0.001, 10.0], cost_budget=10.0)
    assert composed("greedy", info, asked).order.tolist() == [1]


TWO = [0, 0, 1, 1]
NEEDS_TWO = family("domain", TWO, least=[2, 0])
MISSED = "At least 2 of the domain 'domain 0' cannot be met"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            {"families": [family("domain", TWO, least=[3, 0])], "exclusions": [0]},
            "At least 3 of the domain 'domain 0' cannot be met: 1 rubric of it can be chosen.",
        ),
        (
            {"families": [family("query", TWO, most=[1, 9])], "pins": [0, 1]},
            "At most 1 of the query 'query 0' cannot hold: 2 of them are pinned.",
        ),
        (
            {"cost": [3, 3, 3, 3], "cost_budget": 5.0, "pins": [0, 1]},
            "The budget of 5 in cost cannot hold: the pinned rubrics alone cost 6.",
        ),
        (
            {"families": [NEEDS_TWO], "cost": [3, 3, 1, 1], "cost_budget": 5.0},
            f"{MISSED} within a cost of 5 and with the other bounds.",
        ),
        (
            {"families": [NEEDS_TWO, family("query", TWO, most=[1, 9])]},
            f"{MISSED} together with the other bounds: raise an upper one or lower another.",
        ),
    ],
)
def test_what_cannot_be_met_is_named_in_one_sentence(asked, said):
    info, _ = realistic_bank(4)
    with pytest.raises(AssemblyError) as error:
        composed("greedy", info, constraints(4, **asked))
    assert str(error.value) == said


def test_a_bank_too_small_for_what_it_must_hold_says_how_many_it_needs():
    info, _ = realistic_bank(6)
    found = composed("greedy", info, constraints(6, pins=[0, 1, 2]))
    require_room(found, 3)
    with pytest.raises(
        AssemblyError, match="B = 2 is too small: pins and lower bounds together need 3 rubrics"
    ):
        require_room(found, 2)


def test_without_enough_rubrics_a_relaxed_order_meets_bounds_as_far_as_they_go():
    info, _ = realistic_bank(4)
    asked = constraints(4, families=[family("domain", [0, 0, 1, 1], least=[3, 1])])
    every = np.ones(4, dtype=bool)
    found = order_bank(
        "greedy", info, np.full(41, 1 / 41), every, np.random.default_rng(0),
        constraints=asked, relaxed=True,
    )  # fmt: skip
    assert found.least == 3
    assert sorted(found.order[:3].tolist())[:2] == [0, 1]


def test_bounds_are_stated_where_they_hold_and_nowhere_else():
    asked = constraints(4)
    bounded = replace(asked, families=(family("domain", [0, 0, 1, 1], least=[1, 1]),))
    crossed = replace(bounded, families=(*bounded.families, family("dimension", [0, 1, 0, 1], most=[1, 1])))
    priced = replace(asked, cost=np.ones(4), cost_budget=2.0)
    assert guarantee("greedy", asked).share == pytest.approx(WHOLE)
    assert guarantee("greedy", bounded).share == HALF
    assert guarantee("greedy", priced, size_binds=False).share == pytest.approx(WHOLE / 2)
    for strategy, other in (("greedy", crossed), ("greedy", priced), ("pairs", asked), ("random", asked)):
        assert np.isnan(guarantee(strategy, other).share)
