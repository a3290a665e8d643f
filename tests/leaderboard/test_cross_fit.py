from __future__ import annotations

import numpy as np
import pytest

from crubric_core import fit_irt
from crubric_core.leaderboard import influence
from crubric_core.leaderboard.cross_fit import CrossFit, assign_folds, cross_fit, too_few_to_cross_fit
from crubric_core.leaderboard.inference import infer
from crubric_core.leaderboard.influence import ability_influence, score_influence
from tests import oracles
from tests.irt.conftest import simulate
from tests.irt.test_prefixes import table

MODELS = [("1PL", 2), ("2PL", 2), ("3PL", 2), ("GRM", 4)]


@pytest.fixture(scope="module", params=MODELS, ids=lambda p: p[0])
def cross(request):
    model, top = request.param
    y = table(top, rubrics=60)
    return cross_fit(y, fit_irt(y, model))


def queries(cross):
    return np.arange(cross.y.shape[1]) // 4


def shown(cross, use, query):
    """(n, M) what queries of unequal numbers of labels show; use: (J,) rubrics, of which those that vary count."""
    varying = np.flatnonzero(use & ~cross.pooled.constant)
    at = np.unique(query[varying], return_inverse=True)[1]
    known = np.isfinite(cross.y[:, varying])
    return oracles.shown_of_unequal(np.stack([np.bincount(at, row) for row in known], axis=1))


def test_up_to_forty_systems_are_left_out_one_at_a_time_and_more_in_ten_balanced_folds():
    theta = np.random.default_rng(0).normal(size=40)
    assert sorted(assign_folds(theta)) == list(range(40))
    theta = np.random.default_rng(0).normal(size=107)
    folds = assign_folds(theta)
    assert set(folds) == set(range(10))
    assert np.ptp(np.bincount(folds)) <= 1
    means = [theta[folds == f].mean() for f in range(10)]
    assert np.ptp(means) < 0.3 * theta.std()


def test_five_systems_are_too_few_to_cross_fit():
    assert [too_few_to_cross_fit(m) for m in (1, 5, 6, 400)] == [True, True, False, False]


def test_a_systems_own_labels_do_not_touch_the_parameters_that_place_it():
    y = simulate(8, 80, seed=4).y
    pooled = fit_irt(y)
    changed = y.copy()
    changed[3] = 1 - changed[3]
    varies = ~pooled.constant & ~fit_irt(changed).constant
    before, after = (cross_fit(labels, pooled).items[3] for labels in (y, changed))
    np.testing.assert_array_equal(before.a[varies], after.a[varies])
    np.testing.assert_array_equal(before.b[varies], after.b[varies])


def test_only_what_is_constant_among_all_has_no_parameters(cross):
    for items in cross.items:
        assert np.isnan(items.a).tolist() == cross.pooled.constant.tolist()


def test_every_fold_is_on_the_pooled_scale(cross):
    found = cross.abilities(np.ones(60, dtype=bool))
    assert np.corrcoef(found, cross.pooled.theta)[0, 1] > 0.97
    assert abs(found.mean() - cross.pooled.theta.mean()) < 0.2


def test_abilities_are_the_posterior_means_at_the_folds_own_parameters(cross):
    use = np.arange(60) % 4 != 1
    found = cross.abilities(use)
    for i, fold in enumerate(cross.fold):
        nodes, row = oracles.DENSE_NODES, cross.y[i]
        log_joint = -0.5 * nodes**2
        for j in np.flatnonzero(use & ~cross.pooled.constant & ~np.isnan(row)):
            log_joint = log_joint + oracles.label_log_probability(cross.items[fold], j, row[j], nodes)
        weight = np.exp(log_joint - log_joint.max())
        assert found[i] == pytest.approx(float(weight @ nodes / weight.sum()), abs=1e-6)


def test_the_papers_grid_is_respected():
    y = simulate(7, 60, seed=2).y
    cross = cross_fit(y, fit_irt(y, quadrature="grid"))
    exact = cross_fit(y, fit_irt(y))
    everything = np.ones(60, dtype=bool)
    np.testing.assert_allclose(cross.abilities(everything), exact.abilities(everything), atol=0.05)
    assert (cross.abilities(everything) != exact.abilities(everything)).all()


