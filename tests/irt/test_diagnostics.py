"""Model comparison, residuals, local dependence and item fit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.tables import simulate_2pl
from crubric_core.irt.comparison import (
    behind_the_best,
    cell_folds,
    clustered_standard_errors,
    compare_models,
    held_out_loglik,
    nesting_notes,
    predictive_probabilities,
    prior_note,
)
from crubric_core.irt.dependence import local_dependence, q3_among, worst_rubrics
from crubric_core.irt.diagnostics import expected_labels, residual_spectrum, residuals
from crubric_core.irt.fit import fit_irt
from crubric_core.irt.item_fit import (
    bootstrap_item_fit,
    curve_band,
    empirical_curve,
    outfit,
    simulate_labels,
    wilson_interval,
)
from crubric_core.settings import Priors
from tests import golden, oracles
from tests.irt.conftest import simulate


class TestComparison:
    def test_criteria_are_those_of_the_definition(self):
        y = simulate(14, 30, seed=1, missing=0.1).y
        table = compare_models(y).table.set_index("model")
        n = int((~np.isnan(y)).sum())
        for model, row in table.iterrows():
            assert row["loglik"] == fit_irt(y, model).loglik
            assert row["aic"] == pytest.approx(2 * row["parameters"] - 2 * row["loglik"])
            assert row["bic"] == pytest.approx(np.log(n) * row["parameters"] - 2 * row["loglik"])
        gain = table.loc["2PL", "loglik"] - table.loc["1PL", "loglik"]
        assert table.loc["2PL", "kappa"] == pytest.approx(
            gain / (table.loc["2PL", "parameters"] - table.loc["1PL", "parameters"])
        )

    def test_kappa_decides_as_aic_and_bic_do(self):
        for seed in range(4):
            table = compare_models(simulate(60, 12, seed=seed).y, ("1PL", "2PL")).table
            kappa = table["kappa"][1]
            assert (kappa > 1) == (table["aic"][1] < table["aic"][0])
            assert (kappa > table["kappa_bic"][1]) == (table["bic"][1] < table["bic"][0])

    def test_many_systems_with_unequal_slopes_choose_2pl(self):
        rng = np.random.default_rng(0)
        theta, a = rng.normal(size=1500), np.array([0.4, 0.5, 2.5, 3.0, 0.4, 2.8])
        y = (rng.random((1500, 6)) < 1 / (1 + np.exp(-a * theta[:, None]))).astype(float)
        comparison = compare_models(y, ("1PL", "2PL"), priors=Priors.flat())
        assert (comparison.aic, comparison.bic, comparison.held_out) == ("2PL", "2PL", "2PL")

    def test_the_sentence_says_what_the_table_says(self):
        for seed in range(4):
            comparison = compare_models(simulate(8, 60, seed=seed).y)
            table = comparison.table.set_index("model")
            best = table["held_out"].idxmax()
            assert comparison.sentence.startswith(f"The {best} predicts held-out labels best")
            better, _, level = comparison.sentence.partition("not significantly better than")
            for model, p in table["held_out_p"].drop(best).items():
                assert (f"the {model}" in better.partition("significantly better than")[2]) == (p <= 0.05)
                assert (f"the {model}" in level.partition("(5%")[0]) == (p > 0.05)
            assert "8 systems" in comparison.sentence

    def test_one_model_is_compared_with_nothing(self):
        y = simulate(9, 8, seed=5, levels=3).y
        assert "nothing to compare" in compare_models(y, ("GRM",)).sentence

    def test_cells_of_one_system_count_as_one_cluster(self):
        rng = np.random.default_rng(3)
        cluster = rng.integers(0, 7, 200)
        values = rng.normal(size=(2, 200)) + rng.normal(size=(2, 7))[:, cluster]
        assert clustered_standard_errors(values, cluster) == pytest.approx(
            [oracles.clustered_standard_error(row, cluster) for row in values], abs=1e-12
        )
        assert np.isnan(clustered_standard_errors(values, np.zeros(200))).all()

    def test_cells_of_one_system_and_of_one_rubric_depend_on_each_other(self):
        """Means of a table with effects of rows and columns: 95% intervals by rows alone hold far less often."""
        both, rows, n = 0, 0, 300
        rng = np.random.default_rng(5)
        system, rubric = np.nonzero(np.ones((20, 30)))
        for _ in range(n):
            values = rng.normal(size=20)[system] + rng.normal(size=30)[rubric] + rng.normal(size=600)
            t = stats.t.ppf(0.975, 19)
            both += abs(values.mean()) <= t * clustered_standard_errors(values[None], system, rubric)[0]
            rows += abs(values.mean()) <= t * clustered_standard_errors(values[None], system)[0]
        assert both / n >= 0.92
        assert rows / n < 0.9

    def test_clustered_errors_reject_a_true_mean_of_zero_as_often_as_they_say(self):
        rng = np.random.default_rng(4)
        cluster, rejected = np.repeat(np.arange(15), 40), 0
        for _ in range(400):
            values = rng.normal(size=(1, 600)) + 0.5 * rng.normal(size=15)[cluster]
            t = values.mean() / clustered_standard_errors(values, cluster)[0]
            rejected += abs(t) > 2.145  # t(14)
        assert 0.02 < rejected / 400 < 0.09

    def test_of_models_that_predict_equally_well_the_best_is_rarely_ahead(self):
        """The best of three equal models, by the same cells: 5% of 400 tables leave room for two standard errors."""
        rng = np.random.default_rng(6)
        system, rubric = np.nonzero(np.ones((20, 30)))
        ahead = 0
        for _ in range(400):
            scored = rng.normal(size=(3, 20))[:, system] + rng.normal(size=(3, 600))
            best = int(scored.mean(axis=1).argmax())
            ahead += np.nanmin(behind_the_best(scored, best, system, rubric)[1]) <= 0.05
        assert 0 < ahead <= 400 * (0.05 + 2 * np.sqrt(0.05 * 0.95 / 400))

    def test_a_model_that_predicts_much_worse_is_behind(self):
        rng = np.random.default_rng(7)
        system, rubric = np.nonzero(np.ones((20, 30)))
        scored = rng.normal(size=(2, 600)) - np.array([[0.0], [0.5]])
        error, p = behind_the_best(scored, 0, system, rubric)
        t = (scored[0] - scored[1]).mean() / error[1]
        assert p[1] == pytest.approx(2 * stats.t.sf(t, 19))
        assert np.isnan(p[0])

    def test_every_fold_has_an_even_share_of_each_rubric(self):
        y = simulate(20, 15, seed=3, missing=0.2).y
        folds = cell_folds(y, 5, np.random.default_rng(0))
        assert ((folds == -1) == np.isnan(y)).all()
        sizes = np.stack([(folds == fold).sum(axis=0) for fold in range(5)])
        assert (sizes.max(axis=0) - sizes.min(axis=0) <= 1).all()

    def test_a_left_out_cell_is_predicted_without_itself(self):
        y = simulate(12, 10, seed=4).y
        folds = cell_folds(y, 5, np.random.default_rng(0))
        scored = held_out_loglik(y, folds, "2PL")
        flipped = y.copy()
        flipped[3, 2] = 1 - flipped[3, 2]
        again = held_out_loglik(flipped, folds, "2PL")
        if not np.isnan(scored[3, 2]):
            assert np.exp(scored[3, 2]) + np.exp(again[3, 2]) == pytest.approx(1.0)

    @pytest.mark.parametrize("model", ["2PL", "3PL", "GRM"])
    def test_predictions_average_the_curve_over_the_posterior(self, model):
        y = simulate(9, 8, seed=5, missing=0.2, levels=3 if model == "GRM" else 2).y
        fit = fit_irt(y, model)
        keep = ~fit.constant
        steps = None if fit.thresholds is None else fit.thresholds[keep]
        _, posterior = oracles.dense_posterior(y[:, keep], fit.a[keep], fit.b[keep], fit.c[keep], steps)
        predicted = predictive_probabilities(fit, y)
        for place, j in enumerate(np.flatnonzero(keep)):
            curve = oracles.level_probabilities(
                oracles.DENSE_NODES, fit.a[j], fit.b[j], fit.c[j], None if steps is None else steps[place]
            )
            np.testing.assert_allclose(predicted[:, :, j].T, posterior @ curve, atol=1e-7)


class TestResiduals:
    def test_expected_labels_have_the_models_mean_and_variance(self):
        y = simulate(9, 8, seed=6, levels=4).y
        fit = fit_irt(y, "GRM")
        mean, variance = expected_labels(fit, fit.theta)
        for j in np.flatnonzero(~fit.constant):
            p = oracles.level_probabilities(fit.theta, fit.a[j], fit.b[j], thresholds=fit.thresholds[j])
            np.testing.assert_allclose(mean[:, j], p @ np.arange(4), atol=1e-10)
            np.testing.assert_allclose(
                variance[:, j], p @ np.arange(4) ** 2 - (p @ np.arange(4)) ** 2, atol=1e-10
            )

    def test_spectrum_equals_that_of_the_rubric_by_rubric_correlation_matrix(self):
        residual = np.random.default_rng(0).normal(size=(12, 40))
        expected = np.linalg.eigvalsh(np.corrcoef(residual.T))[::-1][:12]
        np.testing.assert_allclose(residual_spectrum(residual).eigenvalues, expected, atol=1e-9)

    def test_a_second_ability_raises_the_first_eigenvalue(self):
        one = simulate(60, 120, seed=7).y
        rng = np.random.default_rng(70)
        hidden = rng.normal(size=60)
        two = one.copy()
        two[:, :30] = rng.random((60, 30)) < 1 / (1 + np.exp(-2.5 * hidden[:, None]))
        assert residual_spectrum(residuals(fit_irt(two), two)).ratio > 2
        assert residual_spectrum(residuals(fit_irt(one), one)).ratio < 1.5


class TestLocalDependence:
    def test_lsat_q3_equals_mirt(self):
        y = golden.labels("LSAT6")
        found = local_dependence(residuals(fit_irt(y, priors=Priors.flat()), y), np.zeros(5, dtype=int))
        q3 = found.pairs.sort_values(["first", "second"])["q3"].round(3).to_numpy()
        np.testing.assert_array_equal(q3, golden.published("LSAT6", "2PL_Q3")["q3"])

    @pytest.mark.parametrize("missing", [0.0, 0.15])
    def test_equals_pandas_pair_by_pair(self, missing):
        rng = np.random.default_rng(1)
        residual = rng.normal(size=(14, 300))
        residual[rng.random(residual.shape) < missing] = np.nan
        found = local_dependence(residual, np.zeros(300, dtype=int), keep=50_000)
        expected = pd.DataFrame(residual).corr(min_periods=4).to_numpy()
        n_pairs = int((~np.isnan(expected[np.triu_indices(300, 1)])).sum())
        assert found.n_pairs == n_pairs == len(found.pairs) == found.counts.sum()
        np.testing.assert_allclose(
            found.pairs["q3"], expected[found.pairs["first"], found.pairs["second"]], atol=1e-10
        )
        assert found.mean == pytest.approx(np.nanmean(expected[np.triu_indices(300, 1)]))

    def test_a_copied_rubric_is_flagged_and_noise_is_not(self):
        rng = np.random.default_rng(2)
        residual = rng.normal(size=(40, 60))
        residual[:, 7] = residual[:, 31] + 0.05 * rng.normal(size=40)
        queries = np.arange(60) // 10
        found = local_dependence(residual, queries)
        worst = found.pairs.iloc[0]
        assert (worst["first"], worst["second"]) == (7, 31)
        assert found.n_flagged == 1
        assert found.within_query == 0.0

    def test_q3_among_a_few_rubrics_equals_pandas(self):
        rng = np.random.default_rng(3)
        residual = rng.normal(size=(14, 30))
        residual[rng.random(residual.shape) < 0.2] = np.nan
        chosen = np.array([4, 9, 17])
        expected = pd.DataFrame(residual[:, chosen]).corr(min_periods=4).to_numpy().copy()
        np.fill_diagonal(expected, np.nan)
        np.testing.assert_allclose(q3_among(residual, chosen), expected, atol=1e-10)

    def test_the_worst_rubrics_come_first_and_once(self):
        rng = np.random.default_rng(2)
        residual = rng.normal(size=(40, 60))
        residual[:, 7] = residual[:, 31] + 0.05 * rng.normal(size=40)
        worst = worst_rubrics(local_dependence(residual, np.zeros(60, dtype=int)), most=10)
        assert worst[:2].tolist() == [7, 31]
        assert len(set(worst.tolist())) == len(worst) == 10

    def test_too_few_systems_leave_nothing_to_correlate(self):
        found = local_dependence(np.random.default_rng(0).normal(size=(3, 5)), np.zeros(5, dtype=int))
        assert found.n_pairs == 0
        assert np.isnan(found.mean)
        assert found.pairs.empty


class TestItemFit:
    def test_outfit_is_the_mean_squared_standardised_residual(self):
        y = simulate(12, 9, seed=8, missing=0.2).y
        fit = fit_irt(y)
        for j in np.flatnonzero(~fit.constant):
            p = oracles.level_probabilities(fit.theta, fit.a[j], fit.b[j])[:, 1]
            expected = np.nanmean((y[:, j] - p) ** 2 / (p * (1 - p)))
            assert outfit(fit, y)[j] == pytest.approx(expected)

    def test_labels_are_drawn_with_the_models_frequencies(self):
        y = simulate(3000, 6, seed=9, levels=3).y
        fit = fit_irt(y, "GRM")
        drawn = simulate_labels(fit, y, np.random.default_rng(0))
        for level in range(3):
            np.testing.assert_allclose((drawn == level).mean(axis=0), (y == level).mean(axis=0), atol=0.04)

    def test_drawing_keeps_the_unknown_cells_and_the_constant_rubrics(self):
        y = simulate(12, 9, seed=8, missing=0.2).y
        y[:, 3] = np.where(np.isnan(y[:, 3]), np.nan, 1.0)
        drawn = simulate_labels(fit_irt(y), y, np.random.default_rng(0))
        assert (np.isnan(drawn) == np.isnan(y)).all()
        np.testing.assert_array_equal(drawn[:, 3], y[:, 3])

    def test_a_rubric_that_runs_backwards_misfits_and_the_model_itself_does_not(self):
        y = simulate(60, 40, seed=10).y
        order = np.argsort(y.mean(axis=1))
        y[order, 0] = np.r_[np.ones(30), np.zeros(30)]
        result = bootstrap_item_fit(fit_irt(y), y, replicates=40)
        assert result.p[0] < 0.05
        assert result.misfit < 0.2

    def test_same_seed_same_figures(self):
        y = simulate(10, 12, seed=11).y
        fit = fit_irt(y)
        first, second = (bootstrap_item_fit(fit, y, replicates=5, seed=4) for _ in range(2))
        np.testing.assert_array_equal(first.p, second.p)

    def test_points_lie_on_the_curve_of_a_large_table(self):
        y = simulate(4000, 8, seed=12).y
        fit = fit_irt(y)
        points = empirical_curve(fit, y, 2)
        assert points["systems"].sum() == 4000
        assert ((points["low"] <= points["share"]) & (points["share"] <= points["high"])).all()
        assert points["theta"].is_monotonic_increasing

    def test_the_band_holds_the_curve(self):
        y = simulate(30, 20, seed=13).y
        fit = fit_irt(y)
        theta = np.array([0.0])
        low, high = curve_band(bootstrap_item_fit(fit, y, replicates=40).refits, 0, theta)
        assert low[0] < high[0]
        assert np.isnan(curve_band((), 0, theta)[0]).all()

    def test_wilson_interval_against_published_values(self):
        # Newcombe (1998), table I: 81/263 → (.2553, .3662); 0/20 → (0, .1611)
        np.testing.assert_allclose(wilson_interval(81 / 263, 263, 0.95), (0.2553, 0.3662), atol=5e-5)
        np.testing.assert_allclose(wilson_interval(0.0, 20, 0.95), (0.0, 0.1611), atol=5e-5)


def test_a_model_shown_below_one_that_it_contains_is_explained():
    table = pd.DataFrame({"model": ["1PL", "2PL", "3PL"], "loglik": [-644.7, -621.6, -637.9]})
    (note,) = nesting_notes(table)
    assert note.startswith("The 3PL contains the 2PL, yet its log-likelihood is 16.3 lower")
    assert nesting_notes(table.assign(loglik=[-3.0, -2.0, -1.0])) == ()


def test_a_richer_model_that_predicts_few_systems_best_is_not_called_theirs():
    """Of 40 simulated tables of six systems that follow the 1PL, 37 are predicted best by the 3PL."""
    (said,) = prior_note("3PL", 2, 6)
    assert said.startswith("The 3PL predicts best, but this does not show that the labels follow it")
    assert prior_note("1PL", 0, 6) == prior_note("3PL", 2, 30) == ()
    found = compare_models(simulate_2pl(6, 60, 1)[0])
    assert (found.held_out, found.notes[-1:]) == ("3PL", prior_note("3PL", 2, 6))
