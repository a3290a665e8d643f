from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from benchmarks.claims_gap import simulated
from crubric_core import Settings, fit_irt, item_information
from crubric_core.bank.utility import utility_grid
from crubric_core.experiments.ablation import ablation
from crubric_core.experiments.inputs import gold_labels, read_inputs
from crubric_core.experiments.scoring import gap, gap_interval
from crubric_core.experiments.statistics import query_draws
from tests import oracles


def slow_nu(fit, y):
    """Information averaged over the systems' posteriors, on the dense grid."""
    used = np.flatnonzero(~fit.constant)
    _, posterior = oracles.dense_posterior(y[:, used], fit.a[used], fit.b[used])
    nu = np.zeros(y.shape[1])
    for j in used:
        p = 1 / (1 + np.exp(-fit.a[j] * (oracles.DENSE_NODES - fit.b[j])))
        nu[j] = posterior.mean(axis=0) @ (fit.a[j] ** 2 * p * (1 - p))
    return nu


def test_the_five_configurations_are_those_of_the_obvious_computation(workspace, settings):
    ds, settings = workspace.dataset("gold"), replace(settings, strategy="greedy")
    inputs = read_inputs(ds, settings)
    y, frame = inputs.reduction.y, inputs.reduction.rubrics
    fit = fit_irt(y)
    grid = utility_grid(difficulty=fit.b, theta=fit.theta)
    info, nu = item_information(fit, grid.theta), slow_nu(fit, y)
    q = np.array([(1 + agree) / (2 + total) for agree, total in oracles.naive_instances(ds.panel())])
    everything, feasible = list(range(len(q))), list(np.flatnonzero(q >= settings.tau_c))
    types = inputs.queries["task_type"].tolist()
    expected = {
        "B0": (everything, None, [None] * len(types)),
        "B1": (everything, None, types),
        "B2": (oracles.naive_greedy(info, grid.weights, 10)[0], nu, types),
        "B3": (feasible, None, types),
        "B4": (oracles.naive_greedy(info, grid.weights, 10, q >= settings.tau_c)[0], nu, types),
    }
    result = ablation(ds, settings)
    table = result.frame().set_index("configuration")
    majority = np.apply_along_axis(oracles.naive_majority, 2, ds.panel())
    gold = gold_labels(ds, inputs.reduction)
    reference = [1.0, 3.0, 2.0, 5.0, 4.0, 6.0]
    assert list(table.index) == list(expected)
    plain = None
    for name, (rubrics, weights, used_types) in expected.items():
        scores = oracles.naive_scores(
            y[:, rubrics],
            inputs.reduction.levels[rubrics],
            inputs.query_index[rubrics],
            len(types),
            used_types,
            frame["dimension"].to_numpy()[rubrics],
            frame["severity"].to_numpy()[rubrics],
            np.ones(len(rubrics)) if weights is None else weights[rubrics],
            inputs.queries["omega"].to_numpy(dtype=float),
            True,
        )
        plain = scores if plain is None else plain
        row = table.loc[name]
        np.testing.assert_allclose(result.tables["scores"][name], scores, atol=1e-5)
        assert row["rubrics"] == len(rubrics)
        assert row["cells"] == np.isfinite(y[:, rubrics]).sum()
        assert row["gap"] == pytest.approx(100 * np.ptp(scores), abs=1e-3)
        assert row["rho_b0"] == pytest.approx(oracles.naive_spearman(scores, plain), abs=1e-12)
        assert row["rho_reference"] == pytest.approx(oracles.naive_spearman(scores[:6], reference), abs=1e-12)
        kappa = oracles.naive_kappa(majority[:, rubrics].ravel(), gold[:, rubrics].ravel())
        assert row["kappa"] == pytest.approx(kappa, abs=1e-12, nan_ok=True)
        assert row["gap_low"] <= row["gap_high"]


