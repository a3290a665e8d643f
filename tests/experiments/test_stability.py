from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from crubric_core import Settings, run_pipeline
from crubric_core.experiments.inputs import read_inputs, reduce_panel
from crubric_core.experiments.stability import (
    _MEASURES,
    EXPERIMENT,
    AnalysisOutcome,
    _found,
    compare_outcomes,
    kind_table,
    stability,
)
from tests import oracles
from tests.experiments import conftest as study


@pytest.fixture(scope="module")
def result(workspace, settings):
    return stability(workspace.dataset("small"), settings)


def outcome(ds, settings):
    found = run_pipeline(ds, settings)
    board = found.leaderboard.set_index("system")
    return set(found.bank["rubric"]), board["theta"], board["tier"]


def test_leaving_a_system_a_judge_or_a_domain_out_is_analysing_the_dataset_without_it(
    workspace, settings, result
):
    """Against datasets that never had it, run through the whole pipeline."""
    labels, _ = study.small_study()
    queries = study.query_table()
    full_bank, full_theta, full_tier = outcome(workspace.dataset("small"), settings)
    health = set(queries.loc[queries["domain"] == "health", "query"])
    cuts = {
        ("system", "s2"): labels[labels["system"] != "s2"],
        ("judge", "j1"): labels[labels["judge"] != "j1"],
        ("domain", "law"): labels[labels["query"].isin(health)],
    }
    rows = result.tables["variants"].set_index(["kind", "what"])
    for (kind, what), part in cuts.items():
        name = f"without {what}"
        rubrics, asked = study.rubric_table(), queries
        if kind == "domain":
            rubrics, asked = rubrics[rubrics["query"].isin(health)], queries[queries["query"].isin(health)]
        study.ingest(workspace, name, rubrics, "rubrics")
        study.ingest(workspace, name, asked, "queries")
        study.ingest(workspace, name, part)
        bank, theta, tier = outcome(workspace.dataset(name), settings)
        row = rows.loc[(kind, what)]
        assert row["jaccard"] == pytest.approx(len(bank & full_bank) / len(bank | full_bank))
        assert row["kept"] == pytest.approx(len(bank & full_bank) / min(len(bank), len(full_bank)))
        common = list(theta.index)
        assert row["rho"] == pytest.approx(
            oracles.naive_spearman(theta[common], full_theta[common]), abs=1e-12
        )
        changed = [
            (tier[i] == tier[j]) != (full_tier[i] == full_tier[j])
            for a, i in enumerate(common)
            for j in common[a + 1 :]
        ]
        assert row["tier_changes"] == pytest.approx(np.mean(changed))


def test_other_budgets_and_thresholds_are_those_settings_run_anew(workspace, settings, result):
    ds = workspace.dataset("small")
    full_bank, _, _ = outcome(ds, settings)
    rows = result.tables["variants"].set_index(["kind", "what"])
    bank, _, _ = outcome(ds, replace(settings, budget=5))
    assert bank < full_bank
    assert rows.loc[("budget", "5"), ["kept", "bank_size"]].tolist() == [1, 5]
    bank, _, _ = outcome(ds, replace(settings, tau_c=0.7))
    assert rows.loc[("tau_c", "0.7"), "jaccard"] == pytest.approx(
        len(bank & full_bank) / len(bank | full_bank)
    )


def test_every_system_judge_and_domain_is_left_out_once(result):
    counts = result.tables["variants"].groupby("kind")["what"].agg(list).to_dict()
    assert counts["system"] == [f"s{i}" for i in range(7)]
    assert counts["judge"] == ["j0", "j1", "j2"]
    assert counts["domain"] == ["health", "law"]
    assert result.frame()["variants"].sum() == result.tables["variants"]["rho"].notna().sum()


@pytest.mark.parametrize(("name", "model"), [("small", "2PL"), ("graded", "GRM"), ("graded", "2PL")])
def test_the_reduction_of_the_whole_panel_is_the_databases(workspace, settings, name, model):
    ds = workspace.dataset(name)
    inputs = read_inputs(ds, replace(settings, model=model))
    panel = ds.panel(inputs.settings.response)
    ours = reduce_panel(inputs, panel, *(np.arange(size) for size in panel.shape))
    theirs = inputs.reduction
    for field in ("y", "levels", "n_agree", "n_total", "max_panel", "unanimous"):
        np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field))
    assert (ours.systems, ours.n_judges, ours.n_labels) == (
        theirs.systems,
        theirs.n_judges,
        theirs.n_labels,
    )
    pd.testing.assert_frame_equal(ours.rubrics, theirs.rubrics)
    counts = oracles.naive_instances(panel)
    assert list(zip(ours.n_agree, ours.n_total, strict=True)) == counts


