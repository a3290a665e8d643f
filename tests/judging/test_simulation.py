"""How many judgements an ability needs, against a loop that refits nothing but is obvious."""

from __future__ import annotations

import numpy as np
import pytest

from crubric_core import fit_irt
from crubric_core.irt.abilities import estimate_abilities
from crubric_core.judging.simulation import simulate_judging
from crubric_core.placement.abilities import expected_information


@pytest.fixture(scope="module")
def study():
    rng = np.random.default_rng(4)
    theta, b = rng.normal(size=12), rng.normal(size=40)
    y = (rng.random((12, 40)) < 1 / (1 + np.exp(-1.5 * (theta[:, None] - b)))).astype(float)
    y[rng.random(y.shape) < 0.05] = np.nan
    return fit_irt(y, quadrature="adaptive"), y


def slowly(fit, row, target, order=None):
    """Judgements until the posterior sd is at most the target, by the estimates of the placement itself."""
    known = np.full((1, len(row)), np.nan)
    for asked in range(len(row) + 1):
        sd = estimate_abilities(fit, known).sd[0] if asked else 1.0
        if sd <= target:
            return asked
        open_ = [n for n in (range(len(row)) if order is None else order) if np.isfinite(row[n])]
        open_ = [n for n in open_ if np.isnan(known[0, n]) and not fit.constant[n]]
        if not open_:
            return np.nan
        best = open_[0]
        if order is None:
            expected = expected_information(fit, known, np.arange(len(row)))[0]
            best = max(open_, key=lambda n: expected[n])
        known[0, best] = row[best]
    return np.nan


@pytest.mark.parametrize("target", [0.6, 0.45, 0.05])
def test_the_counts_are_those_of_a_placement_asked_one_by_one(study, target):
    fit, y = study
    order = np.arange(0, 40, 2)
    found = simulate_judging(fit, y, order, target)
    np.testing.assert_array_equal(found.adaptive, [slowly(fit, row, target) for row in y])
    np.testing.assert_array_equal(found.fixed, [slowly(fit, row, target, order) for row in y])


def test_what_all_labels_come_to_is_the_posterior_of_all_labels(study):
    fit, y = study
    found = simulate_judging(fit, y, np.arange(5), 0.5)
    np.testing.assert_allclose(found.sd_all, estimate_abilities(fit, y).sd)
    assert found.available.tolist() == (np.isfinite(y) & ~fit.constant).sum(axis=1).tolist()


def test_a_target_as_wide_as_the_prior_needs_nobody(study):
    fit, y = study
    found = simulate_judging(fit, y, np.arange(5), 1.0)
    assert found.adaptive.tolist() == found.fixed.tolist() == [0.0] * 12
