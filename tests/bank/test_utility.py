from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import norm

from crubric_core.bank.utility import coverage_utility, row_gains, utility_grid
from tests import oracles
from tests.bank.conftest import realistic_bank, small_banks


def test_the_default_grid_is_the_papers():
    grid = utility_grid()
    np.testing.assert_allclose(grid.theta, np.linspace(-4, 4, 41), atol=1e-12)
    density = norm.pdf(np.linspace(-4, 4, 41))
    np.testing.assert_allclose(grid.weights, density / density.sum(), rtol=1e-12)


def test_the_range_grows_by_whole_steps_until_it_holds_every_difficulty_and_ability():
    grid = utility_grid(difficulty=[[0.0, 4.3], [np.nan, 1.0]], theta=[-4.81, 0.0])
    np.testing.assert_allclose(np.diff(grid.theta), 0.2, atol=1e-12)
    assert grid.theta[0] == pytest.approx(-5.0)
    assert grid.theta[-1] == pytest.approx(4.4)
    assert grid.weights.sum() == pytest.approx(1.0)


def test_a_difficulty_on_the_last_node_adds_none():
    assert utility_grid(difficulty=[4.0, -4.0]).theta.size == 41


def test_an_absurd_difficulty_stretches_the_grid_only_to_where_weights_vanish():
    grid = utility_grid(difficulty=[1e6, -1e6])
    assert grid.theta[[0, -1]] == pytest.approx([-12.0, 12.0])


@given(small_banks())
def test_utility_is_zero_at_the_empty_bank_monotone_and_submodular(bank):
    info, weights, _ = bank
    n = info.shape[1]

    def utility(rubrics):
        return float(coverage_utility(info[:, list(rubrics)].sum(axis=1), weights))

    assert utility([]) == 0
    for new in range(n):
        gains = [utility([*range(k), new]) - utility(range(k)) for k in range(new + 1)]
        assert min(gains) >= -1e-12
        assert all(later <= earlier + 1e-12 for earlier, later in pairwise(gains))


@given(small_banks())
def test_a_gain_is_the_difference_of_two_utilities(bank):
    info, weights, _ = bank
    covered = info[:, 0]
    gains = row_gains(info.T, weights, 1 + covered)
    expected = [oracles.coverage(np.c_[covered, column], weights, [0, 1]) for column in info.T]
    np.testing.assert_allclose(gains, np.array(expected) - oracles.coverage(info, weights, [0]), atol=1e-12)


def test_a_gain_has_the_same_bits_in_every_block():
    info, weights = realistic_bank(500)
    rows, base = info.T.copy(), 1 + info[:, :7].sum(axis=1)
    gains = row_gains(rows, weights, base)
    alone = [row_gains(rows[[j]], weights, base)[0] for j in range(500)]
    assert gains.tolist() == alone
    assert gains[::3].tolist() == row_gains(rows[::3], weights, base).tolist()
    assert gains.tolist() == row_gains(info.T, weights, base).tolist()
