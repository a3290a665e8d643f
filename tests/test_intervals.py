from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from crubric_core.intervals import (
    cluster_sums,
    coefficient_interval,
    difference_interval,
    disjoint_pairs,
    effective_clusters,
    effective_clusters_of_each,
    exact_binomial_interval,
    jackknife_half_width,
    share_interval,
)


def clusters(shares, size, rng):
    """(2, 1 + size) means of paired trials over ``size`` clusters, then the means without each cluster."""
    latent = rng.normal(size=size)
    met = np.array([latent < stats.norm.ppf(share) for share in shares]).astype(float)
    met[1] = np.where(rng.random(size) < 0.5, met[1], rng.random(size) < shares[1])
    total = met.sum(axis=1, keepdims=True)
    return np.hstack([total / size, (total - met) / (size - 1)])


def test_sums_of_clusters_are_those_of_their_rows_also_of_clusters_without_any() -> None:
    values, cluster = np.arange(12.0).reshape(4, 3), np.array([2, 0, 2, 0])
    assert cluster_sums(values, cluster).tolist() == [[12, 14, 16], [0, 0, 0], [6, 8, 10]]
    assert cluster_sums(values[:, 0], cluster, 4).tolist() == [12, 0, 6, 0]
    assert cluster_sums(np.empty((0, 2)), np.empty(0, dtype=int)).shape == (0, 2)


@pytest.mark.parametrize("met", [1, 5, 29])
def test_a_share_of_independent_trials_has_nearly_their_exact_interval(met):
    """One trial a cluster: as many effective trials as clusters, but for Student's t and n - 1."""
    x = np.arange(30) < met
    left = (x.sum() - x) / 29
    low, high = share_interval(x.mean(), left, 30, 0.95)
    exact = stats.binomtest(met, 30).proportion_ci()
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=0.02)
    assert low <= exact.low
    assert high >= exact.high


def test_a_share_without_spread_has_its_trials_and_one_of_nothing_is_unknown():
    exact = stats.binomtest(7, 7).proportion_ci().low
    assert share_interval(1.0, np.ones(15), 7, 0.95) == pytest.approx((exact, 1.0))
    assert np.isnan(share_interval(np.nan, np.full(4, np.nan), 0, 0.95)).all()


@given(st.integers(0, 10_000))
def test_disjoint_pairs_share_no_cluster_and_none_can_be_added(seed):
    rng = np.random.default_rng(seed)
    pairs = rng.random((7, 7)) < 0.3
    pairs = (pairs | pairs.T) & ~np.eye(7, dtype=bool)
    edges = list(zip(*np.nonzero(np.triu(pairs)), strict=True))

    def sizes(chosen, rest):
        free = [edge for edge in rest if not set(edge) & set(chosen)]
        if not free:
            return {len(chosen) // 2}
        return set().union(*(sizes((*chosen, *edge), free) for edge in free[:3]))

    largest = max(sizes((), edges))
    found = disjoint_pairs(pairs)
    assert 2 * found >= largest
    assert found <= min(3, len(edges))


def test_far_from_0_and_1_a_difference_of_many_clusters_has_the_jackknifes_interval():
    values = clusters((0.5, 0.4), 4000, np.random.default_rng(0))
    ends = [(row[0], *share_interval(row[0], row[1:], 4000, 0.95)) for row in values]
    low, high = difference_interval(ends[0], ends[1], values[:, 1:])
    half = jackknife_half_width(values[0, 1:] - values[1, 1:], 0.95)
    assert (high - low) / 2 == pytest.approx(half, rel=0.02)


def test_a_difference_has_the_errors_of_both_and_less_where_they_go_together():
    first, other = (0.9, 0.7, 0.96), (0.8, 0.6, 0.9)
    x = np.random.default_rng(1).normal(size=9)
    alone = difference_interval(first, other, np.stack([x, np.zeros(9)]))
    assert alone == pytest.approx((0.1 - np.hypot(0.2, 0.1), 0.1 + np.hypot(0.06, 0.2)))
    together = difference_interval(first, other, np.stack([x, 2 * x + 1]))
    assert together == pytest.approx((0.1 - 0.1, 0.1 + 0.14))
    against = difference_interval(first, other, np.stack([x, -x]))
    assert against == pytest.approx((0.7 - 0.9, 0.96 - 0.6))
    assert difference_interval(other, first, np.stack([x, -x])) == pytest.approx((-against[1], -against[0]))


def test_an_unknown_share_has_an_unknown_difference_and_a_cluster_unknown_to_one_is_left_out():
    unknown = (np.nan, np.nan, np.nan)
    assert np.isnan(difference_interval((0.5, 0.2, 0.8), unknown, np.full((2, 5), np.nan))).all()
    left = np.random.default_rng(2).normal(size=(2, 6))
    gap = np.column_stack([left, [0.3, np.nan]])
    args = (0.9, 0.7, 0.96), (0.8, 0.6, 0.9)
    assert difference_interval(*args, gap) == difference_interval(*args, left)


def test_the_exact_interval_is_scipys():
    exact = stats.binomtest(3, 11).proportion_ci(confidence_level=0.9)
    assert exact_binomial_interval(3, 11, 0.9) == pytest.approx((exact.low, exact.high))


def test_a_share_tells_no_more_than_the_pairs_that_there_are():
    left = 0.5 + 1e-6 * np.arange(5)
    found = share_interval(0.5, left, trials=2, confidence=0.95, most=10)
    assert found == pytest.approx(stats.binomtest(5, 10).proportion_ci(0.95, "exact"))


def test_clusters_of_unequal_size_have_the_degrees_of_freedom_of_as_many_as_they_are_worth():
    left = np.random.default_rng(3).normal(0.7, 0.01, 9)
    half = jackknife_half_width(left, 0.95)
    wider = jackknife_half_width(left, 0.95, clusters=3.5)
    assert wider / half == pytest.approx(stats.t.ppf(0.975, 2.5) / stats.t.ppf(0.975, 8))
    assert jackknife_half_width(left, 0.95, clusters=9) == half
    of_each = jackknife_half_width(np.stack([left, left], axis=1), 0.95, clusters=np.array([3.5, 9.0]))
    assert of_each.tolist() == [wider, half]
    ends = [share_interval(0.7, left, 9, 0.95, clusters=clusters) for clusters in (None, 9.0, 3.5)]
    assert ends[0] == ends[1]
    assert ends[2][0] < ends[0][0] < ends[0][1] < ends[2][1]


def test_a_coefficient_without_spread_has_the_exact_interval_stretched_to_its_range():
    exact = stats.binomtest(9, 9).proportion_ci().low
    ends = coefficient_interval(1.0, np.ones(9), 9, 0.95, clusters=9)
    assert ends == pytest.approx((2 * exact - 1, 1.0))


def test_clusters_are_worth_their_number_only_where_they_are_alike():
    assert effective_clusters(np.full(7, 3.0)) == pytest.approx(7)
    assert effective_clusters(np.array([4.0, 1.0, 1.0])) == pytest.approx(36 / 18)
    assert effective_clusters(np.array([5.0, 0.0])) == pytest.approx(1)
    assert effective_clusters(np.array([])) == 0
    assert effective_clusters_of_each(np.array([[4.0, 3.0], [1.0, 3.0], [1.0, 3.0]])) == pytest.approx([2, 3])