def test_the_gaps_interval_draws_whole_queries(workspace, settings):
    ds = workspace.dataset("gold")
    inputs = read_inputs(ds, settings)
    y, n = inputs.reduction.y, len(inputs.queries)
    drawn = np.random.default_rng([settings.seed, 40]).multinomial(n, np.full(n, 1 / n), size=50)
    omega = inputs.queries["omega"].to_numpy(dtype=float)
    by_query = np.array([[np.nanmean(row[inputs.query_index == k]) for k in range(n)] for row in y])
    scores = [100 * (by_query * omega * c).sum(axis=1) / (omega * c).sum() for c in [np.ones(n), *drawn]]
    errors = np.array(scores[1:]) - scores[0]
    t = stats.t.ppf(0.975, n - 1) * np.sqrt(n / (n - 1))
    below = t / stats.norm.ppf(0.975) * np.percentile([max(e) - min(e) for e in errors], 97.5)
    pairs = itertools.combinations(range(len(y)), 2)
    above = t * max(np.std(errors[:, i] - errors[:, k], ddof=1) for i, k in pairs)
    row = ablation(ds, settings).frame().iloc[0]
    assert row["gap_low"] == pytest.approx(max(np.ptp(scores[0]) - below, 0))
    assert row["gap_high"] == pytest.approx(min(np.ptp(scores[0]) + above, 100))
    beyond = gap_interval(2 * by_query - 1, omega, drawn, 0.95)  # below 0: a gap may be above 100 points
    assert beyond[1] == pytest.approx(2 * (np.ptp(scores[0]) + above))


@pytest.mark.parametrize(("systems", "spread"), [(15, 0.0), (15, 0.02), (4, 0.1)])
def test_the_gaps_interval_holds_also_where_systems_are_equal(systems, spread):
    """Quantiles of the draws held 0, .01 and .93 of these (``simulated_claims gap``)."""
    rng, held = np.random.default_rng(9), []
    for _ in range(100):
        truth, scores = simulated(rng, systems, 100, spread)
        draws = query_draws(np.arange(100), 200, rng)
        low, high = gap_interval(scores, np.ones(100), draws, 0.95)
        held.append(low <= truth <= high)
    assert np.mean(held) > 0.93


def test_a_system_that_lacks_the_hard_queries_makes_no_gap_among_equal_systems():
    """Plain means of its own queries held it 22 points ahead, beyond the interval in 88% of such tables."""
    rng, beyond, found = np.random.default_rng(4), 0, []
    for _ in range(40):
        hard = rng.random(60)
        scores = 1 - hard + 0.2 * rng.normal(size=(8, 60))
        scores[0, hard > np.quantile(hard, 0.6)] = np.nan
        draws = query_draws(np.arange(60), 200, rng)
        beyond += gap_interval(scores, np.ones(60), draws, 0.95)[0] > 0
        found.append(gap(scores, np.ones(60)))
    assert beyond <= 5
    assert np.mean(found) < 12  # the range of eight errors, of which one rests on fewer queries


def test_the_gap_of_systems_that_share_no_query_is_unknown():
    scores = np.full((4, 10), np.nan)
    scores[:2, :5], scores[2:, 5:] = np.random.default_rng(0).random((2, 2, 5))
    assert np.isnan(gap(scores, np.ones(10)))
    draws = query_draws(np.arange(10), 20, np.random.default_rng(0))
    assert np.isnan(gap_interval(scores, np.ones(10), draws, 0.95)).all()


def test_the_gap_of_one_system_or_query_has_no_interval():
    draws = query_draws(np.arange(4), 20, np.random.default_rng(0))
    assert np.isnan(gap_interval(np.ones((1, 4)), np.ones(4), draws, 0.95)).all()
    one = np.full((3, 4), np.nan)
    one[:, 0] = 0.5
    assert np.isnan(gap_interval(one, np.ones(4), draws, 0.95)).all()


@pytest.mark.parametrize("dataset", ["small", "gold"])
def test_kappa_behind_the_gate_is_said_to_be_higher_by_construction_whatever_it_is_against(
    workspace, settings, dataset
):
    result = ablation(workspace.dataset(dataset), settings)
    assert any("κ is higher after it (B3, B4) by construction" in limit for limit in result.limits)


def test_no_claim_rests_on_intervals_of_the_same_queries_that_overlap(workspace, settings):
    limits = ablation(workspace.dataset("gold"), settings).limits
    assert not any("not shown to change" in limit for limit in limits)
    assert any("whether their intervals overlap is no test" in limit for limit in limits)


def test_with_the_gate_off_b3_is_b1_and_b4_is_b2_and_it_is_said(workspace):
    result = ablation(workspace.dataset("one judge"), Settings(budget=10, replicates=20))
    table = result.frame().set_index("configuration").drop(columns=["task", "irt", "bayes"])
    assert table.loc["B3"].equals(table.loc["B1"])
    assert table.loc["B4"].equals(table.loc["B2"])
    assert "gate is off" in result.sentences()[0]
    assert any("B3 equals B1" in limit for limit in result.limits)
    assert not any("by construction" in limit for limit in result.limits)
