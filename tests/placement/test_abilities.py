"""A new system on an existing bank: the ability that the fit itself gives, and the leaderboard's own rules."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from crubric_core.irt.abilities import resample_abilities
from crubric_core.irt.fit import fit_irt
from crubric_core.leaderboard.bootstrap import draw_weights
from crubric_core.leaderboard.tiers import standings
from crubric_core.placement.abilities import expected_information, next_best, place, posterior_interval
from tests import oracles
from tests.irt.conftest import simulate

MODELS = (("1PL", 2), ("2PL", 2), ("3PL", 2), ("GRM", 4))


def study(model="2PL", levels=2, systems=12, rubrics=60):
    y = simulate(systems, rubrics, seed=6, missing=0.05, levels=levels).y
    return y, fit_irt(y, model, levels=np.full(rubrics, levels))


def bank_weights(rubrics, size, replicates=100, seed=0):
    weights = np.zeros((replicates, size))
    drawn = draw_weights(np.arange(len(rubrics)) // 4, replicates, np.random.default_rng(seed))
    weights[:, rubrics] = drawn
    return weights


@pytest.mark.parametrize(("model", "levels"), MODELS)
def test_all_labels_of_a_fitted_system_give_the_ability_of_the_fit(model, levels):
    y, fit = study(model, levels)
    everything = np.arange(y.shape[1])
    found = place(fit, np.delete(y, 3, axis=0), y[[3]], everything, bank_weights(everything, y.shape[1]))[0]
    assert found.theta == pytest.approx(fit.theta[3], abs=1e-7)
    assert found.theta_sd == pytest.approx(fit.theta_sd[3], abs=1e-7)


def test_the_ability_and_its_interval_are_those_of_a_dense_posterior():
    y, fit = study()
    bank = np.random.default_rng(0).permutation(np.flatnonzero(~fit.constant))[:6]
    _, density = oracles.dense_posterior(y[:, bank], fit.a[bank], fit.b[bank])
    nodes = oracles.DENSE_NODES
    found = place(fit, y[:5], y[5:], bank, bank_weights(bank, y.shape[1]))
    for placement, row in zip(found, density[5:], strict=True):
        mean = row @ nodes
        assert placement.theta == pytest.approx(mean, abs=1e-7)
        assert placement.theta_sd == pytest.approx(np.sqrt(row @ (nodes - mean) ** 2), abs=1e-6)
        below = np.cumsum(row)
        expected = [nodes[np.searchsorted(below, tail)] for tail in (0.025, 0.975)]
        assert (placement.low, placement.high) == pytest.approx(expected, abs=0.005)


def test_a_system_among_the_others_stands_where_the_leaderboard_puts_it():
    y, fit = study()
    bank = np.arange(5, 45)
    weights = bank_weights(bank, y.shape[1])
    found = place(fit, y[:-1], y[-1:], bank, weights)[0]
    whole = standings(found.abilities, resample_abilities(fit, y, weights))
    for name in ("theta_low", "theta_high", "rank", "rank_low", "rank_high", "tier", "ahead", "separated"):
        np.testing.assert_array_equal(getattr(found.standing, name), getattr(whole, name))


def test_nobody_else_in_the_file_changes_a_systems_place():
    y, fit = study()
    bank = np.arange(30)
    weights = bank_weights(bank, y.shape[1])
    together = place(fit, y[:8], y[8:], bank, weights)
    for n, among in enumerate(together):
        alone = place(fit, y[:8], y[[8 + n]], bank, weights)[0]
        np.testing.assert_array_equal(among.standing.tier, alone.standing.tier)
        np.testing.assert_allclose(among.standing.rank_probability, alone.standing.rank_probability)
        np.testing.assert_allclose(among.abilities, alone.abilities, atol=1e-12)


def test_labels_outside_the_bank_are_not_heard():
    y, fit = study()
    bank = np.arange(20)
    other = y[[11]].copy()
    other[:, 20:] = 1 - other[:, 20:]
    weights = bank_weights(bank, y.shape[1])
    first, second = (place(fit, y[:11], new, bank, weights)[0] for new in (y[[11]], other))
    assert (first.theta, first.low, first.answered) == (second.theta, second.low, second.answered)


def test_a_system_without_any_label_has_no_place_and_takes_none():
    y, fit = study()
    bank = np.arange(20)
    weights = bank_weights(bank, y.shape[1])
    found = place(fit, y, np.full((1, y.shape[1]), np.nan), bank, weights)[0]
    assert np.isnan([found.theta, found.low, found.high, found.standing.rank[-1]]).all()
    assert found.answered == 0
    alone = standings(found.abilities[:-1], resample_abilities(fit, y, weights))
    np.testing.assert_array_equal(found.standing.tier[:-1], alone.tier)


def test_what_a_label_would_tell_is_its_information_averaged_over_the_posterior():
    y, fit = study()
    bank, nodes = np.flatnonzero(~fit.constant)[:10], oracles.DENSE_NODES
    _, density = oracles.dense_posterior(y[:2, bank], fit.a[bank], fit.b[bank])
    expected = expected_information(fit, y[:2], bank)
    for i in range(2):
        for j in np.flatnonzero(~fit.constant)[12:14]:
            passed = oracles.level_probabilities(nodes, fit.a[j], fit.b[j])[:, 1]
            slow = density[i] @ (fit.a[j] ** 2 * passed * (1 - passed))
            assert expected[i, j] == pytest.approx(slow, abs=1e-7)
    candidates = np.array([12, 40, 33, 21])
    best = next_best(expected[0], candidates, 3)
    assert best.tolist() == sorted(candidates, key=lambda j: -expected[0, j])[:3]


def test_before_any_label_the_prior_says_what_to_judge_first():
    y, fit = study()
    nodes = oracles.DENSE_NODES
    prior = np.exp(-0.5 * nodes**2)
    passed = oracles.level_probabilities(nodes, fit.a[0], fit.b[0])[:, 1]
    slow = (prior / prior.sum()) @ (fit.a[0] ** 2 * passed * (1 - passed))
    nothing = np.full((1, y.shape[1]), np.nan)
    assert expected_information(fit, nothing, np.arange(5))[0, 0] == pytest.approx(slow, abs=1e-6)


def test_systems_held_out_are_found_again_with_honest_intervals():
    """200 systems calibrate the bank; 200 others are placed by 60 of its 400 rubrics alone."""
    made = simulate(400, 400, seed=11, missing=0.05)
    fit = fit_irt(made.y[:200])
    bank = np.argsort(-fit.a)[:60]
    low, high = posterior_interval(fit, made.y[200:], bank, 0.9)
    weights = bank_weights(bank, 400, replicates=2)
    found = np.array([p.theta for p in place(fit, made.y[:3], made.y[200:], bank, weights)])
    # the fit's own origin and unit: those of its 200 systems
    truth = (made.theta[200:] - made.theta[:200].mean()) / made.theta[
        :200
    ].std() * fit.theta.std() + fit.theta.mean()
    held = np.mean((low <= truth) & (truth <= high))
    assert 0.84 <= held <= 0.96  # 0.90 ± 3 standard errors of 200 systems
    full = np.array([p.theta for p in place(fit, made.y[:3], made.y[200:], np.arange(400), weights)])
    assert spearmanr(found, full)[0] > 0.95
    assert np.mean((low <= full) & (full <= high)) > 0.85
