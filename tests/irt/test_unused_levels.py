"""A level that no label of a fit has: what it says of a system that is labelled later is the limit of rare ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crubric_core.irt.abilities import estimate_abilities, log_likelihoods, resample_abilities
from crubric_core.irt.fit import fit_irt
from crubric_core.irt.prefixes import PrefixAbilities


@pytest.fixture(scope="module")
def labels():
    """(8, 30) levels 0, 1 and 3 of 0 to 3: nobody has a 2."""
    rng = np.random.default_rng(4)
    latent = rng.normal(size=(8, 1)) + 0.7 * rng.logistic(size=(8, 30))
    return np.select([latent < -0.5, latent < 0.6], [0.0, 1.0], 3.0)


@pytest.fixture(scope="module", params=["adaptive", "grid"])
def fit(request, labels):
    found = fit_irt(labels, "GRM", request.param, levels=np.full(30, 4))
    assert (found.thresholds[:, 1] == found.thresholds[:, 2]).any()
    return found


@pytest.fixture(scope="module")
def later():
    return np.random.default_rng(5).integers(0, 4, (3, 30)).astype(float)


def parted(fit, gap=1e-7):
    """The same model with a little room for the level."""
    return replace(fit, thresholds=fit.thresholds + gap * np.arange(-1, 2))


def test_a_system_with_such_labels_is_placed_as_by_a_model_in_which_they_are_rare(fit, later):
    found, limit = estimate_abilities(fit, later), estimate_abilities(parted(fit), later)
    np.testing.assert_allclose(found.theta, limit.theta, atol=1e-6)
    np.testing.assert_allclose(found.sd, limit.sd, atol=1e-6)


def test_draws_that_leave_such_labels_out_or_take_them_twice_have_estimates(fit, later):
    counts = np.random.default_rng(6).poisson(1.0, (5, 30))
    np.testing.assert_allclose(
        resample_abilities(fit, later, counts), resample_abilities(parted(fit), later, counts), atol=1e-6
    )


def test_the_first_rubrics_of_an_order_say_the_same_as_all_of_them(fit, later):
    found = PrefixAbilities(fit, later)([np.arange(30)], [30])[0, 0]
    np.testing.assert_allclose(found, estimate_abilities(fit, later).theta, atol=1e-5)


def test_every_log_likelihood_is_finite(fit):
    assert np.isfinite(log_likelihoods(fit, np.arange(30), np.linspace(-6, 6, 25))).all()
