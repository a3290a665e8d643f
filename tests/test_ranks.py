"""Spearman's rank correlation and its p-value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from crubric_core.ranks import _share_in_order, rank_correlation, spearman_p
from tests import oracles


@pytest.mark.parametrize("systems", [5, 80])
def test_rank_correlation_is_spearmans_with_mean_ranks(systems):
    rng = np.random.default_rng(0)
    values, reference = rng.integers(0, systems, (2, 6, systems)).astype(float)
    reference[0, 1] = np.nan
    values[2] = 1.0
    found = rank_correlation(values, reference[0])
    known = np.isfinite(reference[0])
    for row, rho in zip(values, found, strict=True):
        expected = oracles.naive_spearman(row[known], reference[0][known])
        assert rho == pytest.approx(expected, nan_ok=True)
    of_orders = stats.permutation_test(
        (values[0][known],),
        lambda x: stats.spearmanr(x, reference[0][known])[0],
        permutation_type="pairings",
        n_resamples=1000,
    ).pvalue
    p = of_orders if systems == 5 else stats.spearmanr(values[0][known], reference[0][known])[1]
    assert spearman_p(values[0][known], reference[0][known]) == pytest.approx(p)


@pytest.mark.parametrize("systems", [3, 4, 5, 8, 9])
def test_a_p_of_ranks_is_not_below_its_share_of_null_tables(systems):
    """The t approximation has p < .05 in 33% of three systems, and in 8% of four or five."""
    rng, reference = np.random.default_rng(systems), np.arange(float(systems))
    p = np.array([spearman_p(rng.normal(size=systems), reference) for _ in range(400)])
    for level in (0.01, 0.05, 0.2):
        assert (p <= level).mean() <= level + 3 * np.sqrt(level * (1 - level) / 400)
    assert spearman_p(reference[:3], reference[:3]) == pytest.approx(2 / 6)
    assert np.isnan(spearman_p(reference[:2], reference[:2]))
    assert spearman_p(np.arange(9.0), -np.arange(9.0)) == pytest.approx(2 / math.factorial(9))
    for ties in ([0, 1, 2, 3, 4], [0, 0, 1, 2, 2], [0, 0, 0, 1, 2]):
        few = np.array(ties, dtype=float)  # counted one by one, as more values would be by the formula
        assert spearman_p(few, few) == pytest.approx(_share_in_order(few))
    assert np.isnan(spearman_p(np.ones(4), np.arange(4.0)))
