"""Orders chosen together are those chosen one by one, whatever the pools, rounds and ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crubric_core.bank import pairs_together as module
from crubric_core.bank.pairs import PairDistances, pair_distances
from crubric_core.bank.pairs_order import pairs_sequence
from crubric_core.bank.pairs_together import pairs_sequences
from tests import oracles
from tests.bank.test_item_posterior import table


@st.composite
def several(draw):
    """A few searches over the same rubrics: each has kinds, ties, copies and a mask of its own."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    folds, n = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    found = []
    for _ in range(folds):
        kinds = int(rng.integers(1, 6))
        scale = 10.0 ** rng.integers(-30, 3)
        rows = scale * rng.choice([0.0, 0.05, 0.3, 1.0], (kinds, 4)) * rng.uniform(0.5, 1.5, (kinds, 4))
        found.append(PairDistances(rows, rng.integers(0, kinds, n), np.full(4, 0.25), np.zeros(12)))
    return found, rng.integers(0, draw(st.integers(1, 4)), n), rng.random((folds, n)) < 0.8


@given(several(), st.integers(0, 13), st.integers(0, 13), st.sampled_from([1, 2, 256]))
def test_every_order_is_the_naive_one(searches, budget, known, pool):
    distances, query, feasible = searches
    expected = [
        oracles.naive_pairs_order(d.rows[d.row], d.weights, query, mask, budget)
        for d, mask in zip(distances, feasible, strict=True)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "POOL", pool)
        whole = pairs_sequences(distances, query, feasible, budget)
        assert [order.tolist() for order in whole] == expected
        on = pairs_sequences(distances, query, feasible, budget, [order[:known] for order in whole])
    assert [order.tolist() for order in on] == expected


@pytest.mark.parametrize("separate", [0.4, 30.0])
def test_on_a_table_of_labels_they_are_those_of_one_search_each_and_progress_is_told(separate):
    y, theta, _ = table(9, 300, missing=0.05)
    distances, masks = [], []
    for fold in range(9):
        others = np.arange(9) != fold
        found = pair_distances(y[others], separate * theta[others], np.full(8, 0.3))
        distances.append(found)
        masks.append(np.arange(300) % 9 != fold)
    query, told = np.arange(300) // 7, []
    found = pairs_sequences(distances, query, np.array(masks), 250, tell=told.append)
    for d, mask, order in zip(distances, masks, found, strict=True):
        assert order.tolist() == pairs_sequence(d, query, mask, 250).tolist()
    assert told == sorted(told)
    assert len(told) >= 3
