"""Rubrics that have become harder, and a judge that changed: flagged where it is so, and rarely where it is not."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm, t

from crubric_core import Settings
from crubric_core.bank.item_spread import Spread
from crubric_core.placement import drift
from crubric_core.placement.bank_scale import fixed_fit
from crubric_core.placement.drift import judge_drift, rubric_drift
from tests.oracles import naive_kappa

J = 40


def calibration(seed=0):
    rng = np.random.default_rng(seed)
    a, b = np.exp(rng.normal(0, 0.3, J)), rng.normal(0, 1, J)
    fit = fixed_fit(Settings(), a, b, np.zeros(J), None, np.full(J, 2))
    return fit, Spread(np.full(J, 0.1), np.full(J, 0.15), np.zeros(J))


def labels(fit, n, rng, harder=None, effect=0.0):
    """N new systems; parameters are as uncertain as the calibration says. effect: of a query on a system."""
    b = fit.b + rng.normal(0, 0.15, J)
    if harder is not None:
        b[harder[0]] += harder[1]
    a, theta = fit.a * np.exp(rng.normal(0, 0.1, J)), rng.normal(0, 1, (n, 1))
    shift = np.repeat(rng.normal(0, effect, (n, J // 4)), 4, axis=1)
    return (rng.random((n, J)) < 1 / (1 + np.exp(-a * (theta + shift - b)))).astype(float)


@pytest.mark.parametrize(("n", "effect"), [(1, 0.0), (3, 0.0), (12, 0.0), (12, 0.7)])
def test_a_calibration_that_holds_is_rarely_flagged(n, effect):
    """Any rubric of forty in at most 5% of the tables; 40 tables leave room for two standard errors."""
    fit, spread = calibration()
    rng = np.random.default_rng(n)
    false = sum(
        rubric_drift(fit, spread, labels(fit, n, rng, effect=effect), seed).flagged.any()
        for seed in range(40)
    )
    assert false <= 40 * (0.05 + 2 * np.sqrt(0.05 * 0.95 / 40))


def test_a_rubric_that_became_much_harder_is_found():
    fit, spread = calibration()
    rng = np.random.default_rng(7)
    easy = int(np.argmin(np.abs(fit.b + 0.8)))
    found = [rubric_drift(fit, spread, labels(fit, 20, rng, (easy, 2.5)), seed) for seed in range(12)]
    assert sum(one.flagged[easy] for one in found) >= 9
    assert all(one.shift[easy] > 0 and one.z[easy] > 0 for one in found)


def test_the_p_value_is_that_of_every_outcome_counted():
    """Two systems, known abilities and parameters: the score's distribution by enumeration."""
    fit, _ = calibration()
    theta, rng = np.array([[0.3], [-1.0]]), np.random.default_rng(0)
    certain = Spread(np.zeros(J), np.zeros(J), np.zeros(J))
    chance = 1 / (1 + np.exp(-fit.a[5] * (theta[:, 0] - fit.b[5])))
    share = np.zeros(3)
    for first, second in product((0, 1), repeat=2):
        share[first + second] += abs(1 - first - chance[0]) * abs(1 - second - chance[1])
    at = np.repeat(theta, drift.DRAWS, axis=1)
    for got, pattern in ((0, [0.0, 0.0]), (1, [0.0, 1.0]), (2, [1.0, 1.0])):
        p = min(1.0, 2 * min(share[: got + 1].sum(), share[got:].sum()))
        z = drift._deviate(fit, certain, 5, np.array(pattern), at, rng)
        assert 2 * norm.sf(abs(z)) == pytest.approx(p, abs=1e-9)


def test_a_rubric_without_a_new_label_is_unknown():
    fit, spread = calibration()
    y = labels(fit, 4, np.random.default_rng(0))
    y[:, 3] = np.nan
    found = rubric_drift(fit, spread, y, 0)
    assert np.isnan(found.z[3])
    assert (found.labels[3], bool(found.flagged[3])) == (0, False)


def test_two_versions_of_a_judge_are_compared_on_common_cells():
    rng = np.random.default_rng(1)
    old = rng.integers(0, 2, 200).astype(float)
    new = np.where(rng.random(200) < 0.15, 1 - old, old)
    old[:10] = np.nan
    query = np.repeat(np.arange(20), 10)
    found = judge_drift(old, new, query)
    assert (found.cells, found.queries) == (190, 19)
    assert found.flips[0] == (old[10:] != new[10:]).mean()
    assert found.kappa[0] == pytest.approx(naive_kappa(old[10:], new[10:]))
    assert found.shift[0] == pytest.approx((new[10:] - old[10:]).mean())
    for value, low, high in (found.flips, found.kappa, found.shift):
        assert low < value < high


def test_the_interval_of_the_flip_rate_is_the_one_of_a_mean_by_query():
    """Equal queries: the jackknife is the t interval of the queries' means."""
    rng = np.random.default_rng(2)
    old, query = rng.integers(0, 2, 60).astype(float), np.repeat(np.arange(12), 5)
    new = np.where(rng.random(60) < 0.3, 1 - old, old)
    means = (old != new).reshape(12, 5).mean(axis=1)
    half = t.ppf(0.975, 11) * means.std(ddof=1) / np.sqrt(12)
    assert judge_drift(old, new, query).flips == pytest.approx(
        (means.mean(), means.mean() - half, means.mean() + half)
    )


def test_nothing_in_common_is_unknown():
    found = judge_drift(np.array([np.nan, 1.0]), np.array([1.0, np.nan]), np.array([0, 1]))
    assert found.cells == 0
    assert np.isnan(found.flips).all()
    assert np.isnan(found.kappa[0])
