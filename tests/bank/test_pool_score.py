from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from crubric_core.bank.pool_score import pool_curve, predicted_pool_score

NODES = np.linspace(-4, 4, 161)


def logistic_pool(n, seed=0):
    rng = np.random.default_rng(seed)
    a, b = np.exp(rng.normal(0, 0.3, n)), rng.normal(0, 1, n)
    passed = expit(a[:, None] * (NODES - b[:, None]))
    return a, b, np.stack([1 - passed, passed])


def test_the_curve_is_the_mean_share_of_the_mark_over_the_pool():
    ladder = np.array([[[0.2]], [[0.3]], [[0.5]]])  # levels 0, 1, 2 of one rubric at one node
    curve, noise = pool_curve(ladder)
    assert curve[0] == pytest.approx(0.65)
    assert noise[0] == pytest.approx(0.2 * 0.65**2 + 0.3 * 0.15**2 + 0.5 * 0.35**2)


def test_predictions_are_within_their_standard_error_about_as_often_as_they_say():
    rng = np.random.default_rng(1)
    a, b, chances = logistic_pool(200)
    theta, se = rng.normal(size=400), 0.3
    score = (rng.random((400, 200)) < expit(a * (theta[:, None] - b))).mean(axis=1)
    found = predicted_pool_score(
        NODES, *pool_curve(chances), theta + rng.normal(0, se, 400), np.full(400, se)
    )
    z = (score - found.score) / found.se
    assert 0.92 <= np.mean(np.abs(z) < 1.96) <= 0.98


def test_an_unknown_ability_has_no_prediction():
    curve, noise = pool_curve(logistic_pool(5)[2])
    found = predicted_pool_score(NODES, curve, noise, np.array([np.nan, 0.0]), np.array([np.nan, 0.1]))
    assert np.isnan([found.score[0], found.se[0]]).all()
    assert found.se[1] > 0
