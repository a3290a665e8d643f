"""Person fit, drift of a panel and transfer excess, each against a plain sum."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import t

from crubric_core import Settings, fit_irt
from crubric_core.irt.abilities import estimate_abilities
from crubric_core.irt.cells import label_scores
from crubric_core.irt.person_fit import person_fit
from crubric_core.leaderboard.cross_fit import cross_fit
from crubric_core.leaderboard.influence import ability_influence
from crubric_core.leaderboard.transfer import transfer_excess, transfer_variance
from crubric_core.placement.bank_scale import fixed_fit
from crubric_core.placement.panel import drift
from tests.oracles import naive_mean_difference, naive_person_fit, naive_transfer_excess


@pytest.mark.parametrize("model", ["2PL", "3PL", "GRM"])
def test_person_fit_is_the_sum_over_every_outcome(model):
    rng, n, theta = np.random.default_rng(3), 9, 0.4
    a, c = np.exp(rng.normal(0, 0.3, n)), np.full(n, 0.2 if model == "3PL" else 0.0)
    steps = np.sort(rng.normal(0, 1, (n, 2)), axis=1) if model == "GRM" else None
    b = rng.normal(0, 1, n) if steps is None else steps.mean(axis=1)
    levels = np.full(n, 2 if steps is None else 3)
    fit = fixed_fit(Settings(model=model), a, b, c, steps, levels)
    above = [
        [1.0, *(c[j] + (1 - c[j]) / (1 + np.exp(-a[j] * (theta - at))) for at in edges), 0.0]
        for j, edges in enumerate(b[:, None] if steps is None else steps)
    ]
    shares = [[one - two for one, two in pairwise(row)] for row in above]
    y = rng.integers(0, levels).astype(float)
    scores = []
    for j in range(n):
        level = np.tile(np.arange(levels[j], dtype=float)[:, None], (1, n))
        scores.append(label_scores(fit.items, level, np.full(levels[j], theta))[0][:, j].tolist())
    expected = naive_person_fit(shares, y.astype(int).tolist(), scores)
    assert person_fit(fit, y, theta) == pytest.approx(expected, rel=1e-8)


def test_the_drift_of_a_panel_is_a_t_test_with_queries_as_units():
    rng = np.random.default_rng(1)
    new, old, query = rng.normal(0.1, 1, 60), rng.normal(0, 1, 60), rng.integers(0, 9, 60)
    new[:4], old[4:7] = np.nan, np.nan
    mean, se, n = naive_mean_difference(new, old, query)
    found = drift(new, old, query)
    assert (found.difference, found.n) == (pytest.approx(mean), n)
    assert found.p_value == pytest.approx(2 * t.sf(abs(mean) / se, n - 1))


def test_transfer_excess_is_the_squared_difference_beyond_the_error_on_the_bank():
    rng = np.random.default_rng(5)
    theta, query = rng.normal(0, 1, 7), np.arange(48) // 4
    y = (rng.random((7, 48)) < 1 / (1 + np.exp(rng.normal(0, 1, 48) - theta[:, None]))).astype(float)
    y[rng.random(y.shape) < 0.1] = np.nan
    cross = cross_fit(y, fit_irt(y))
    pool = ~cross.pooled.constant
    banks = pool & (rng.random((cross.n_folds, 48)) < 0.5)
    on_bank = ability_influence(cross, banks, query)
    found = transfer_excess(cross, pool, banks, query)
    for i, fold in enumerate(cross.fold):
        fit = cross.fold_fit(int(fold))
        bank, whole = (
            estimate_abilities(fit, y[[i]], np.flatnonzero(use)).theta[0] for use in (banks[fold], pool)
        )
        used = [q for q in range(12) if (np.isfinite(y[i]) & banks[fold] & (query == q)).any()]
        psi = on_bank.psi[np.abs(on_bank.psi[:, i]) > 0, i].tolist()
        assert len(psi) == len(used)
        expected = naive_transfer_excess(bank, whole, psi, on_bank.floor[i], on_bank.n_units[i])
        assert found[i] == pytest.approx(expected, abs=1e-4)
    assert transfer_variance(found) == max(0.0, sum(found) / len(found))
