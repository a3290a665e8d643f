from __future__ import annotations

import numpy as np
import pytest

from crubric_core import Priors, fit_irt
from crubric_core.irt.item_modes import item_modes
from crubric_core.irt.linking import mean_sigma
from crubric_core.irt.models import ItemParameters
from crubric_core.irt.refit import refit
from tests import oracles

from .test_prefixes import table

THETA = np.array([-1.4, -0.5, 0.1, 0.3, 0.9, 1.6])
TWO = np.full(1, 2)


@pytest.mark.parametrize(
    "labels",
    [
        [1, 1, 1, 1, 1, 1],
        [0, 0, 0, 0, 0, 0],
        [1, np.nan, 1, np.nan, np.nan, 1],
        [0, 0, 1, 0, 1, 1],
        [1, 1, 0, 0, 0, 0],
    ],
)
def test_the_mode_is_the_highest_point_of_prior_times_likelihood(labels):
    labels = np.array(labels, dtype=float)
    found = item_modes(labels[:, None], THETA, "2PL", Priors(), TWO)
    a, b = oracles.best_on_grid(labels, THETA)
    assert found.a[0] == pytest.approx(a, abs=0.02)
    assert found.b[0] == pytest.approx(b, abs=0.02)


def test_the_common_slope_of_the_1pl_is_kept():
    y = np.ones((6, 1))
    found = item_modes(y, THETA, "1PL", Priors(), TWO, slope=1.7)
    grid = np.linspace(-8, 3, 11001)
    value = -0.5 * (grid / 2) ** 2 + sum(-np.log1p(np.exp(-1.7 * (t - grid))) for t in THETA)
    assert found.a[0] == pytest.approx(1.7, abs=1e-6)
    assert found.b[0] == pytest.approx(grid[value.argmax()], abs=0.002)


def test_what_everybody_passes_is_easy_and_what_everybody_fails_is_hard():
    y = np.repeat([[1.0, 0.0, np.nan]], 6, axis=0)
    for model in ("2PL", "3PL"):
        found = item_modes(y, THETA, model, Priors(), np.full(3, 2))
        assert found.b[0] < THETA.min() < THETA.max() < found.b[1]
        assert np.isnan([found.a[2], found.b[2]]).all()
    graded = item_modes(3 * y, THETA, "GRM", Priors(), np.full(3, 4))
    assert (graded.thresholds[0] < THETA.min()).all()
    assert (graded.thresholds[1] > THETA.max()).all()


def test_a_flat_prior_has_no_mode():
    assert np.isnan(item_modes(np.ones((6, 2)), THETA, "2PL", Priors.flat(), np.full(2, 2)).a).all()


def test_equal_labels_have_equal_modes():
    y = np.array([[1.0, 1, 0, 1], [1, np.nan, 0, 1]]).repeat(3, axis=0)
    found = item_modes(y, THETA, "2PL", Priors(), np.full(4, 2))
    assert found.a[0] == found.a[3]
    assert found.b[0] == found.b[3] != found.b[1]


@pytest.mark.parametrize(("model", "top"), [("1PL", 2), ("2PL", 2), ("3PL", 2), ("GRM", 4)])
def test_a_refit_is_the_fit_of_these_systems_alone(model, top):
    y = table(top)
    y[:, 11], y[2, 11] = 1, 0
    pooled, others = fit_irt(y, model), y[np.arange(9) != 2]
    alone, found = fit_irt(others, model, levels=pooled.levels), refit(pooled, others)
    both = ~alone.constant
    assert found.converged
    np.testing.assert_allclose(found.theta, alone.theta, atol=1e-3)
    np.testing.assert_allclose(found.items.b[both], alone.b[both], atol=0.02)
    only = alone.constant & ~pooled.constant
    assert only.any()
    assert np.isfinite(found.items.a[only]).all()
    assert np.isnan(found.items.a[7])


def test_a_link_gives_the_target_its_mean_and_sd_and_keeps_every_probability():
    theta, target = np.array([0.0, 1.0, 3.0, np.nan]), np.array([2.0, 2.5, 5.0, 9.0])
    link = mean_sigma(theta, target)
    moved = link.slope * theta[:3] + link.intercept
    assert moved.mean() == pytest.approx(target[:3].mean())
    assert moved.std() == pytest.approx(target[:3].std())
    items = ItemParameters(np.array([1.5]), np.array([0.4]), np.array([0.1]), np.array([[-0.2, 1.0]]))
    linked = link.items(items)
    np.testing.assert_allclose(linked.a * (moved - linked.b), items.a * (theta[:3] - items.b))
    np.testing.assert_allclose(linked.a * (moved[0] - linked.thresholds), items.a * (0 - items.thresholds))
    assert linked.c[0] == items.c[0]


def test_systems_without_spread_are_linked_by_their_means():
    link = mean_sigma(np.zeros(5), np.full(5, 0.3))
    assert (link.slope, link.intercept) == (1.0, 0.3)
