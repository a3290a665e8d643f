"""Fisher information and abilities at fixed parameters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from benchmarks.claims_fits import unrelated
from crubric_core.irt.abilities import estimate_abilities, log_probabilities, resample_abilities
from crubric_core.irt.diagnostics import item_rest
from crubric_core.irt.fit import fit_irt
from crubric_core.irt.information import item_information, posterior_weighted_information, response_curve
from tests import oracles
from tests.irt.conftest import simulate

THETA = np.linspace(-3, 3, 13)


@pytest.fixture(scope="module", params=["1PL", "2PL", "3PL", "GRM"])
def fitted(request):
    levels = 4 if request.param == "GRM" else 2
    y = simulate(14, 25, seed=21, missing=0.1, levels=levels).y
    y[:, 4] = 1.0
    return y, fit_irt(y, request.param)


def probabilities(fit, j, theta):
    steps = None if fit.thresholds is None else fit.thresholds[j]
    return oracles.level_probabilities(theta, fit.a[j], fit.b[j], fit.c[j], steps)


def test_information_is_the_variance_of_the_score(fitted):
    _, fit = fitted
    info = item_information(fit, THETA)
    for j in np.flatnonzero(~fit.constant):
        step = 1e-5
        here = probabilities(fit, j, THETA)
        slope = (probabilities(fit, j, THETA + step) - probabilities(fit, j, THETA - step)) / (2 * step)
        expected = np.where(here > 1e-12, slope**2 / np.maximum(here, 1e-12), 0.0).sum(axis=1)
        np.testing.assert_allclose(info[:, j], expected, rtol=1e-5, atol=1e-9)


def test_a_constant_rubric_has_no_information(fitted):
    y, fit = fitted
    assert (item_information(fit, THETA)[:, 4] == 0).all()
    assert posterior_weighted_information(fit, y)[4] == 0


def test_a_2pl_rubric_carries_a_in_total():
    fit = fit_irt(simulate(14, 25, seed=21).y)
    theta = np.linspace(-60, 60, 20001)
    total = np.trapezoid(item_information(fit, theta), theta, axis=0)
    np.testing.assert_allclose(total[~fit.constant], fit.a[~fit.constant], rtol=1e-6)


def test_nu_is_the_information_under_the_mean_posterior(fitted):
    y, fit = fitted
    keep = ~fit.constant
    steps = None if fit.thresholds is None else fit.thresholds[keep]
    _, posterior = oracles.dense_posterior(y[:, keep], fit.a[keep], fit.b[keep], fit.c[keep], steps)
    expected = posterior.mean(axis=0) @ item_information(fit, oracles.DENSE_NODES)
    np.testing.assert_allclose(posterior_weighted_information(fit, y), expected, rtol=1e-6, atol=1e-9)


def test_log_probabilities_are_those_of_the_definition(fitted):
    _, fit = fitted
    active = np.flatnonzero(~fit.constant)
    table = np.exp(log_probabilities(fit, active, THETA))
    for place, j in enumerate(active):
        np.testing.assert_allclose(table[:, place].T, probabilities(fit, j, THETA), atol=1e-12)


def test_response_curve_is_the_expected_share_of_the_full_mark(fitted):
    _, fit = fitted
    for j in np.flatnonzero(~fit.constant)[:5]:
        levels = probabilities(fit, j, THETA)
        expected = levels @ np.arange(levels.shape[1]) / (levels.shape[1] - 1)
        np.testing.assert_allclose(response_curve(fit, j, THETA), expected, atol=1e-12)
    assert np.isnan(response_curve(fit, 4, THETA)).all()


def test_all_rubrics_give_the_fits_own_abilities(fitted):
    y, fit = fitted
    abilities = estimate_abilities(fit, y)
    np.testing.assert_allclose(abilities.theta, fit.theta, atol=1e-6)
    np.testing.assert_allclose(abilities.sd, fit.theta_sd, atol=1e-6)


def test_abilities_on_a_subset_equal_the_dense_grid(fitted):
    y, fit = fitted
    chosen = np.array([0, 3, 7, 11])
    abilities = estimate_abilities(fit, y, chosen)
    steps = None if fit.thresholds is None else fit.thresholds[chosen]
    _, posterior = oracles.dense_posterior(y[:, chosen], fit.a[chosen], fit.b[chosen], fit.c[chosen], steps)
    np.testing.assert_allclose(abilities.theta, posterior @ oracles.DENSE_NODES, atol=1e-7)


def test_a_system_without_labels_has_no_ability(fitted):
    y, fit = fitted
    y = y.copy()
    y[2, [0, 3, 7]] = np.nan
    abilities = estimate_abilities(fit, y, np.array([0, 3, 7]))
    assert np.isnan(abilities.theta[2])
    assert np.isfinite(np.delete(abilities.theta, 2)).all()


def test_drawing_a_rubric_twice_counts_its_label_twice(fitted):
    y, fit = fitted
    chosen = np.array([0, 3, 7, 11])
    counts = np.zeros((2, y.shape[1]), dtype=np.int64)
    counts[0, chosen] = 1
    counts[1, [0, 3]] = 2
    draws = resample_abilities(fit, y, counts)
    np.testing.assert_allclose(draws[0], estimate_abilities(fit, y, chosen).theta, atol=1e-7)
    twice = np.array([0, 0, 3, 3])
    steps = None if fit.thresholds is None else fit.thresholds[twice]
    _, posterior = oracles.dense_posterior(y[:, twice], fit.a[twice], fit.b[twice], fit.c[twice], steps)
    known = ~np.isnan(y[:, [0, 3]]).all(axis=1)
    np.testing.assert_allclose(draws[1, known], (posterior @ oracles.DENSE_NODES)[known], atol=1e-7)


def test_item_rest_correlation_equals_numpy_pair_by_pair():
    y = simulate(12, 10, seed=3, missing=0.2).y
    expected = []
    for j in range(y.shape[1]):
        rest = np.delete(y, j, axis=1)
        mean = np.array([row[~np.isnan(row)].mean() if (~np.isnan(row)).any() else np.nan for row in rest])
        both = ~np.isnan(y[:, j]) & ~np.isnan(mean)
        varies = both.sum() >= 3 and y[both, j].std() > 0 and mean[both].std() > 0
        expected.append(np.corrcoef(y[both, j], mean[both])[0, 1] if varies else np.nan)
    np.testing.assert_allclose(item_rest(y).correlation, expected, atol=1e-12)


def test_systems_in_parts_of_any_size_have_the_same_abilities(fitted, monkeypatch):
    y, fit = fitted
    together = estimate_abilities(fit, y)
    monkeypatch.setattr("crubric_core.irt.abilities.AT_ONCE", 3 * y.shape[1])
    apart = estimate_abilities(fit, y)
    np.testing.assert_allclose(apart.theta, together.theta, atol=1e-12)
    np.testing.assert_allclose(apart.sd, together.sd, atol=1e-12)


def test_a_level_that_cannot_occur_leaves_abilities_that_are_numbers(fitted):
    """Rubrics with fewer levels than others have levels of probability 0."""
    y, fit = fitted
    if fit.thresholds is not None:
        fewer = fit.thresholds.copy()
        fewer[:5, 1:] = np.nan
        fit = replace(fit, thresholds=fewer)
        y = np.where(np.arange(y.shape[1]) < 5, np.minimum(y, 1), y)
    assert np.isfinite(estimate_abilities(fit, y).theta).all()


@pytest.mark.parametrize(
    ("far", "labels"),
    [(0.0, np.arange(12) % 3 / 2), (3.0, np.arange(12) % 3 / 2), (3.0, np.arange(12) > 1)],
    ids=["alike", "one far above", "one far above, and two that fail"],
)
def test_the_chance_of_an_item_rest_correlation_is_the_share_of_the_orders_of_its_labels(far, labels):
    rng = np.random.default_rng(3)
    y = (rng.random((15, 60)) < expit(rng.normal(0, 1, (15, 1)) + far * (np.arange(15) == 0)[:, None])) * 1.0
    y[:12, 0], y[12:, 0] = labels, np.nan
    found, chance = (each[0] for each in item_rest(y))
    as_low = []
    for _ in range(2000):
        y[:12, 0] = rng.permutation(y[:12, 0])
        as_low.append(item_rest(y).correlation[0] <= found + 1e-12)
    assert chance == pytest.approx(np.mean(as_low), abs=0.04)


def test_labels_of_few_systems_are_never_far_below_chance():
    y = np.repeat((np.arange(8) < 4)[:, None], 21, axis=1).astype(float)
    y[:, 20] = 1 - y[:, 20]
    assert item_rest(y).correlation[20] == pytest.approx(-1)
    assert item_rest(y).chance[20] == pytest.approx(1 / 70)


@pytest.mark.parametrize("far", [0.0, -8.0])
@pytest.mark.parametrize("passed", [0.5, 0.15])
def test_rubrics_unrelated_to_ability_are_seldom_far_below_chance(far, passed):
    found = [unrelated(15, far, passed, seed)[1] for seed in range(40)]
    assert np.mean(found) <= 0.013
