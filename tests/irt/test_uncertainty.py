"""Abilities with the item parameters integrated out."""

import numpy as np
import pytest
from scipy.special import expit

from crubric_core import fit_irt
from crubric_core.irt.uncertainty import ability_covariance, ability_standard_errors
from tests.oracles import naive_ability_covariance


def simulated(n_systems, n_rubrics, seed=0, model="2PL"):
    rng = np.random.default_rng([4, seed])
    theta, a = rng.normal(size=n_systems), np.exp(rng.normal(0, 0.5, n_rubrics))
    z = a * (theta[:, None] - rng.normal(0, 1.5, n_rubrics))
    if model == "GRM":
        steps = np.array([-1.0, 0.0, 1.2])
        return (z + rng.logistic(size=z.shape) > steps[:, None, None]).sum(axis=0).astype(float), theta
    return (rng.random(z.shape) < expit(z)).astype(float), theta


def on_scale(theta, fit):
    """The truth at the origin and unit of the estimates, which no label tells."""
    design = np.stack([np.ones_like(theta), theta], axis=1)
    weight = 1 / fit.theta_sd**2
    return design @ np.linalg.solve((design.T * weight) @ design, (design.T * weight) @ fit.theta)


def test_the_covariance_is_that_of_a_dense_integral_over_each_rubric():
    y, _ = simulated(8, 60)
    fit = fit_irt(y)
    active = y[:, ~fit.constant]
    expected = naive_ability_covariance(active, fit.theta, fit.theta_sd)
    found = ability_covariance(fit, y)
    np.testing.assert_allclose(np.sqrt(np.diag(found)), np.sqrt(np.diag(expected)), rtol=0.03)
    np.testing.assert_allclose(found, expected, atol=0.05 * np.diag(expected).max())


@pytest.mark.parametrize("model", ["2PL", "3PL", "GRM"])
def test_with_few_systems_the_abilities_are_less_sure_than_known_items_would_make_them(model):
    y, _ = simulated(10, 300, model=model)
    fit = fit_irt(y, model=model)
    errors = ability_standard_errors(fit, y)
    assert 1.02 < np.median(errors / fit.theta_sd) < 1.5


def test_with_many_systems_the_items_are_known():
    y, _ = simulated(100, 60)
    fit = fit_irt(y)
    assert 0.95 < np.median(ability_standard_errors(fit, y) / fit.theta_sd) < 1.02


def test_intervals_hold_the_truth_where_the_posterior_sd_alone_holds_it_too_seldom():
    held, held_before = [], []
    for seed in range(30):
        y, theta = simulated(8, 400, seed)
        fit = fit_irt(y)
        miss = np.abs(fit.theta - on_scale(theta, fit))
        held.append(miss <= 1.96 * ability_standard_errors(fit, y))
        held_before.append(miss <= 1.96 * fit.theta_sd)
    assert 0.92 <= np.mean(held) <= 0.98
    assert np.mean(held) > np.mean(held_before)


def test_unknown_labels_carry_nothing_and_a_system_without_labels_is_unknown():
    y, _ = simulated(9, 200)
    y[0] = np.nan
    y[1, ::2] = np.nan
    errors = ability_standard_errors(fit_irt(y), y)
    assert np.isnan(errors[0])
    assert np.isfinite(errors[1:]).all()
    assert errors[1] > 1.2 * np.median(errors[2:])


def test_rubrics_of_different_numbers_of_levels_and_unused_levels_are_taken():
    y, _ = simulated(10, 80, model="GRM")
    y[:, :20] = (y[:, :20] > 1).astype(float)
    y[:, 20:30] = np.where(y[:, 20:30] == 1, 2, y[:, 20:30])
    levels = np.where(np.arange(80) < 20, 2, 4)
    fit = fit_irt(y, model="GRM", levels=levels)
    assert np.isfinite(ability_standard_errors(fit, y)).all()


def test_two_runs_give_the_same_bytes():
    y, _ = simulated(6, 50)
    fit = fit_irt(y)
    assert ability_covariance(fit, y).tobytes() == ability_covariance(fit, y).tobytes()
