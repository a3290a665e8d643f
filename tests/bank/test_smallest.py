from __future__ import annotations

import numpy as np
import pytest

from crubric_core.bank.assembly import order_bank
from crubric_core.bank.smallest import (
    first_reaching,
    smallest_for_standard_error,
    smallest_for_utility,
    standard_error,
)
from tests import oracles
from tests.bank.conftest import realistic_bank


@pytest.fixture
def bank():
    info, weights = realistic_bank(80)
    everything = np.ones(80, dtype=bool)
    order = order_bank("greedy", info, weights, everything, everything, everything, np.random.default_rng(0))
    return info, weights, order


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9, 0.999, 1.0])
def test_one_rubric_fewer_would_not_have_the_share_of_the_utility(bank, share):
    info, weights, order = bank
    least = smallest_for_utility(order.utility, info.sum(axis=1), weights, share)
    target = share * oracles.coverage(info, weights, range(80))
    assert oracles.coverage(info, weights, order.order[:least]) >= target - 1e-9
    assert least == 1 or oracles.coverage(info, weights, order.order[: least - 1]) < target


def test_an_order_that_holds_only_some_rubrics_may_never_reach_the_share(bank):
    info, weights, order = bank
    assert smallest_for_utility(order.utility[:10], info.sum(axis=1), weights, 0.99) is None


def test_the_standard_error_is_that_of_the_worst_ability(bank):
    info, _, order = bank
    errors = standard_error(info[10:31], order.order)
    for size in (1, 7, 80):
        worst = min(sum(info[node, j] for j in order.order[:size]) for node in range(10, 31))
        assert errors[size - 1] == pytest.approx(worst**-0.5)
    assert (np.diff(errors) <= 0).all()


def test_the_smallest_bank_for_a_standard_error_is_the_first_that_reaches_it(bank):
    info, _, order = bank
    errors = standard_error(info, order.order)
    least = smallest_for_standard_error(info, order.order, 1.0)
    assert errors[least - 1] <= 1.0 < errors[least - 2]
    assert smallest_for_standard_error(info, order.order, 1e-6) is None


def test_without_information_at_some_ability_the_error_is_infinite():
    info = np.array([[1.0, 3.0], [0.0, 4.0]])
    assert standard_error(info, np.array([0, 1])).tolist() == [np.inf, 0.5]


def test_a_target_may_be_reached_at_once_or_never():
    values = np.array([0.2, 0.9, 0.5])
    assert first_reaching(values, 0.1) == 1
    assert first_reaching(values, 0.9) == 2
    assert first_reaching(values, 0.95) is None
    assert first_reaching(np.array([np.nan, 0.95]), 0.95) == 2
    assert first_reaching(np.empty(0), 0.5) is None
