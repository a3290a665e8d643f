"""The model's checks as an experiment: the same numbers as the kernels, said as they are."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from crubric_core import Settings, fit_irt
from crubric_core.experiments.inputs import read_inputs
from crubric_core.experiments.model_check import (
    EXPERIMENT,
    _by_chance,
    dependence_of,
    model_check,
    spectrum_of,
)
from crubric_core.irt.comparison import compare_models
from crubric_core.irt.dependence import local_dependence
from crubric_core.irt.diagnostics import residual_spectrum, residuals
from crubric_core.irt.item_fit import bootstrap_item_fit, simulate_labels

SETTINGS = Settings(tau_c=0.5, budget=8)


@pytest.fixture(scope="module")
def result(workspace):
    return model_check(workspace.dataset("small"), SETTINGS, replicates=10)


@pytest.fixture(scope="module")
def inputs(workspace):
    return read_inputs(workspace.dataset("small"), SETTINGS)


def test_models_are_compared_as_on_the_items_page(result, inputs):
    expected = compare_models(inputs.reduction.y, seed=SETTINGS.seed)
    assert result.frame().equals(expected.table)
    assert expected.sentence in result.found


def test_spectrum_q3_and_item_fit_are_those_of_the_fitted_model(result, inputs):
    y = inputs.reduction.y
    fit = fit_irt(y)
    checks = result.tables["checks"].set_index("check")["value"]
    residual = residuals(fit, y)
    assert checks["first over second eigenvalue"] == pytest.approx(residual_spectrum(residual).ratio)
    pairs = local_dependence(residual, inputs.query_index)
    assert checks["pairs flagged by Q3"] == pairs.n_flagged
    assert checks["pairs in all"] == pairs.n_pairs
    items = bootstrap_item_fit(fit, y, 10, SETTINGS.seed)
    assert checks["rubrics that misfit"] == pytest.approx(items.misfit)
    table = result.tables["items"]
    assert table["p"].is_monotonic_increasing
    assert len(table) == np.isfinite(items.outfit).sum()


def test_the_spectrum_of_a_table_from_the_model_stands_beside(result, inputs):
    y = inputs.reduction.y
    fit = fit_irt(y)
    drawn = simulate_labels(fit, y, np.random.default_rng([SETTINGS.seed, 8]))
    expected = result.tables["checks"].set_index("check")["expected"]
    ratio = residual_spectrum(residuals(fit_irt(drawn), drawn)).ratio
    assert expected["first over second eigenvalue"] == pytest.approx(ratio)


def test_whether_one_ability_is_enough_is_answered_by_the_line_of_the_simulated_tables(result, inputs):
    row = result.tables["checks"].set_index("check").loc["first over second eigenvalue"]
    y = inputs.reduction.y
    assert row["line"] == dependence_of(fit_irt(y), y, inputs.query_index, SETTINGS.seed).line
    shown = "more than one ability" if row["value"] > row["line"] else "no second ability"
    said = f"The residuals show {shown}: their first eigenvalue is {row['value']:.2f} times the second"
    assert (
        f"{said}, and 95% of tables simulated from the model have at most {row['line']:.2f}." in result.found
    )
    assert any(limit.startswith("Q3 is compared with one simulated table") for limit in result.limits)


def test_where_one_table_was_simulated_the_experiment_leaves_the_abilities_open(workspace, monkeypatch):
    monkeypatch.setattr(sys.modules[dependence_of.__module__], "MOST_LABELS", 1)
    found = model_check(workspace.dataset("small"), SETTINGS, replicates=2)
    assert np.isnan(found.tables["checks"]["line"]).all()
    assert "ability:" not in found.found
    assert any(limit.startswith("Q3 and eigenvalues are compared with one") for limit in found.limits)


@pytest.mark.parametrize(("correlation", "effect"), [(1.0, 0.0), (1.0, 1.5), (0.6, 0.0)])
def test_two_abilities_show_beside_the_model_and_query_effects_do_not(correlation, effect):
    rng, query = np.random.default_rng(5), np.arange(160) // 4
    common, own = rng.normal(size=(60, 1)), rng.normal(size=(60, 2))
    theta = (np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own)[:, np.arange(160) % 2]
    logits = theta - rng.normal(size=160) + effect * rng.normal(size=(60, 40))[:, query]
    y = (rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float)
    fit = fit_irt(y)
    ratio, model = spectrum_of(fit, y).ratio, dependence_of(fit, y, query, 0)
    assert ratio / model.ratio > 1.2 if correlation < 1 else ratio / model.ratio < 1.1
    assert (ratio > model.line) == (correlation < 1)


def test_the_line_is_the_largest_ratio_of_nineteen_tables_of_the_model():
    """One more table of the model is then above it with probability 1/20."""
    y = (np.random.default_rng(7).random((12, 40)) < 0.5).astype(float)
    fit, rng, ratios = fit_irt(y), np.random.default_rng([0, 8]), []
    for _ in range(19):
        drawn = simulate_labels(fit, y, rng)
        ratios.append(residual_spectrum(residuals(fit_irt(drawn), drawn)).ratio)
    assert dependence_of(fit, y, np.arange(40), 0).line == pytest.approx(max(ratios))


def test_of_very_many_labels_one_table_is_drawn_and_no_line_is_known(monkeypatch):
    y, told = (np.random.default_rng(7).random((12, 40)) < 0.5).astype(float), []
    fit, few = (
        fit_irt(y),
        dependence_of(fit_irt(y), y, np.arange(40), 0, lambda share, what: told.append(what)),
    )
    assert told[-1] == "Table 19 of 19 drawn from the model"
    monkeypatch.setattr(sys.modules[dependence_of.__module__], "MOST_LABELS", y.size - 1)
    many = dependence_of(fit, y, np.arange(40), 0)
    assert np.isnan(many.line)
    assert (many.ratio, many.chance) == (few.ratio, few.chance)


def test_the_headline_names_the_model_that_predicts_best_and_the_one_in_use(result, workspace):
    best = result.frame().set_index("model")["held_out"].idxmax()
    said = EXPERIMENT.headline(result)
    assert said.startswith(f"The {best} predicts held-out labels best")
    other = "1PL" if best != "1PL" else "2PL"
    again = model_check(workspace.dataset("small"), Settings(tau_c=0.5, budget=8, model=other), replicates=2)
    table, said = again.frame().set_index("model"), EXPERIMENT.headline(again)
    best, ahead = table["held_out"].idxmax(), table["held_out_p"] <= 0.05
    if best == other:
        level = [model for model in table.index if model != best and not ahead[model]]
        assert all(f"the {model}" in said.partition("not significantly")[2] for model in level)
    else:
        assert f"better than the {other} in use" in said
        assert ("but not significantly better" in said) == (not ahead[other])


def test_a_share_that_misfits_by_chance_is_no_misfit():
    assert _by_chance(1 / 5, 5) == " on average, and 1 of 5 is no more than chance may give"
    assert _by_chance(0.2, 100) == ""
    assert _by_chance(0.03, 100) == ""
    assert _by_chance(float("nan"), 0) == ""


def test_no_model_is_said_to_predict_best_where_none_can_predict(result):
    models = result.frame().assign(held_out=np.nan)
    said = EXPERIMENT.headline(replace(result, tables={**result.tables, "models": models}))
    assert said.startswith(
        "There are too few labels to hold any of them out: the models cannot be compared. "
    )
    assert "best" not in said
