from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from crubric_core.bank.item_posterior import BEYOND, LOG_A, N_DIFFICULTIES
from crubric_core.bank.pairs import PairDistances, ability_nodes, pair_distances, spread_out
from crubric_core.errors import AssemblyError
from tests import oracles
from tests.bank.test_item_posterior import OFFSETS, table


@pytest.mark.parametrize("levels", [2, 4])
def test_the_distances_are_those_of_every_pair_and_rubric_in_turn(levels):
    y, theta, steps = table(4, 3, missing=0.15, levels=levels)
    found = pair_distances(y, theta, np.full(4, 0.3), np.full(3, levels), steps)
    offsets = np.zeros(1) if levels == 2 else OFFSETS
    grid = np.linspace(theta.min() - BEYOND, theta.max() + BEYOND, N_DIFFICULTIES)
    posterior, _, _ = oracles.naive_item_posterior(y, theta, lambda b, j: b + offsets, LOG_A, grid)
    nodes = ability_nodes(theta, np.full(4, 0.3))
    expected = oracles.naive_pair_distances(y, theta, nodes, posterior, lambda b, j: b + offsets)
    np.testing.assert_allclose(found.totals(np.arange(3)), expected, rtol=1e-8, atol=1e-12)


def test_future_and_present_pairs_weigh_one_half_each():
    y, theta, _ = table(9, 20)
    found = pair_distances(y, theta, np.full(9, 0.2))
    assert found.rows.shape[1] == 66 + 36
    assert found.weights[:66].sum() == pytest.approx(0.5)
    assert found.weights[66:].sum() == pytest.approx(0.5)


def test_nodes_are_the_quantiles_of_the_smoothed_posterior_mixture():
    theta, sd = np.random.default_rng(0).normal(size=17), np.random.default_rng(1).uniform(0.1, 0.6, 17)
    h = 0.9 * min(theta.std(ddof=1), np.subtract(*np.quantile(theta, [0.75, 0.25])) / 1.34) * 17**-0.2
    nodes = ability_nodes(theta, sd)
    below = ndtr((nodes[:, None] - theta) / np.sqrt(h**2 + sd**2)).mean(axis=1)
    np.testing.assert_allclose(below, (np.arange(12) + 0.5) / 12, atol=1e-12)


def test_abilities_that_mostly_tie_still_give_different_nodes():
    nodes = ability_nodes(np.array([0.0] * 9 + [2.0]), np.full(10, 1e-6))
    assert (np.diff(nodes) > 0).all()


def test_above_forty_systems_forty_at_equally_spaced_ranks_stand_for_all():
    theta = np.random.default_rng(3).normal(size=400)
    chosen = spread_out(theta)
    assert np.argsort(np.argsort(theta))[chosen].tolist() == list(range(5, 400, 10))
    y, theta, _ = table(60, 10)
    assert pair_distances(y, theta, np.full(60, 0.2)).rows.shape[1] == 66 + 780


@given(st.floats(0, 60))
def test_the_utility_of_a_pair_is_close_to_its_normal_integral(x):
    one_pair = PairDistances(np.array([[x]]), np.zeros(1, dtype=np.int64), np.ones(1), np.zeros(1))
    assert float(one_pair.value(np.array([x]))) == pytest.approx(ndtr(np.sqrt(x)) - 0.5, abs=0.0032)


def test_swapping_pass_and_fail_everywhere_changes_no_utility():
    y, theta, _ = table(8, 30, missing=0.1)
    sd = np.full(8, 0.3)
    here, there = pair_distances(y, theta, sd), pair_distances(1 - y, -theta, sd)
    for rubrics in (np.arange(1), np.arange(3), np.arange(30)):
        values = [d.value(d.totals(rubrics).sum(axis=0)) for d in (here, there)]
        assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_a_rubric_that_separates_by_ability_has_larger_distances_than_one_at_chance():
    theta = np.linspace(-1.5, 1.5, 20)
    rng = np.random.default_rng(0)
    sharp, chance = (theta > 0).astype(float), (rng.permutation(20) % 2).astype(float)
    found = pair_distances(np.column_stack([sharp, chance]), theta, np.full(20, 0.2))
    values = found.value(found.totals(np.arange(2)))
    assert values[0] > 1.5 * values[1]


def test_a_system_without_labels_takes_no_part():
    y, theta, _ = table(9, 20)
    more, sd = np.vstack([y, np.full(20, np.nan)]), np.full(9, 0.2)
    found = pair_distances(more, np.append(theta, np.nan), np.append(sd, np.nan))
    np.testing.assert_array_equal(found.rows, pair_distances(y, theta, sd).rows)


def test_one_system_has_no_pairs():
    with pytest.raises(AssemblyError, match="at least 2 systems"):
        pair_distances(np.ones((2, 3)), np.array([0.0, np.nan]), np.ones(2))


def test_gains_keep_their_digits_where_nearly_every_pair_is_settled():
    rows = np.array([[40.0], [1e-3]])
    distances = PairDistances(rows, np.arange(2), np.ones(1), np.zeros(1))
    gain = distances.gains(distances.prepared(np.array([1])), rows[0])
    # F'(x) d = ½ · e^(-cx) c d / (2 √(1 - e^(-cx))), c = 2/π
    c = 2 / np.pi
    assert gain[0] == pytest.approx(0.25 * np.exp(-40 * c) * c * 1e-3, rel=1e-3)
