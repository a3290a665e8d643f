from __future__ import annotations

import numpy as np
import pytest

from crubric_core import fit_irt
from crubric_core.irt.cells import label_scores, softplus_terms
from crubric_core.irt.models import ItemParameters
from crubric_core.workers import Workers, use_workers
from tests import oracles

from .test_prefixes import table

MODELS = [("1PL", 2), ("2PL", 2), ("3PL", 2), ("GRM", 4)]


@pytest.fixture(params=MODELS, ids=lambda p: p[0])
def fitted(request):
    model, top = request.param
    y = table(top, rubrics=20)
    items = fit_irt(y, model).items
    return y, items, [j for j in range(20) if np.isfinite(items.a[j])], top


def test_scores_are_the_slopes_of_the_log_probabilities(fitted):
    y, items, varying, _ = fitted
    theta = np.linspace(-2, 2, 9)
    score, _ = label_scores(items, y, theta)
    for i, j in np.ndindex(*y.shape):
        if np.isnan(y[i, j]) or j not in varying:
            assert score[i, j] == 0
            continue
        low, high = oracles.label_log_probability(items, j, y[i, j], theta[i] + np.array([-1e-5, 1e-5]))
        assert score[i, j] == pytest.approx((high - low) / 2e-5, abs=1e-6)


def test_information_is_the_mean_square_of_the_score(fitted):
    _, items, varying, top = fitted
    theta = np.array([-1.0, 0.4])
    by_level = [label_scores(items, np.full((2, 20), float(level)), theta) for level in range(top)]
    for j in varying:
        weights = [oracles.label_probability(items, j, level, theta) for level in range(top)]
        expected = sum(p * score[:, j] ** 2 for p, (score, _) in zip(weights, by_level, strict=True))
        np.testing.assert_allclose(by_level[0][1][:, j], expected, atol=1e-12)


def test_unknown_labels_and_unknown_rubrics_have_no_information(fitted):
    y, items, varying, _ = fitted
    score, information = label_scores(items, y, np.zeros(len(y)))
    empty = np.isnan(y) | ~np.isin(np.arange(20), varying)
    assert (information[empty] == 0).all()
    assert (score[empty] == 0).all()
    assert (information[~empty] > 0).all()


def test_terms_add_up_to_the_log_likelihood_but_for_a_constant(fitted):
    y, items, varying, _ = fitted
    nodes = np.linspace(-3, 3, 7)
    use, of = np.arange(20) % 3 > 0, np.zeros(len(y), dtype=np.int64)
    terms = softplus_terms([items])
    found = terms.at_nodes(terms.of(use[None]), y, of, nodes, terms.softplus(nodes))
    for i, row in enumerate(y):
        known = [j for j in varying if use[j] and not np.isnan(row[j])]
        exact = sum(oracles.label_log_probability(items, j, row[j], nodes) for j in known)
        np.testing.assert_allclose(np.diff(found[i]), np.diff(exact), atol=1e-9)


def test_threads_that_share_the_rows_find_the_same_bits(fitted, monkeypatch):
    y, items, _, _ = fitted
    terms, theta, nodes = softplus_terms([items]), np.linspace(-2, 2, len(y)), np.linspace(-4, 4, 41)
    alone = *label_scores(items, y, theta), terms.softplus(nodes)
    monkeypatch.setattr("crubric_core.irt.cells.LARGE", 0)
    monkeypatch.setattr("crubric_core.irt.cells.AT_ONCE", 41)
    with use_workers(Workers(threads=3)):
        together = *label_scores(items, y, theta), terms.softplus(nodes)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_level_that_the_fit_never_saw_still_says_where_a_system_is():
    items = ItemParameters(np.array([2.0]), np.array([0.5]), np.array([0.0]), np.array([[0.5, 0.5]]))
    nodes, terms = np.linspace(-2, 3, 51), softplus_terms([items])
    one, of = np.ones((1, 1)), np.zeros(1, dtype=np.int64)
    loglik = terms.at_nodes(np.arange(len(terms.rubric)), one, of, nodes, terms.softplus(nodes))[0]
    assert nodes[loglik.argmax()] == pytest.approx(0.5)
    score, _ = label_scores(items, np.ones((3, 1)), np.array([0.0, 0.5, 1.0]))
    assert score[0, 0] > 0 == score[1, 0] > score[2, 0]
