"""Anchors correct the posteriors of judges who are not independent, and leave those of the others alone."""

from __future__ import annotations

import numpy as np
import pytest

from crubric_core.judges.consensus import majority
from crubric_core.judges.dawid_skene import dawid_skene
from crubric_core.judges.posterior import posterior_labels
from crubric_core.judges.recalibration import recalibrate_posterior
from tests import oracles

SENSITIVITY = [0.95, 0.70, 0.97, 0.90, 0.90]  # good, careless, lenient, and two who share errors
SPECIFICITY = [0.93, 0.70, 0.60, 0.88, 0.88]


def study(seed, share, units=9000):
    rng = np.random.default_rng(seed)
    truth, votes = oracles.simulate_judges(
        units, SENSITIVITY, SPECIFICITY, 0.55, rng, shared=(3, 4), share=share
    )
    known = rng.random(units) < 0.05
    return truth, votes, np.where(known, truth, np.nan), ~known


@pytest.mark.parametrize("share", [0.0, 0.6])
def test_five_per_cent_of_anchors_beat_the_majority_whether_judges_share_errors_or_not(share):
    gains = []
    for seed in range(6):
        truth, votes, anchors, free = study(seed, share)
        found = posterior_labels(votes[None], np.full(len(truth), 2), anchors[None]).y[0]
        gains.append((found == truth)[free].mean() - (majority(votes) == truth)[free].mean())
    assert min(gains) > 0
    assert np.mean(gains) > 0.003


def test_shared_errors_fool_dawid_skene_even_with_anchors_clamped():
    """Why clamping alone is not enough."""
    truth, votes, anchors, free = study(0, 0.6)
    clamped = dawid_skene(votes, 2, anchors).level()
    assert (clamped[free] == truth[free]).mean() < (majority(votes)[free] == truth[free]).mean()


def test_anchors_that_bear_the_fit_out_leave_it_alone_and_others_do_not():
    def strength(seed, share):
        _, votes, anchors, _ = study(seed, share)
        return recalibrate_posterior(votes, dawid_skene(votes, 2, anchors).posterior, anchors).strength

    alone, sharing = (np.median([strength(seed, share) for seed in range(5)]) for share in (0.0, 0.9))
    assert alone > 10 * sharing


def test_the_posterior_of_a_pattern_is_the_mixture_written_out():
    labels = np.repeat([[1.0, 0.0], [1.0, 1.0]], 10, axis=0)
    posterior = np.repeat([[0.3, 0.7], [0.1, 0.9]], 10, axis=0)
    anchors = np.full(20, np.nan)
    anchors[[0, 1, 2, 10]] = [0, 0, 0, 1]
    found = recalibrate_posterior(labels, posterior, anchors)
    kappa = found.strength
    np.testing.assert_allclose(
        found.posterior[5], [(0.3 * kappa + 3) / (kappa + 3), 0.7 * kappa / (kappa + 3)]
    )
    np.testing.assert_allclose(
        found.posterior[15], [0.1 * kappa / (kappa + 1), (0.9 * kappa + 1) / (kappa + 1)]
    )
    np.testing.assert_array_equal(found.posterior[0], posterior[0])


@pytest.mark.parametrize("anchored", [[], [2]])
def test_without_an_anchor_on_a_labelled_unit_nothing_changes(anchored):
    labels = np.array([[1.0], [0.0], [np.nan]])
    posterior = np.array([[0.1, 0.9], [0.8, 0.2], [np.nan, np.nan]])
    anchors = np.full(3, np.nan)
    anchors[anchored] = 1
    found = recalibrate_posterior(labels, posterior, anchors)
    np.testing.assert_array_equal(found.posterior, posterior)
    assert found.strength == np.inf
