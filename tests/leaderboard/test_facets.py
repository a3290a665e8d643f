"""Cross-fitted abilities with judges on the scale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crubric_core.irt.cells import label_scores
from crubric_core.irt.facets import fit_many_facet
from crubric_core.leaderboard import facets
from crubric_core.leaderboard.facets import many_facet_board
from crubric_core.leaderboard.inference import infer
from tests.irt.test_facets import panel_of

UNIT = np.arange(60) // 4


@pytest.fixture(scope="module")
def study():
    panel, severity = panel_of(1, (10, 60, 4), missing=0.2)
    fit = fit_many_facet(panel)
    return panel, severity, fit, many_facet_board(panel, fit, UNIT)


def test_a_rubric_before_a_judge_is_passed_with_the_models_probability(study):
    _, _, fit, _ = study
    severity = np.array([0.5, -0.5])
    pairs = fit.rubrics.items.of(np.array([3, 3])).harder(severity)
    theta = 0.7
    logits = pairs.a * (theta - pairs.b)
    plain = fit.rubrics.a[3] * (theta - fit.rubrics.b[3])
    np.testing.assert_allclose(logits, plain - severity, rtol=1e-12)


def test_no_system_is_placed_by_rubrics_fitted_on_its_own_labels(study):
    panel, _, fit, _ = study
    other = panel.copy()
    other[2] = 1 - other[2]
    fold = np.arange(10)
    for labels in (panel, other):
        items, _ = facets._fit_without(labels, fit.rubrics, fit.severity, fold, 2)
        if labels is panel:
            before = items
    np.testing.assert_array_equal(items.a, before.a)
    np.testing.assert_array_equal(items.b, before.b)


def test_contributions_hold_those_of_the_severities(study, monkeypatch):
    """An error of a severity moves each ability as a refit with the moved severity does."""
    panel, _, fit, board = study
    influence, found = board.influence, board.severities
    rubrics, judges = np.nonzero((~np.isnan(panel)).any(axis=0) & ~fit.rubrics.constant[:, None])
    y = panel[:, rubrics, judges]

    def at(severity, theta):
        return label_scores(fit.rubrics.items.of(rubrics).harder(severity[judges]), y, theta)

    theta = influence.estimate.copy()
    for _ in range(50):  # the mode at these parameters, by Newton's method
        score, info = at(found.shrunken, theta)
        theta += (score.sum(axis=1) - theta) / (1 + info.sum(axis=1))
    step, by_hand = 1e-4, theta.copy()
    for _ in range(50):
        score, info = at(found.shrunken + np.array([step, 0, 0, 0]), by_hand)
        by_hand += (score.sum(axis=1) - by_hand) / (1 + info.sum(axis=1))
    _, info = at(found.shrunken, theta)
    expected = (info * (judges == 0) / fit.rubrics.a[rubrics]).sum(axis=1) / (1 + info.sum(axis=1))
    np.testing.assert_allclose((by_hand - theta) / step, expected, rtol=2e-3)
    sure = replace(found, contributions=np.zeros_like(found.contributions))
    monkeypatch.setattr(facets, "severities_of", lambda *_: sure)
    without = many_facet_board(panel, fit, UNIT).influence.psi
    np.testing.assert_allclose(
        influence.psi - without, found.contributions @ board.moved.T, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(board.moved[:, 0], expected, rtol=0.1)


def test_identical_systems_with_different_judges_are_seldom_separated_and_others_are():
    """Two judges of each system, linked in a ring: no judge of systems 0 to 5 is one of half of the others."""
    borders, apart, reversed_ = 0, [], []
    for seed in range(6):
        for spread in (0.0, 1.0):
            rng = np.random.default_rng([3, seed])
            theta, severity = spread * rng.normal(size=12), rng.normal(size=6)
            a, b = np.exp(rng.normal(0, 0.4, 120)), rng.normal(0, 1.2, 120)
            logits = a[:, None] * (theta[:, None, None] - b[:, None]) - severity
            panel = (rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float)
            for i in range(12):
                panel[i, :, [k for k in range(6) if k not in (i % 6, (i + 1) % 6)]] = np.nan
            board = many_facet_board(panel, fit_many_facet(panel), np.arange(120) // 4)
            found = infer(board.influence, np.random.default_rng(seed))
            if spread:
                apart.append(found.separated.mean())
                way = np.sign(theta[:, None] - theta)
                reversed_.append((found.separated & (np.sign(found.difference) != way)).sum())
            else:
                borders += found.separated.any()
    assert borders <= 1
    assert np.mean(apart) > 0.3
    assert sum(reversed_) == 0
