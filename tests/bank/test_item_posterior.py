from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from crubric_core.bank.item_posterior import BEYOND, LOG_A, N_DIFFICULTIES, item_posterior
from crubric_core.errors import AssemblyError
from tests import oracles

OFFSETS = np.array([-1.0, 0.2, 0.8])


def table(n_systems, n_rubrics, seed=0, missing=0.0, levels=2):
    """Labels, abilities, and for graded rubrics thresholds that share one pattern of offsets."""
    rng = np.random.default_rng(seed)
    theta, b, a = (
        rng.normal(size=n_systems),
        rng.normal(0.5, 0.8, n_rubrics),
        np.exp(rng.normal(0, 0.3, n_rubrics)),
    )
    steps = b[:, None] + (np.zeros(1) if levels == 2 else OFFSETS)
    above = expit(a[:, None] * (theta[:, None, None] - steps))
    y = (rng.random((n_systems, n_rubrics, 1)) < above).sum(axis=2).astype(float)
    y[rng.random(y.shape) < missing] = np.nan
    return y, theta, steps


@pytest.mark.parametrize("levels", [2, 4])
def test_the_posterior_is_that_of_every_grid_point_in_turn(levels):
    y, theta, steps = table(6, 5, missing=0.1, levels=levels)
    found = item_posterior(y, theta, np.full(5, levels), steps)
    grid = np.linspace(theta.min() - BEYOND, theta.max() + BEYOND, N_DIFFICULTIES)
    offsets = np.zeros(1) if levels == 2 else OFFSETS
    expected, mean, variance = oracles.naive_item_posterior(y, theta, lambda b, j: b + offsets, LOG_A, grid)
    np.testing.assert_allclose(found.weights[found.row], np.array(list(expected.values())).T, atol=1e-10)
    np.testing.assert_allclose(np.exp([log_a for log_a, _ in expected]), found.slope)
    assert found.mean == pytest.approx(mean)
    assert found.sd**2 == pytest.approx(variance)


def test_a_rubric_without_labels_keeps_the_prior_of_the_others():
    y, theta, _ = table(30, 60)
    y[:, 7] = np.nan
    found = item_posterior(y, theta, np.full(60, 2))
    weights = found.weights[found.row[7]]
    assert weights @ np.log(found.slope) == pytest.approx(0, abs=1e-9)
    assert weights @ found.difficulty == pytest.approx(found.mean, abs=0.01)


@pytest.mark.parametrize("more", [60, 600])
def test_rubrics_without_labels_change_no_other_rubric(more):
    y, theta, _ = table(30, 60)
    alone = item_posterior(y, theta, np.full(60, 2))
    found = item_posterior(np.hstack([y, np.full((30, more), np.nan)]), theta, np.full(60 + more, 2))
    assert (found.mean, found.sd) == pytest.approx((alone.mean, alone.sd))
    np.testing.assert_allclose(found.weights[found.row[:60]], alone.weights[alone.row], atol=1e-12)


def test_the_prior_of_difficulties_follows_the_rubrics():
    y, theta, _ = table(200, 400)
    found = item_posterior(y, theta, np.full(400, 2))
    assert found.mean == pytest.approx(0.5, abs=0.1)
    assert found.sd == pytest.approx(0.8, abs=0.15)


def test_slopes_from_few_labels_are_shrunk_and_from_many_are_found():
    shrunk = []
    for n in (10, 200):
        theta = np.linspace(-2, 2, n)
        y = np.tile((theta > 0).astype(float)[:, None], (1, 3))  # as steep as can be
        found = item_posterior(y, theta, np.full(3, 2))
        shrunk.append(float(found.weights[0] @ found.slope))
    assert shrunk[0] < 2.5 < 3.9 < shrunk[1]


def test_rubrics_with_equal_labels_share_a_row_and_those_of_other_levels_do_not():
    y, theta, steps = table(8, 3, levels=4)
    y = np.minimum(y[:, [0, 1, 0, 0]], 1)
    y[0, 1] = 1 - y[0, 1]
    found = item_posterior(y, theta, np.array([2, 2, 2, 4]), steps[[0, 1, 0, 0]])
    assert found.row[0] == found.row[2] != found.row[3]
    assert found.first[found.row].tolist() == [0, 1, 0, 3]


def test_ordered_rubrics_need_the_thresholds_of_a_fit():
    y, theta, _ = table(6, 5, levels=4)
    with pytest.raises(AssemblyError, match="4 levels need the thresholds"):
        item_posterior(y, theta, np.full(5, 4))


def test_levels_of_which_no_rubric_was_fitted_get_even_steps():
    y, theta, _ = table(6, 5)
    thresholds = np.full((5, 3), np.nan)
    found = item_posterior(y, theta, np.array([2, 2, 2, 4, 4]), thresholds)
    assert found.offsets[4].tolist() == [-1, 0, 1]
    assert np.isfinite(found.weights).all()


def test_a_threshold_that_a_fit_without_priors_leaves_infinite_moves_no_other_rubric():
    theta = np.linspace(-1, 1, 6)
    y = np.random.default_rng(2).integers(0, 3, (6, 3)).astype(float)
    steps = np.array([[-1.0, 1.0], [-0.5, 0.5], [0.0, np.inf]])
    found = item_posterior(y, theta, np.full(3, 3), steps)
    known = item_posterior(y, theta, np.full(3, 3), np.array([[-1.0, 1.0], [-0.5, 0.5], [np.nan, np.nan]]))
    assert np.isfinite(found.weights).all()
    assert np.array_equal(found.weights, known.weights)


def test_a_level_that_nobody_received_leaves_every_weight_known():
    """Its two thresholds coincide in each rubric, so that it has no probability anywhere."""
    y = np.array([[0.0, 0.0], [0.0, 2.0], [2.0, 2.0], [2.0, 0.0]])
    found = item_posterior(
        y, np.array([-1.0, 0.0, 1.0, 2.0]), np.array([3, 3]), np.array([[0.5, 0.5], [1.0, 1.0]])
    )
    assert found.weights.sum(axis=1) == pytest.approx(1)
