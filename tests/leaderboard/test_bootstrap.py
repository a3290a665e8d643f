from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crubric_core.intervals import percentile_interval
from crubric_core.leaderboard.bootstrap import draw_counts, draw_weights


@given(st.lists(st.integers(-2, 5), max_size=30), st.integers(0, 3))
def test_each_replicate_draws_as_many_rubrics_of_each_query_as_it_has(queries, seed):
    query_index = np.array(queries, dtype=np.int64)
    counts = draw_counts(query_index, 4, np.random.default_rng(seed))
    assert counts.shape == (4, len(queries))
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


class TestRescaled:
    """The rescaled bootstrap has the variance that sampling rubrics within queries has."""

    def variance_of_the_mean(self, kind, queries, values, replicates=40_000):
        weights = draw_weights(queries, replicates, np.random.default_rng(0), kind)
        return (weights @ values / len(values)).var()

    @pytest.mark.parametrize("n", [2, 3, 5])
    def test_its_variance_is_unbiased_where_the_plain_one_lacks_a_share(self, n):
        rng = np.random.default_rng(1)
        queries, values = np.repeat(np.arange(40), n), rng.normal(size=40 * n)
        within = values.reshape(40, n)
        expected = (within.var(axis=1, ddof=1) * n).sum() / len(values) ** 2
        assert self.variance_of_the_mean("rescaled", queries, values) == pytest.approx(expected, rel=0.05)
        assert self.variance_of_the_mean("plain", queries, values) == pytest.approx(
            expected * (n - 1) / n, rel=0.05
        )

    def test_single_rubrics_share_a_stratum_instead_of_being_certain(self):
        values = np.random.default_rng(2).normal(size=30)
        queries = np.arange(30)
        assert self.variance_of_the_mean("plain", queries, values) == 0
        expected = values.var(ddof=1) / 30
        assert self.variance_of_the_mean("rescaled", queries, values) == pytest.approx(expected, rel=0.05)

    @given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.sampled_from(["plain", "rescaled"]))
    def test_each_replicate_weighs_as_much_as_the_bank(self, queries, kind):
        weights = draw_weights(np.array(queries), 7, np.random.default_rng(3), kind)
        np.testing.assert_allclose(weights.sum(axis=1), len(queries))
        assert (weights >= 0).all()
