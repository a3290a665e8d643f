"""The figures of scale and yield, counted again from the labels and the analysis."""

from __future__ import annotations

import numpy as np
import pytest

from crubric_core import Settings, fit_irt, run_pipeline
from crubric_core.experiments.scale import EXPERIMENT, _share, scale
from tests import oracles

SETTINGS = Settings(tau_c=0.5, budget=8)


@pytest.fixture(scope="module")
def result(workspace):
    return scale(workspace.dataset("gold"), SETTINGS)


@pytest.fixture(scope="module")
def analysis(workspace):
    return run_pipeline(workspace.dataset("gold"), SETTINGS)


def test_the_funnel_counts_rubrics_from_raw_to_bank(result, analysis, workspace):
    table = result.frame().set_index("step")["rubrics"]
    feasible = analysis.measurability["feasible"].to_numpy()
    constant = analysis.items["constant"].to_numpy()
    assert table["in the dataset"] == len(analysis.items)
    assert table["pass the gate"] == feasible.sum()
    assert table["candidates: pass, and the systems differ"] == (feasible & ~constant).sum()
    assert table["in the bank"] == len(analysis.bank)
    y = workspace.dataset("gold").reduce().y
    assert table["with a consensus label"] == sum(any(not np.isnan(x) for x in column) for column in y.T)


def test_a_new_system_costs_on_every_rubric_as_many_labels_as_a_cell_has_on_average(result, workspace):
    table, counts = result.tables["calls"].set_index("what"), workspace.dataset("gold").counts()
    assert (table["calls"] == round(counts["labels"] / counts["cells"]) * table["rubrics"]).all()
    assert table.loc["the bank", "saved"] == pytest.approx(1 - 8 / table.loc["all rubrics", "rubrics"])


def test_separated_pairs_are_those_of_the_comparisons(result, analysis):
    row = result.tables["separation"].set_index("basis").loc["all"]
    assert row["pairs"] == len(analysis.comparisons)
    assert row["separated"] == analysis.comparisons["separated"].sum()
    assert f"separate {row['share']:.0%} of the pairs" in EXPERIMENT.headline(result)


def test_pass_rates_are_compared_with_people_on_the_same_cells(result, workspace):
    ds = workspace.dataset("gold")
    panel, reduction, gold = ds.panel(), ds.reduce(), ds.gold()
    said = {
        (reduction.systems.index(r.system), reduction.rubrics["rubric"].tolist().index(r.rubric)): r.label
        for r in gold.itertuples()
    }
    row = result.tables["rates"].iloc[1]
    both = [(panel[i, j, 1], label) for (i, j), label in said.items() if not np.isnan(panel[i, j, 1])]
    assert row["cells"] == len(both)
    assert (row["rate_there"], row["human_rate"]) == pytest.approx(tuple(np.mean(both, axis=0)))


def test_graded_labels_are_fitted_both_ways(workspace, result):
    assert result.tables["graded"].empty
    ds = workspace.dataset("graded")
    row = scale(ds, SETTINGS).tables["graded"].iloc[0]
    y = ds.reduce("ordered").y
    graded = fit_irt(y, "GRM", levels=ds.reduce("ordered").levels).theta
    plain = fit_irt(ds.reduce("binary").y, "2PL").theta
    assert row["rho"] == pytest.approx(oracles.naive_spearman(graded, plain))
    pairs = [(i, j) for i in range(len(plain)) for j in range(i)]
    turned = [(graded[i] - graded[j]) * (plain[i] - plain[j]) < 0 for i, j in pairs]
    assert row["reversed_pairs"] == pytest.approx(np.mean(turned))


def test_without_a_second_judge_no_rubric_is_said_to_pass_a_gate(workspace):
    found = scale(workspace.dataset("one judge"), SETTINGS)
    said = f"{found.found} {EXPERIMENT.headline(found)}"
    assert "pass" not in said
    assert "all rubrics that differ separate" in said
    assert "vary between systems; a bank of" in found.found, "that none of the pairs is separated may follow"


def test_a_few_separated_pairs_are_not_said_to_be_none():
    assert [_share(x) for x in (0.0, 0.002, 0.5, 0.998, 1.0)] == ["0%", "under 1%", "50%", "over 99%", "100%"]
