"""The many-facet model: severities of judges beside rubrics and abilities."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit
from scipy.stats import norm

from crubric_core.errors import FitError
from crubric_core.irt.facets import fit_many_facet, fit_with_severity
from crubric_core.irt.fit import fit_irt
from crubric_core.irt.models import ItemParameters
from crubric_core.irt.severities import Severities, common_queries, shrink, weakest_link
from crubric_core.leaderboard.facets import severities_of
from crubric_core.settings import Priors
from tests.oracles import dense_posterior


def panel_of(seed: int, shape=(12, 30, 4), levels: int = 2, missing: float = 0.3, severity=None):
    """A panel (M, J, K) from the model, and the severities."""
    rng = np.random.default_rng(seed)
    theta, a = rng.normal(size=shape[0]), np.exp(rng.normal(0, 0.4, shape[1]))
    steps = np.sort(rng.normal(0, 1.2, (shape[1], levels - 1)), axis=1)
    severity = rng.normal(size=shape[2]) if severity is None else np.asarray(severity)
    severity = severity - severity.mean()
    z = a[:, None] * (theta[:, None, None] - steps)  # (M, J, L - 1)
    passed = expit(z[:, :, None, :] - severity[:, None]) > rng.random(shape)[..., None]
    panel = passed.sum(axis=3).astype(float)
    panel[rng.random(shape) < missing] = np.nan
    return panel, severity


def log_posterior(panel, items, severity) -> tuple[float, float]:
    """Marginal log-likelihood and log posterior: each rubric before each judge is a rubric, higher by severity / a."""
    flat, size = panel.reshape(len(panel), -1), panel.shape[2]
    moved = items.edges[:, None, :] + (severity[:, None] / items.a[:, None, None])
    a = np.repeat(items.a, size)
    loglik = dense_posterior(flat, a, np.zeros(len(a)), None, moved.reshape(len(a), -1))[0].sum()
    prior = norm.logpdf(np.log(items.a), 0, 0.5).sum() + norm.logpdf(items.edges, 0, 2.0).sum()
    return loglik, loglik + prior


@pytest.mark.parametrize(("model", "levels"), [("2PL", 2), ("GRM", 4)])
def test_likelihood_and_posterior_are_those_of_the_definition(model, levels):
    panel, _ = panel_of(1, levels=levels)
    fit = fit_many_facet(panel, model)
    loglik, logpost = log_posterior(panel, fit.rubrics.items, fit.severity)
    assert fit.converged
    assert not fit.rubrics.constant.any()
    assert (fit.rubrics.loglik, fit.rubrics.logpost) == pytest.approx((loglik, logpost), abs=1e-5)


@pytest.mark.parametrize(("model", "levels"), [("2PL", 2), ("GRM", 3)])
def test_given_the_severities_no_neighbour_is_better(model, levels):
    panel, _ = panel_of(2, levels=levels)
    fit = fit_many_facet(panel, model)
    items, rng = fit.rubrics.items, np.random.default_rng(0)
    best = log_posterior(panel, items, fit.severity)[1]
    for _ in range(6):
        by, turn = rng.normal(0, 0.01, len(items.a)), np.exp(rng.normal(0, 0.01, len(items.a)))
        near = ItemParameters(items.a * turn, items.b, items.c, items.edges + by[:, None])
        assert log_posterior(panel, near, fit.severity)[1] < best


@pytest.mark.parametrize(("model", "levels"), [("2PL", 2), ("GRM", 4)])
def test_each_judge_exceeds_the_others_of_its_cells_by_as_much_as_expected(model, levels):
    panel, _ = panel_of(3, levels=levels)
    fit = fit_many_facet(panel, model)
    rubrics, excess = fit.rubrics, np.zeros(panel.shape[2])
    for i, j in np.ndindex(panel.shape[:2]):
        judges = np.flatnonzero(np.isfinite(panel[i, j]))
        if len(judges) < 2:
            continue
        z = rubrics.a[j] * (rubrics.theta[i] - rubrics.items.edges[j])
        above = np.array([panel[i, j, k] - sum(expit(at - fit.severity[k]) for at in z) for k in judges])
        excess[judges] += (above - above.mean()) / (levels - 1)
    weak = fit.severity / 5.0**2  # of the prior that keeps severities finite
    np.testing.assert_allclose(excess, weak - weak.mean(), atol=2e-3)
    assert abs(fit.severity.mean()) < 1e-12


def test_one_judge_makes_it_the_model_of_the_labels_alone():
    panel, _ = panel_of(4, (12, 30, 1), missing=0.1)
    fit, plain = fit_many_facet(panel).rubrics, fit_irt(panel[:, :, 0])
    assert fit.loglik == pytest.approx(plain.loglik, abs=1e-6)
    np.testing.assert_allclose(fit.theta, plain.theta, atol=1e-5)
    np.testing.assert_allclose(fit.b[~fit.constant], plain.b[~plain.constant], atol=1e-4)


def test_the_order_of_judges_does_not_matter_and_judges_who_agree_are_equally_severe():
    panel, _ = panel_of(5, missing=0.0)
    turned = panel[:, :, ::-1]
    np.testing.assert_allclose(
        fit_many_facet(turned).severity[::-1], fit_many_facet(panel).severity, atol=1e-5
    )
    same = fit_many_facet(np.repeat(panel[:, :, :1], 3, axis=2))
    np.testing.assert_allclose(same.severity, 0.0, atol=1e-12)


def test_a_judge_who_fails_nothing_is_lenient_by_a_finite_number():
    panel, _ = panel_of(6, severity=[0.0, 0.0, 0.0, 0.0])
    panel[:, :, 3] = np.where(np.isnan(panel[:, :, 3]), np.nan, 1.0)
    fit = fit_many_facet(panel)
    assert fit.converged
    assert -15 < fit.severity[3] < -3


def test_judges_without_a_common_cell_and_other_panels_are_refused():
    panel, _ = panel_of(7, missing=0.0)
    panel[:6, :, 2:] = panel[6:, :, :2] = np.nan
    with pytest.raises(FitError, match="No chain of cells"):
        fit_many_facet(panel)
    all_pass = np.ones((12, 1, 4))  # common cells that tell nothing
    with pytest.raises(FitError, match="No chain of cells"):
        fit_many_facet(np.concatenate([panel, all_pass], axis=1))
    with pytest.raises(FitError, match="systems × rubrics × judges"):
        fit_many_facet(panel[0])
    with pytest.raises(FitError, match="two different labels"):
        fit_many_facet(np.ones((6, 3, 2)))
    with pytest.raises(FitError, match="does not fit 2PL"):
        fit_many_facet(np.full((6, 3, 2), 2.0) * np.arange(6)[:, None, None])


def test_severities_are_recovered_and_their_intervals_hold_in_designs_that_confound_judges_and_systems():
    """Two judges of each system, the next system shares one: all parameters' likelihood together errs twice as much."""
    inside, errors = [], []
    for seed in range(12):
        panel, severity = panel_of(seed, (12, 120, 6), missing=0.0)
        for i in range(12):
            panel[i, :, [k for k in range(6) if k not in (i % 6, (i + 1) % 6)]] = np.nan
        fit = fit_many_facet(panel)
        found = severities_of(panel, fit, np.arange(120) // 4)
        low, high = found.interval(0.95)
        inside.append((low <= severity) & (severity <= high))
        errors.append((fit.severity - severity) / np.sqrt(np.diag(found.covariance)))
    assert np.mean(inside) > 0.87
    assert 0.7 < np.std(errors) < 1.3
    assert abs(found.contributions.sum(axis=0)).max() < 1e-2


def test_a_contribution_is_what_an_estimate_loses_without_the_unit():
    panel, _ = panel_of(3, (12, 60, 4), missing=0.2)
    unit = np.arange(60) // 4
    fit = fit_many_facet(panel)
    found = severities_of(panel, fit, unit)
    without = np.array([fit_many_facet(panel[:, unit != each]).severity for each in range(15)])
    lost = (fit.severity - without).ravel()
    assert np.corrcoef(lost, found.contributions.ravel())[0, 1] > 0.95
    assert np.polyfit(found.contributions.ravel(), lost, 1)[0] == pytest.approx(1.0, abs=0.15)


def test_errors_are_those_of_queries_that_differ_and_never_less_than_those_of_labels():
    """A judge who is severe on every other query, and two who never disagree."""
    rng, unit = np.random.default_rng(0), np.arange(120) // 4
    theta, b = rng.normal(size=12), rng.normal(size=120)
    logits = (theta[:, None] - b)[:, :, None] - np.stack([np.zeros(120), 2.0 * (unit % 2)], axis=1)
    panel = (rng.random(logits.shape) < expit(logits)).astype(float)
    turned = panel.copy()
    turned[:, :, 1] = panel[:, rng.permutation(120), 1]  # as many passes, and no query like another
    by_query, at_random = (severities_of(each, fit_many_facet(each), unit) for each in (panel, turned))
    assert np.trace(by_query.covariance) > 1.3 * np.trace(at_random.covariance)
    same = np.repeat(panel[:, :, :1], 2, axis=2)
    assert np.trace(severities_of(same, fit_many_facet(same), unit).covariance) > 0


def test_intervals_of_differences_hold_together():
    found = Severities(np.array([0.5, 0.0, -0.5]), np.zeros((20, 3)), 10, 0.04 * np.eye(3), 1.0, np.zeros(3))
    difference, half = found.differences(0.95)
    assert difference[0, 2] == 1.0
    assert half[0, 1] == pytest.approx(stats.t.ppf(1 - 0.05 / 3 / 2, 9) * np.sqrt(0.08))
    low, high = found.interval(0.95)
    np.testing.assert_allclose(high - low, 2 * stats.t.ppf(0.975, 9) * 0.2)


def test_judges_who_do_not_differ_are_shrunken_to_their_mean():
    spread, shrunken = shrink(np.array([0.1, -0.1, 0.05, -0.05]), 0.04 * (np.eye(4) - 0.25))
    assert spread < 0.01
    assert np.abs(shrunken).max() < 1e-3
    spread, shrunken = shrink(value := np.array([1.5, -1.5, 0.5, -0.5]), 0.01 * (np.eye(4) - 0.25))
    assert spread == pytest.approx(np.sqrt((value**2).sum() / 3 - 0.01), rel=1e-4)
    np.testing.assert_allclose(shrunken, value * spread**2 / (spread**2 + 0.01), rtol=1e-6)


def test_the_weakest_link_is_the_least_of_the_best_chain():
    common = np.diag([9, 9, 9, 9])
    for one, other, units in ((0, 1, 7), (1, 2, 4), (0, 2, 5), (2, 3, 6)):
        common[one, other] = common[other, one] = units
    assert weakest_link(common) == 5
    common[2, 3] = common[3, 2] = 0
    assert weakest_link(common) == 0
    assert weakest_link(np.array([[3]])) == 3


def test_common_queries_are_counted_by_cells_that_both_judges_labelled():
    rng = np.random.default_rng(0)
    labels = np.where(rng.random((4, 12, 5)) < 0.7, np.nan, 1.0)
    query = np.repeat(np.arange(4), 3)
    found = common_queries(labels, query)
    for k in range(5):
        for other in range(5):
            both = np.isfinite(labels[:, :, k]) & np.isfinite(labels[:, :, other])
            assert found[k, other] == sum(both[:, query == q].any() for q in range(4))


def test_known_severities_give_what_lme4_finds(real_data):
    """glmer (lme4 1.1-31, 25 nodes) of ratings1 as 2 or 3 against less, persons N(0, 1), judges as fixed effects."""
    table = pd.read_csv(real_data / "psychometrics" / "ratings1.csv", dtype={"system": str})
    panel = np.full((135, 5, 7), np.nan)
    at = [np.unique(table[name], return_inverse=True)[1] for name in ("system", "rubric", "judge")]
    panel[tuple(at)] = table["label"] >= 2
    passes = np.array(
        [0.0, 0.694422646473, 0.906463520688, 2.297236171397, 1.319621521854, 1.718325890917, 1.876045538256]
    )
    severity = passes.mean() - passes
    priors = Priors(log_a_sd=1e-6, b_sd=None, c_beta=None)  # all slopes 1
    fit = fit_with_severity(panel, severity, priors=priors)
    assert fit.rubrics.loglik == pytest.approx(-672.072961087, abs=1e-6)
    intercepts = [-1.257268154172, -1.922848454112, -1.575597046522, -1.552739414765, -1.370650587109]
    np.testing.assert_allclose(-fit.rubrics.b - severity[0], intercepts, atol=2e-5)
    # These severities are of the largest likelihood of all parameters; the common cells alone say nearly the same.
    own = fit_many_facet(panel, priors=priors)
    assert np.corrcoef(own.severity, severity)[0, 1] > 0.95