def test_what_two_analyses_share_is_counted_by_hand():
    full = AnalysisOutcome(("a", "b", "c", "d"), {"x": 2.0, "y": 1.0, "z": 0.0}, {"x": 1, "y": 2, "z": 2})
    other = AnalysisOutcome(("a", "b", "e"), {"x": 1.0, "y": 2.0, "w": 0.0}, {"x": 1, "y": 1, "w": 2})
    found = compare_outcomes(full, other)
    assert found["jaccard"] == 2 / 5
    assert found["kept"] == 2 / 3
    assert found["reversed_pairs"] == 1.0  # x and y, the one pair that both rank
    assert found["tier_changes"] == 1.0
    assert np.isnan(found["rho"])  # of two systems


def test_a_variant_that_cannot_be_analysed_says_why_and_stops_nothing(workspace):
    found = stability(workspace.dataset("small"), Settings(tau_c=0.85, budget=5, replicates=20))
    table = found.tables["variants"].set_index(["kind", "what"])
    failed = table[table["note"] != ""]
    assert len(failed)
    assert failed["rho"].isna().all()
    assert any("could not be analysed" in limit for limit in found.limits)


def test_one_judge_leaves_no_judge_out_and_moves_no_threshold(workspace):
    found = stability(workspace.dataset("one judge"), Settings(budget=5, replicates=20))
    assert set(found.tables["variants"]["kind"]) == {"system", "budget"}
    assert any("No judge and no domain" in limit for limit in found.limits)


def test_a_bank_size_that_ranks_nobody_is_not_said_to_leave_the_ranking_stable(workspace):
    said = {
        basis: stability(
            workspace.dataset("small"), Settings(budget=5, replicates=20, basis=basis), kinds=["budget"]
        )
        for basis in ("all", "bank")
    }
    assert "of the bank remain." in said["all"].found
    assert "by construction" in " ".join(said["all"].limits)
    assert "of the bank and ρ ≥" in said["bank"].found
    assert "by construction" not in " ".join(said["bank"].limits)
    assert "1 tiers" not in said["all"].found


@pytest.mark.parametrize(
    ("dataset", "kinds", "said"),
    [
        ("one judge", ["judge", "budget"], "Nothing was left out: there is one judge."),
        (
            "one judge",
            ["judge", "domain"],
            "Nothing was left out: there is one judge, there is at most one domain.",
        ),
        ("small", ["budget"], "Nothing was left out: this was not asked for."),
    ],
)
def test_where_nothing_was_left_out_the_headline_says_why(workspace, dataset, kinds, said):
    found = stability(workspace.dataset(dataset), Settings(budget=5, replicates=20), kinds=kinds)
    assert EXPERIMENT.headline(found) == said


def test_a_bound_over_the_judges_that_could_be_removed_is_not_said_of_any_judge():
    """Without one of two nothing could be analysed: how far the ranking is from that is unknown."""
    ran = dict(zip(_MEASURES, (60, 0.8, 0.9, 0.99, 0.01, 0.02, 3), strict=True))
    rows = [
        {"kind": "judge", "what": "a", **ran, "note": ""},
        {"kind": "judge", "what": "b", **dict.fromkeys(_MEASURES, np.nan), "note": "why"},
    ]
    said = []
    for some in (rows, [*rows, {**rows[0], "what": "c"}], rows[:1]):
        kinds = kind_table(pd.DataFrame(some))
        said.append(EXPERIMENT.headline(SimpleNamespace(frame=lambda kinds=kinds: kinds, options={})))
    assert said == [
        "The ranking keeps ρ ≥ 0.990 without the one judge that could be removed.",
        "The ranking keeps ρ ≥ 0.990 without any one of the 2 judges that could be removed.",
        "The ranking keeps ρ ≥ 0.990 without any one judge.",
    ]
    full = AnalysisOutcome(bank=("x",), estimate={"a": 1.0}, tier={"a": 1.0})
    found = _found(kind_table(pd.DataFrame(rows)), full, "all")
    assert "where a judge is removed (1 of 2 such changes could be analysed), 90% of the bank and ρ" in found


def test_a_part_without_which_nothing_can_be_analysed_is_not_said_to_be_missing():
    variants = pd.DataFrame(
        [{"kind": "judge", "what": "a", **dict.fromkeys(_MEASURES, np.nan), "note": "why"}]
    )
    found = SimpleNamespace(frame=lambda: kind_table(variants), options={"kinds": ["judge"]})
    assert EXPERIMENT.headline(found) == (
        "Without one judge no ranking could be compared: there is too little data."
    )
