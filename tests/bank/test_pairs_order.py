from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crubric_core.bank import pairs_order as module
from crubric_core.bank.pairs import PairDistances, pair_distances
from crubric_core.bank.pairs_order import pairs_order, pairs_sequence
from crubric_core.errors import AssemblyError
from tests import oracles
from tests.bank.test_item_posterior import table


def as_distances(rows, row=None):
    weights = np.full(rows.shape[1], 1 / rows.shape[1])
    return PairDistances(rows, np.arange(len(rows)) if row is None else row, weights, np.zeros(12))


@st.composite
def small_pools(draw, most=9):
    """A few rubrics of fewer kinds in a few queries, so that ties, copies and used-up queries are common."""
    kinds = draw(st.integers(1, 5))
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    rows = rng.choice([0.0, 0.05, 0.3, 1.0], (kinds, 4)) * rng.uniform(0.5, 1.5, (kinds, 4))
    n = draw(st.integers(1, most))
    row, query = rng.integers(0, kinds, n), rng.integers(0, draw(st.integers(1, 4)), n)
    return as_distances(rows, row), query, rng.random(n) < 0.8


@given(small_pools(), st.integers(0, 10))
def test_the_lazy_order_is_the_naive_one_ties_copies_and_balance_included(pool, budget):
    distances, query, feasible = pool
    rows = distances.rows[distances.row]
    expected = oracles.naive_pairs_order(rows, distances.weights, query, feasible, budget)
    assert pairs_order(distances, query, feasible, budget).order.tolist() == expected


@pytest.mark.parametrize("touch", [1e-9, 1.0])
def test_where_tangents_touch_changes_nothing(monkeypatch, touch):
    y, theta, _ = table(8, 90, missing=0.05)
    distances, query = pair_distances(y, theta, np.full(8, 0.3)), np.arange(90) // 7
    rows = distances.rows[distances.row]
    expected = oracles.naive_pairs_order(rows, distances.weights, query, np.ones(90, dtype=bool), 25)
    begin = module._search
    monkeypatch.setattr(
        module, "_search", lambda *args: begin(*args)._replace(touch=np.full(rows.shape[1], touch))
    )
    assert pairs_order(distances, query, budget=25).order.tolist() == expected


def test_the_loop_that_is_not_compiled_gives_the_same_order():
    """As on a machine without Numba."""
    script = (
        "import numpy as np; from tests.bank.test_pairs_order import as_distances, pairs_order;"
        "rows = np.random.default_rng(3).random((60, 5)).round(1);"
        "print(pairs_order(as_distances(rows), np.arange(60) // 4, budget=30).order.tolist())"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"NUMBA_DISABLE_JIT": off},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for off in ("0", "1")
    ]
    assert said[0] == said[1] != ""


def test_gains_and_utility_are_those_of_every_prefix():
    y, theta, _ = table(7, 40)
    distances = pair_distances(y, theta, np.full(7, 0.3))
    found = pairs_order(distances, np.arange(40) % 6)
    rows = distances.rows[distances.row]
    expected = [oracles.pair_utility(rows, distances.weights, found.order[: size + 1]) for size in range(40)]
    np.testing.assert_allclose(found.utility, expected, rtol=1e-10)
    np.testing.assert_allclose(found.gains, np.diff(expected, prepend=0), atol=1e-13)


def test_the_bank_of_a_smaller_budget_is_a_prefix():
    y, theta, _ = table(7, 60)
    distances, query = pair_distances(y, theta, np.full(7, 0.3)), np.arange(60) % 11
    whole = pairs_order(distances, query).order
    assert sorted(whole) == list(range(60))
    assert pairs_order(distances, query, budget=23).order.tolist() == whole[:23].tolist()


@given(small_pools(), st.integers(0, 10), st.integers(0, 10))
def test_an_order_that_was_begun_goes_on_as_if_it_had_not_stopped(pool, known, budget):
    distances, query, feasible = pool
    whole = pairs_sequence(distances, query, feasible)
    found = pairs_sequence(distances, query, feasible, budget, begun=whole[:known])
    assert found.tolist() == whole[:budget].tolist()


def test_no_query_is_used_a_second_time_before_all_that_have_rubrics_left():
    y, theta, _ = table(7, 60)
    query = np.repeat(np.arange(8), [1, 2, 3, 5, 9, 10, 12, 18])
    order = pairs_order(pair_distances(y, theta, np.full(7, 0.3)), query).order
    size = np.bincount(query)
    for end in range(1, 61):
        used = np.bincount(query[order[:end]], minlength=8)
        open_ = used < size
        assert used.max() <= (used[open_].min() + 1 if open_.any() else size.max())


def test_of_equal_rubrics_the_lowest_index_comes_first():
    rows = np.random.default_rng(0).random((3, 5))
    distances = as_distances(rows, np.random.default_rng(1).integers(0, 3, 200))
    order = pairs_order(distances, np.zeros(200, dtype=np.int64)).order
    for kind in range(3):
        mine = [j for j in order if distances.row[j] == kind]
        assert mine == sorted(mine)


def test_infeasible_rubrics_and_those_that_separate_nothing_stay_out():
    rows = np.array([[0.5, 0.1], [0.0, 0.0], [0.2, 0.2]])
    query = np.zeros(3, dtype=np.int64)
    assert pairs_order(as_distances(rows), query).order.tolist() == [0, 2]
    assert pairs_order(as_distances(rows), query, np.array([False, True, True])).order.tolist() == [2]
    assert pairs_order(as_distances(rows), query, np.zeros(3, dtype=bool)).order.size == 0


def test_masks_of_another_length_are_refused():
    with pytest.raises(AssemblyError, match="each of the 3 rubrics"):
        pairs_order(as_distances(np.ones((3, 2))), np.zeros(4, dtype=np.int64))


def test_rubrics_of_two_kinds_that_gain_the_same_come_in_their_own_order():
    distances = as_distances(np.array([[0.5, 0.1], [0.5, 0.1]]), np.array([1, 0]))
    assert pairs_order(distances, np.zeros(2, dtype=np.int64)).order.tolist() == [0, 1]
