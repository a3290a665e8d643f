"""The correlation of two dimensions' abilities is that of the abilities, not of their noisy, shrunken estimates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from benchmarks.claims_traits import found_of, simulated
from crubric_core.leaderboard.influence import Influence
from crubric_core.leaderboard.traits import (
    Correlation,
    Traits,
    latent_correlation,
    restricted_loglik,
    traits_of,
)
from tests.oracles import naive_restricted_loglik


def drawn(rng, size=12, rho=0.5, noise=0.3, shared=0.0):
    """Measurements of abilities that correlate at rho: kept .8 and .6 of them, errors that correlate at ``shared``."""
    kept = np.tile([0.8, 0.6], (size, 1))
    true = rng.multivariate_normal([1.0, -0.5], [[1, rho], [rho, 1]], size)
    error = noise**2 * np.array([[1, shared], [shared, 1]])
    return Traits(
        kept * true + rng.multivariate_normal([0, 0], error, size), kept, np.tile(error, (size, 1, 1))
    )


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.8])
def test_the_likelihood_is_the_integral_over_abilities_and_means(rho):
    rng = np.random.default_rng(1)
    size, sd = 4, np.array([0.9, 0.7])
    x, kept = rng.normal(size=(size, 2)), rng.uniform(0.6, 1, (size, 2))
    error = np.stack([np.diag(each) + 0.1 for each in rng.uniform(0.3, 0.6, (size, 2))])
    found = restricted_loglik(x, kept, error, sd, rho) - (size - 1) * np.log(2 * np.pi)
    assert found == pytest.approx(naive_restricted_loglik(x, kept, error, sd, rho), abs=1e-6)


def test_without_noise_the_interval_of_no_correlation_is_that_of_the_exact_test():
    rng, size = np.random.default_rng(2), 9
    x = np.linalg.qr(np.c_[np.ones(size), rng.normal(size=(size, 2))])[0][:, 1:]  # means 0, correlation 0
    nothing = Traits(3 * x, np.ones((size, 2)), np.tile(1e-9 * np.eye(2), (size, 1, 1)))
    found = latent_correlation(nothing, 0, 1)
    critical = student.ppf(0.975, size - 2)
    end = critical / np.sqrt(size - 2 + critical**2)
    assert (found.value, found.low, found.high) == pytest.approx((0, -end, end), abs=0.005)


def test_what_is_noise_alone_may_correlate_in_any_way():
    found = latent_correlation(drawn(np.random.default_rng(3), noise=30), 0, 1)
    assert (found.low, found.high) == (-1, 1)


def test_noise_and_shrinkage_do_not_make_the_correlation_smaller():
    found = [
        latent_correlation(drawn(np.random.default_rng(seed), 60, rho=1, noise=0.5), 0, 1)
        for seed in range(10)
    ]
    assert all(each.high == 1 for each in found)
    assert np.mean([each.value for each in found]) > 0.95


def test_errors_that_two_dimensions_share_are_not_taken_for_abilities():
    traits = drawn(np.random.default_rng(4), 200, rho=0, noise=0.6, shared=0.9)
    alone = replace(traits, error=traits.error * np.eye(2))
    assert latent_correlation(traits, 0, 1).low < 0
    assert latent_correlation(alone, 0, 1).low > 0


def test_fewer_than_four_systems_tell_nothing_and_unknown_ones_do_not_count():
    traits = drawn(np.random.default_rng(5), 8)
    more = Traits(
        *(np.concatenate([each, each[:2]]) for each in (traits.estimate, traits.kept, traits.error))
    )
    more.estimate[8:, 0] = np.nan
    assert latent_correlation(more, 0, 1) == latent_correlation(traits, 0, 1)
    few = latent_correlation(Traits(traits.estimate[:3], traits.kept[:3], traits.error[:3]), 0, 1)
    assert np.isnan(few.value)
    assert (few.low, few.high) == (-1, 1)


def influence(psi, floor=0.2, saturated=0):
    size = psi.shape[1]
    return Influence(
        estimate=np.arange(float(size)),
        psi=psi,
        n_units=(psi != 0).sum(axis=0),
        unit="query",
        floor=np.full(size, floor),
        within_variance=np.full(size, np.nan),
        saturated=np.r_[saturated, np.zeros(size - 1, dtype=np.int64)],
    )


def test_errors_are_those_of_the_model_times_the_design_effects_of_all_systems_together():
    rng = np.random.default_rng(6)
    first, second = rng.normal(size=(2, 30, 5))
    second += first
    # the second dimension has none of the first query, and one of its own
    found = traits_of([influence(first), influence(second, 0.1)], [np.arange(30), np.arange(1, 31)])
    np.testing.assert_allclose(found.kept, np.tile([0.8, 0.9], (5, 1)))
    factor, sd = 30 / 29, np.sqrt([0.8 * 0.2, 0.9 * 0.1])
    variance = [factor * (psi**2).sum(axis=0).mean() for psi in (first, second)]
    together = factor * (first[1:] * second[:-1]).sum(axis=0).mean()
    np.testing.assert_allclose(
        found.error, np.tile([[variance[0], together], [together, variance[1]]], (5, 1, 1))
    )
    assert sd[0] != sd[1]


def test_units_of_one_domain_count_together():
    psi = np.random.default_rng(7).normal(size=(30, 5))
    found = traits_of([influence(psi)], [np.arange(30) // 3])
    sums = psi.reshape(10, 3, 5).sum(axis=1)
    np.testing.assert_allclose(found.error[:, 0, 0], 10 / 9 * (sums**2).sum(axis=0).mean())


def test_a_saturated_system_has_no_measurement_and_says_nothing_of_errors():
    psi = np.random.default_rng(8).normal(size=(30, 5))
    found = traits_of([influence(psi, saturated=1)], [np.arange(30)])
    assert np.isnan(found.estimate).tolist() == [[True], *[[False]] * 4]
    np.testing.assert_allclose(found.error[:, 0, 0], 30 / 29 * (psi[:, 1:] ** 2).sum(axis=0).mean())


def correlations(design, seeds):
    return [found_of(*simulated(design, seed))[0].correlations[0] for seed in seeds]


def test_dimensions_of_one_ability_are_hardly_ever_told_apart():
    assert sum(each.high < 1 for each in correlations((8, 15, 0.0, 0.0, 1.0), range(12))) <= 1


def test_dimensions_of_unlike_abilities_are_told_apart():
    found: list[Correlation] = correlations((15, 30, 0.2, 0.0, 0.0), range(5))
    assert all(each.high < 1 for each in found)
    assert all(each.low < 0 < each.high for each in found)