def test_contributions_are_those_of_finite_differences(cross):
    use = np.arange(60) % 4 != 1
    found = ability_influence(cross, use, queries(cross))
    psi, information = oracles.naive_influence(
        cross.y, cross.items, cross.fold, use, queries(cross), found.estimate
    )
    assert found.unit == "query"
    np.testing.assert_allclose(1 / found.floor, information, rtol=1e-5)
    pooled = cross.pooled
    link = oracles.naive_link(cross.y, pooled.items, pooled.theta, cross.fold, use, queries(cross))
    np.testing.assert_allclose(found.psi, (psi - link) / shown(cross, use, queries(cross)), atol=1e-6)
    assert np.abs(link).max() > 1e-3


def test_each_fold_may_have_rubrics_of_its_own(cross):
    rng = np.random.default_rng(1)
    use = rng.random((cross.n_folds, 60)) < 0.5
    found = ability_influence(cross, use, queries(cross))
    for i in (0, 4):
        alone = ability_influence(cross, use[cross.fold[i]], queries(cross))
        assert found.estimate[i] == pytest.approx(alone.estimate[i], abs=1e-9)
        assert found.floor[i] == pytest.approx(alone.floor[i])
        assert found.psi[:, i] @ found.psi[:, i] == pytest.approx(alone.psi[:, i] @ alone.psi[:, i])


def test_with_one_query_its_rubrics_are_the_units():
    y = simulate(8, 50, seed=5).y
    cross = cross_fit(y, fit_irt(y))
    found = ability_influence(cross, np.ones(50, dtype=bool), np.zeros(50, dtype=np.int64))
    assert found.unit == "rubric"
    assert len(found.psi) == (~cross.pooled.constant).sum()
    assert np.isnan(found.within_variance).all()


