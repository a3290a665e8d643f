from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crubric_core.leaderboard.bootstrap import draw_counts, percentile_interval


@given(st.lists(st.integers(-2, 5), max_size=30), st.integers(0, 3))
def test_each_replicate_draws_as_many_rubrics_of_each_query_as_it_has(queries, seed):
    query_index = np.array(queries, dtype=np.int64)
    counts = draw_counts(query_index, 4, np.random.default_rng(seed))
    assert counts.shape == (4, len(queries))
    assert counts.min(initial=0) >= 0
    for query in set(queries):
        members = query_index == query
        assert (counts[:, members].sum(axis=1) == members.sum()).all()


def test_draws_are_uniform_with_replacement_within_the_query():
    query_index = np.array([1, 0, 1, 1, 0, 1, 1, 1, 2, 1])
    counts = draw_counts(query_index, 40_000, np.random.default_rng(0))
    np.testing.assert_allclose(counts.mean(axis=0), 1.0, atol=0.02)
    size = np.bincount(query_index)[query_index]
    np.testing.assert_allclose(counts.var(axis=0), 1 - 1 / size, atol=0.03)
    pair = np.cov(counts[:, 0], counts[:, 2])[0, 1]
    np.testing.assert_allclose(pair, -1 / 7, atol=0.02)
    np.testing.assert_allclose(np.cov(counts[:, 0], counts[:, 1])[0, 1], 0, atol=0.02)


def test_the_same_seed_gives_the_same_draws():
    query_index = np.repeat(np.arange(5), 4)
    draws = [draw_counts(query_index, 6, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert (draws[0] != draws[2]).any()


def test_the_interval_cuts_equal_tails():
    draws = np.arange(101, dtype=float)[:, None] * [1.0, -1.0]
    low, high = percentile_interval(draws, 0.9)
    np.testing.assert_allclose(low, [5, -95])
    np.testing.assert_allclose(high, [95, -5])


def test_a_system_with_an_unknown_draw_has_no_interval():
    low, high = percentile_interval(np.array([[1.0, np.nan], [2.0, 3.0]]), 0.9)
    np.testing.assert_array_equal(np.isnan(low), [False, True])
    np.testing.assert_array_equal(np.isnan(high), [False, True])
