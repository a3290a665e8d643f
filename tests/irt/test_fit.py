"""The fit: published estimates, a dense-grid oracle, recovery of known parameters, and tables at the edge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from crubric_core.errors import ConvergenceError, FitError
from crubric_core.irt.fit import fit_irt
from crubric_core.irt.logistic import Logistic
from crubric_core.irt.objective import STEEPEST
from crubric_core.settings import Priors
from tests import golden, oracles
from tests.irt.conftest import simulate
from tests.tiers import examples

MODELS = ("1PL", "2PL", "3PL", "GRM")


class TestPublishedEstimates:
    """mirt, ltm and TAM agree on these to the printed digits (sources in tests/golden)."""

    def test_lsat7_2pl(self):
        fit, known = flat_fit("LSAT7", "2PL")
        assert fit.loglik == pytest.approx(known["loglik"], abs=5e-6)
        np.testing.assert_allclose(fit.a, known["a"], atol=1e-6)
        np.testing.assert_allclose(fit.b, known["b"], atol=1e-6)
        printed = golden.published("LSAT7", "2PL_mirt_tests")
        np.testing.assert_allclose(fit.a, printed["a"], atol=1e-2)
        np.testing.assert_allclose(-fit.a * fit.b, printed["d"], atol=1e-2)

    def test_lsat7_1pl_has_one_slope(self):
        fit, known = flat_fit("LSAT7", "1PL")
        assert len(set(fit.a)) == 1
        assert fit.a[0] == pytest.approx(known["a"], abs=5e-4)
        assert fit.loglik == pytest.approx(known["loglik"], abs=5e-6)
        np.testing.assert_allclose(-fit.a * fit.b, known["d"], atol=6e-4)  # printed to three digits

    def test_lsat6_rasch(self):
        fit, known = flat_fit("LSAT6", "1PL")
        assert fit.loglik == pytest.approx(known["loglik"], abs=5e-6)
        assert fit.a[0] == pytest.approx(known["a"], abs=2e-6)
        assert fit.a[0] ** 2 == pytest.approx(known["rasch_variance"], abs=2e-5)
        np.testing.assert_allclose(fit.b, known["b"], atol=2e-6)

    def test_lsat6_2pl(self):
        fit, known = flat_fit("LSAT6", "2PL")
        assert fit.loglik == pytest.approx(known["loglik"], abs=5e-6)
        np.testing.assert_allclose(fit.a, known["a"], atol=1e-6)
        np.testing.assert_allclose(fit.b, known["b"], atol=5e-6)

    @pytest.mark.parametrize("name", ["LSAT6", "LSAT7"])
    def test_the_papers_grid_gives_what_mirt_gives_on_it(self, name):
        known = golden.published(name, "2PL_41_nodes")
        fit = fit_irt(golden.labels(name), "2PL", quadrature="grid", priors=Priors.flat())
        assert fit.loglik == pytest.approx(known["loglik"], abs=5e-6)
        np.testing.assert_allclose(fit.a, known["a"], atol=1e-6)
        np.testing.assert_allclose(fit.b, known["b"], atol=2e-6)

    def test_wirs_2pl(self):
        fit, known = flat_fit("WIRS", "2PL")
        assert fit.loglik == pytest.approx(known["loglik"], abs=1e-3)
        np.testing.assert_allclose(fit.a, known["a"], atol=1e-3)
        np.testing.assert_allclose(-fit.a * fit.b, known["d"], atol=1e-3)

    def test_science_grm(self):
        fit, known = flat_fit("Science", "GRM")
        assert fit.loglik == pytest.approx(known["loglik"], abs=1e-3)
        np.testing.assert_allclose(fit.a, known["a"], atol=1e-2)
        np.testing.assert_allclose(-fit.a[:, None] * fit.thresholds, known["d"], atol=1e-2)


def flat_fit(name, model):
    """Our fit of a golden table without priors, and the published estimates."""
    return fit_irt(golden.labels(name), model, priors=Priors.flat()), golden.published(name, model)


class TestExactness:
    def test_reaches_the_optimum_of_the_dense_grid(self, leaderboard_15):
        y = leaderboard_15.y
        fit = fit_irt(y, "2PL")
        active = y[:, ~fit.constant]
        x = np.concatenate([np.log(fit.a), fit.b])[np.tile(~fit.constant, 2)]
        value, gradient = oracles.dense_2pl(x, active)
        start = Logistic(active, Priors(), common_slope=False).start()
        dense = minimize(
            lambda x: tuple(-part for part in oracles.dense_2pl(x, active)),
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 3000, "maxfun": 3000, "ftol": 1e-15, "gtol": 1e-6, "maxcor": 20},
        )
        assert fit.converged
        assert fit.logpost == pytest.approx(value, rel=1e-10)
        assert value >= -dense.fun - 1e-6 * abs(dense.fun)
        assert np.linalg.norm(gradient) <= 1e-3 * np.linalg.norm(oracles.dense_2pl(start, active)[1])

    @pytest.mark.parametrize("model", MODELS)
    def test_objective_and_abilities_equal_the_definition(self, model):
        y = simulate(9, 14, seed=5, missing=0.1, levels=4 if model == "GRM" else 2).y
        fit = fit_irt(y, model)
        keep = ~fit.constant
        thresholds = None if fit.thresholds is None else fit.thresholds[keep]
        c = fit.c[keep] if model == "3PL" else None
        value = oracles.dense_log_posterior(
            y[:, keep], fit.a[keep], fit.b[keep], c, thresholds, common=model == "1PL"
        )
        _, posterior = oracles.dense_posterior(y[:, keep], fit.a[keep], fit.b[keep], c, thresholds)
        mean = posterior @ oracles.DENSE_NODES
        sd = np.sqrt(posterior @ oracles.DENSE_NODES**2 - mean**2)
        assert fit.logpost == pytest.approx(value, rel=1e-9)
        np.testing.assert_allclose(fit.theta, mean, atol=1e-8)
        np.testing.assert_allclose(fit.theta_sd, sd, atol=1e-8)

    @pytest.mark.parametrize("model", MODELS)
    def test_no_neighbour_is_better(self, model):
        y = simulate(8, 6, seed=2, levels=4 if model == "GRM" else 2).y
        fit = fit_irt(y, model)
        rng = np.random.default_rng(0)
        keep = ~fit.constant

        def log_posterior(scale):
            a = fit.a[keep] * np.exp(
                scale * (rng.normal() if model == "1PL" else rng.normal(size=keep.sum()))
            )
            b = fit.b[keep] + scale * rng.normal(size=keep.sum())
            c = fit.c[keep] * np.exp(scale * rng.normal(size=keep.sum())) if model == "3PL" else None
            steps = None
            if fit.thresholds is not None:
                steps = fit.thresholds[keep]
                tied = np.diff(steps, axis=1, prepend=-np.inf) == 0
                steps = np.sort(steps + scale * rng.normal(size=steps.shape), axis=1)
                for level in range(1, steps.shape[1]):
                    steps[tied[:, level], level] = steps[tied[:, level], level - 1]
            return oracles.dense_log_posterior(y[:, keep], a, b, c, steps, common=model == "1PL")

        assert max(log_posterior(10.0**-power) for power in (1, 2, 3) for _ in range(8)) <= fit.logpost + 1e-9

    def test_fifteen_systems_have_fifteen_abilities_and_the_paper_grid_has_fewer(self):
        y = simulate(15, 3000, seed=1).y
        assert len(np.unique(fit_irt(y).theta.round(2))) == 15
        assert len(np.unique(fit_irt(y, quadrature="grid").theta.round(2))) < 15

    def test_grid_is_the_papers_41_nodes(self):
        y = simulate(6, 12, seed=4).y
        fit = fit_irt(y, quadrature="grid")
        keep, nodes = ~fit.constant, np.linspace(-4, 4, 41)
        loglik, posterior = oracles.dense_posterior(y[:, keep], fit.a[keep], fit.b[keep], nodes=nodes)
        assert fit.loglik == pytest.approx(loglik.sum(), rel=1e-12)
        np.testing.assert_allclose(fit.theta, posterior @ nodes, atol=1e-10)

    def test_two_levels_make_the_graded_model_the_2pl(self, leaderboard_15):
        graded, binary = fit_irt(leaderboard_15.y, "GRM"), fit_irt(leaderboard_15.y, "2PL")
        assert graded.logpost == pytest.approx(binary.logpost, rel=1e-9)
        np.testing.assert_allclose(graded.thresholds[:, 0], graded.b, equal_nan=True)
        np.testing.assert_allclose(graded.theta, binary.theta, atol=1e-4)


@pytest.mark.parametrize("model", ["2PL", "GRM"])
def test_without_a_prior_slopes_that_run_away_end_the_search_and_not_the_memory(model):
    fit = fit_irt(simulate(8, 120, seed=1).y, model, priors=Priors.flat())
    assert not fit.converged
    assert np.nanmax(fit.a) == pytest.approx(STEEPEST, rel=0.01)
    assert np.isfinite(fit.theta).all()


class TestRecovery:
    def test_abilities_and_difficulties_of_a_small_leaderboard(self):
        known = simulate(15, 2000, seed=9)
        fit = fit_irt(known.y)
        keep = ~fit.constant
        assert np.corrcoef(fit.theta, known.theta)[0, 1] > 0.99
        assert np.corrcoef(fit.b[keep], known.b[keep])[0, 1] > 0.85

    def test_slopes_of_a_large_leaderboard(self):
        known = simulate(800, 60, seed=10)
        fit = fit_irt(known.y, priors=Priors.flat())
        assert np.corrcoef(np.log(fit.a), np.log(known.a))[0, 1] > 0.9
        assert np.abs(fit.b - known.b).mean() < 0.2

    def test_posterior_intervals_cover_the_truth(self):
        inside, total = 0, 0
        for seed in range(12):
            known = simulate(25, 250, seed=100 + seed)
            fit = fit_irt(known.y)
            truth = (known.theta - known.theta.mean()) / known.theta.std()
            theta, sd = (fit.theta - fit.theta.mean()) / fit.theta.std(), fit.theta_sd / fit.theta.std()
            inside += int((np.abs(theta - truth) <= 1.96 * sd).sum())
            total += len(truth)
        assert 0.88 <= inside / total <= 0.99


class TestEdges:
    @pytest.mark.parametrize("model", MODELS)
    def test_strange_tables_give_finite_answers(self, model):
        y = simulate(12, 40, seed=6, missing=0.3).y
        y[0], y[1], y[2] = np.nan, 1.0, 0.0  # no labels, passes everything, fails everything
        y[4] = y[3]  # two identical systems
        y[:, 5], y[:, 6] = 1.0, np.nan  # constant, unknown
        fit = fit_irt(y, model)
        assert fit.converged
        assert np.isfinite(fit.theta).all()
        assert (fit.theta_sd > 0).all()
        assert fit.theta[3] == fit.theta[4]
        assert fit.theta[0] == pytest.approx(0.0, abs=1e-9)
        assert fit.theta_sd[0] == pytest.approx(1.0)
        assert fit.constant[[5, 6]].all()
        assert np.isnan(fit.a[[5, 6]]).all()
        assert np.isfinite(fit.a[~fit.constant]).all()

    @pytest.mark.parametrize("model", MODELS)
    @pytest.mark.parametrize("y", [[[0, 1], [1, 0]], [[0], [1]], [[0, np.nan], [1, np.nan], [np.nan, 1]]])
    def test_the_smallest_tables_fit(self, model, y):
        fit = fit_irt(np.array(y, dtype=float), model)
        assert fit.converged
        assert np.isfinite(fit.theta).all()

    def test_almost_everything_missing(self):
        fit = fit_irt(simulate(40, 800, seed=1, missing=0.99).y)
        assert fit.converged
        assert np.isfinite(fit.theta).all()

    @pytest.mark.parametrize(
        ("y", "sentence"),
        [
            (np.ones((4, 3)), r"No rubric \(of 3\) has two different labels"),
            (np.where(np.eye(3), 1, np.nan), "No rubric .of 3. has labels of two systems"),
            (np.ones((1, 3)), "There is only one system"),
            (np.full((4, 3), np.nan), "no label at all"),
            (np.empty((0, 0)), "no label at all"),
            (np.array([0.0, 1.0]), "systems × rubrics"),
            (np.array([[0, 2.0], [1, 0]]), "Label 2 of system 0, rubric 1"),
            (np.array([[0, np.inf], [1, 0]]), "Label inf"),
            (np.array([[0, 0.5], [1, 0]]), "Label 0.5"),
            (np.array([[0, -1.0], [1, 0]]), "Label -1"),
        ],
    )
    def test_what_cannot_be_fitted_is_said_in_one_sentence(self, y, sentence):
        with pytest.raises(FitError, match=sentence):
            fit_irt(y)

    @pytest.mark.parametrize("model", MODELS)
    def test_rubrics_with_equal_labels_have_exactly_equal_parameters(self, model):
        y = simulate(9, 60, seed=14, missing=0.1).y
        fit = fit_irt(np.hstack([y, y[:, ::-1]]), model)
        np.testing.assert_array_equal(fit.a[:60], fit.a[60:][::-1])
        np.testing.assert_array_equal(fit.b[:60], fit.b[60:][::-1])

    def test_not_converged_is_told_and_carries_the_estimate(self, leaderboard_15):
        assert not fit_irt(leaderboard_15.y, max_evaluations=3).converged
        with pytest.raises(ConvergenceError) as caught:
            fit_irt(leaderboard_15.y, max_evaluations=3, strict=True)
        assert np.isfinite(caught.value.fit.theta).all()

    def test_the_callers_array_is_left_alone(self, leaderboard_15):
        before = leaderboard_15.y.copy()
        fit_irt(leaderboard_15.y, "GRM")
        np.testing.assert_array_equal(leaderboard_15.y, before)


class TestMixedLevels:
    @pytest.mark.parametrize("levels", [[2.5, 3], [1, 3], [2, float("nan")]])
    def test_numbers_of_levels_that_are_none_are_refused(self, levels):
        with pytest.raises(FitError, match="levels must be whole numbers of at least 2"):
            fit_irt(np.array([[0.0, 1.0], [1.0, 0.0]]), "GRM", levels=levels)

    def test_thresholds_end_where_a_rubrics_levels_end(self):
        y = simulate(30, 10, seed=8, levels=5).y
        levels = np.full(10, 5)
        y[:, 3], levels[3] = np.minimum(y[:, 3], 2), 3
        fit = fit_irt(y, "GRM", levels=levels)
        assert np.isnan(fit.thresholds[3, 2:]).all()
        assert np.isfinite(fit.thresholds[3, :2]).all()
        assert np.isfinite(np.delete(fit.thresholds, 3, axis=0)).all()

    def test_a_level_nobody_received_leaves_its_thresholds_tied(self):
        y = simulate(40, 6, seed=8, levels=4).y
        y[y[:, 0] == 2, 0] = 3
        fit = fit_irt(y, "GRM")
        assert fit.thresholds[0, 1] == fit.thresholds[0, 2]
        assert (np.diff(fit.thresholds, axis=1) >= 0).all()

    def test_an_outer_level_nobody_received_is_infinite_without_a_prior(self):
        y = simulate(60, 6, seed=8, levels=4).y
        y[:, 0] = np.minimum(y[:, 0], 2)
        assert fit_irt(y, "GRM", priors=Priors.flat()).thresholds[0, 2] == np.inf
        assert np.isfinite(fit_irt(y, "GRM").thresholds).all()


@settings(max_examples=examples(25))
@given(st.integers(2, 9), st.integers(1, 12), st.integers(0, 10**6))
def test_order_of_systems_and_rubrics_does_not_matter(n_systems, n_rubrics, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, (n_systems, n_rubrics)).astype(float)
    y[rng.random(y.shape) < 0.2] = np.nan
    rows, columns = rng.permutation(n_systems), rng.permutation(n_rubrics)
    try:
        fit = fit_irt(y)
    except FitError:
        return
    moved = fit_irt(y[rows][:, columns])
    np.testing.assert_allclose(moved.theta, fit.theta[rows], atol=2e-3)
    np.testing.assert_allclose(moved.a, fit.a[columns], rtol=2e-3)


@pytest.mark.parametrize("n_systems", [15, 60, 300])
def test_the_search_stays_short_however_many_systems_there_are(n_systems):
    fit = fit_irt(simulate(n_systems, 600, seed=6).y)
    assert fit.converged
    assert fit.evaluations <= 18