def test_more_than_forty_systems_are_placed_ten_folds_at_a_time():
    truth = simulate(45, 120, seed=6)
    cross = cross_fit(truth.y, fit_irt(truth.y))
    assert cross.n_folds == 10
    found = ability_influence(cross, np.ones(120, dtype=bool), np.arange(120) // 3)
    assert np.corrcoef(found.estimate, truth.theta)[0, 1] > 0.95


def test_a_single_fold_of_everybody_is_the_pooled_fit_without_a_link():
    y, use, query = simulate(8, 60, seed=7).y, np.ones(60, dtype=bool), np.arange(60) // 3
    pooled = fit_irt(y)
    alone = CrossFit(y, pooled, np.zeros(8, dtype=np.int64), (pooled.items,), np.ones(1, dtype=bool))
    found = ability_influence(alone, use, query)
    np.testing.assert_allclose(found.estimate, pooled.theta, atol=1e-6)
    psi, _ = oracles.naive_influence(y, [pooled.items], alone.fold, use, query, found.estimate)
    np.testing.assert_allclose(found.psi, psi / shown(alone, use, query), atol=1e-6)


def test_where_one_system_alone_differs_the_others_still_place_it():
    y = np.ones((7, 30))
    y[2, ::2] = 0
    cross = cross_fit(y, fit_irt(y))
    found = ability_influence(cross, np.ones(30, dtype=bool), np.arange(30) // 2)
    assert np.isfinite(found.estimate).all()
    assert found.estimate[2] < min(np.delete(found.estimate, 2))
    assert found.saturated.tolist() == [1, 1, -1, 1, 1, 1, 1]


def test_a_system_without_labels_has_no_ability_and_says_nothing():
    y = simulate(8, 60, seed=7).y
    y[5] = np.nan
    cross = cross_fit(y, fit_irt(y))
    found = ability_influence(cross, np.ones(60, dtype=bool), np.arange(60) // 3)
    assert np.isnan(found.estimate).tolist() == [i == 5 for i in range(8)]
    assert (found.psi[:, 5] == 0).all()
    assert found.n_units[5] == 0


def test_saturation_is_said_with_its_side_and_from_the_rubrics_in_use():
    y = simulate(8, 60, seed=8).y
    y[0], y[1] = 1, 0
    y[0, :6] = 0
    cross = cross_fit(y, fit_irt(y))
    late, all_ = np.arange(60) >= 6, np.ones(60, dtype=bool)
    query = np.arange(60) // 3
    assert ability_influence(cross, late, query).saturated.tolist() == [1, -1, *[0] * 6]
    assert ability_influence(cross, all_, query).saturated.tolist() == [0, -1, *[0] * 6]


def test_on_graded_rubrics_the_highest_level_alone_saturates():
    y = table(4, rubrics=30)
    y[0], y[1], y[2] = 3, 0, 1
    found = ability_influence(cross_fit(y, fit_irt(y, "GRM")), np.ones(30, dtype=bool), np.arange(30) // 3)
    assert found.saturated[:3].tolist() == [1, -1, 0]


def test_the_variance_of_a_weighted_score_with_equal_weights_is_that_of_a_mean():
    scores = np.random.default_rng(0).random((3, 20))
    found = score_influence(scores, np.full(20, 0.05))
    n = found.n_units
    variance = (found.psi**2).sum(axis=0) * n / (n - 1)
    expected = [np.var(row, ddof=1) / 20 for row in scores]
    assert found.estimate.tolist() == pytest.approx(scores.mean(axis=1).tolist())
    assert variance.tolist() == pytest.approx(expected)


def test_within_these_queries_the_variance_is_that_of_the_rescaled_bootstrap(monkeypatch):
    from crubric_core.irt.cells import label_scores
    from crubric_core.leaderboard.bootstrap import draw_weights

    y, query = simulate(6, 60, seed=9).y, np.r_[np.arange(56) // 4, 20, 21, 22, 23]
    cross = cross_fit(y, fit_irt(y))
    use = ~cross.pooled.constant
    linked = ability_influence(cross, use, query)
    monkeypatch.setattr(influence, "_link_contributions", lambda *_: 0.0)
    found = ability_influence(cross, use, query)
    taken = (linked.psi**2).sum(axis=0) / (found.psi**2).sum(axis=0)
    assert linked.within_variance == pytest.approx(taken * found.within_variance, rel=0.01)
    weights = draw_weights(query[use], 20_000, np.random.default_rng(0))
    for i in (0, 3):
        items = cross.items[i].of(use)
        score, _ = label_scores(items, y[[i]][:, use], found.estimate[[i]])
        resampled = (weights @ score[0] * found.floor[i]).var()
        assert found.within_variance[i] == pytest.approx(resampled, rel=0.05)


def test_queries_of_one_rubric_have_no_design_effect():
    """Queries and rubrics are then the same units; .9 was shown of six systems."""
    y = simulate(6, 300, seed=2).y
    cross = cross_fit(y, fit_irt(y))
    found = ability_influence(cross, ~cross.pooled.constant, np.arange(300))
    assert infer(found, np.random.default_rng(0)).design_effect == pytest.approx(1)


def test_a_score_on_easy_queries_alone_is_compared_as_if_on_all():
    """Additive scores: systems .1 apart, queries from .1 to .6; the best is scored on the hard half alone."""
    scores = np.array([0.3, 0.2, 0.1])[:, None] + np.linspace(0.1, 0.6, 20)
    whole = score_influence(scores, np.ones(20))
    scores[0, 10:] = np.nan
    found = score_influence(scores, np.ones(20))
    assert found.estimate == pytest.approx(whole.estimate)
    assert np.ptp(found.psi, axis=1) == pytest.approx(
        0, abs=1e-12
    )  # each difference is the same on every query
    assert found.n_units.tolist() == [10, 20, 20]


def test_contributions_of_scores_on_different_queries_are_how_far_each_query_moves_them():
    rng = np.random.default_rng(1)
    scores, omega = rng.random((4, 15)), rng.random(15) + 0.1
    scores[0, :6] = scores[3, 12:] = np.nan
    found = score_influence(scores, omega)
    psi = found.psi * oracles.shown_of_unequal(np.isfinite(scores).T * omega[:, None])
    for query in range(15):
        heavier = omega.copy()
        heavier[query] *= 1 + 1e-6
        moved = (score_influence(scores, heavier).estimate - found.estimate) / 1e-6
        assert psi[query] == pytest.approx(moved, abs=1e-6)
    assert psi.sum(axis=0) == pytest.approx(0, abs=1e-12)


def test_scores_are_the_least_squares_means_of_systems_beside_queries():
    rng = np.random.default_rng(2)
    scores = rng.random((4, 15))
    scores[rng.random(scores.shape) < 0.3] = np.nan
    i, q = np.nonzero(np.isfinite(scores))
    design = np.hstack([np.eye(4)[i], np.eye(15)[q]])
    fitted = np.linalg.lstsq(design, scores[i, q], rcond=None)[0]
    assert score_influence(scores, np.ones(15)).estimate == pytest.approx(fitted[:4] + fitted[4:].mean())
