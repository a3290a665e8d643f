from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.claims_new_systems import SELECTORS as SIMULATED
from benchmarks.claims_new_systems import simulated, truths
from crubric_core import Settings, Workspace, fit_irt
from crubric_core.demo import simulate
from crubric_core.errors import DatasetError
from crubric_core.experiments.concordance import MEASURES, Concordance, Repeat
from crubric_core.experiments.held_out_systems import each_once, held_out_systems, hold_out_folds, train
from crubric_core.experiments.held_out_tables import (
    NAMES,
    ahead_table,
    budget_table,
    found_sentence,
    summary_table,
)
from crubric_core.experiments.inputs import read_inputs
from crubric_core.experiments.results import CancelledError, ExperimentWatch
from crubric_core.experiments.selectors import SELECTORS, pool_curve
from tests.experiments.conftest import ingest, small_study
from tests.oracles import naive_share_interval


@pytest.fixture(scope="module")
def result(workspace, settings):
    return held_out_systems(workspace.dataset("small"), settings, repeats=2, draws=2, n_budgets=4)


def test_the_pool_score_is_the_mean_share_of_the_mark_over_the_pool():
    ladder = np.array(
        [[[0.2], [0.0]], [[0.3], [0.0]], [[0.5], [1.0]]]
    )  # levels 0, 1, 2 of two rubrics at one node
    assert pool_curve(ladder).tolist() == pytest.approx([(0.65 + 1) / 2])


def test_every_selector_has_a_row_with_each_measure_in_its_range(result):
    table = result.frame().set_index("selector")
    assert list(table.index) == list(SELECTORS) == list(NAMES)
    assert table[["new_pairs", "new_old"]].melt()["value"].between(0, 1).all()
    assert table["tau"].between(-1, 1).all()
    assert (table["score_error"] >= 0).all()
    assert (table["tau_low"] <= table["tau"]).all()
    assert (table["tau"] <= table["tau_high"]).all()


def test_an_error_that_no_new_system_shows_is_unknown():
    nothing = Concordance(np.zeros((4, 2, 3, 3)), np.zeros((4, 3, 3)), np.full((2, 3), np.nan))
    table = budget_table({"pairs": nothing}, np.array([5, 10]))
    assert table["score_error"].isna().all()


def test_gains_are_differences_to_random(result):
    table = result.frame().set_index("selector")
    expected = table["new_old"] - table.loc["random", "new_old"]
    np.testing.assert_allclose(table["new_old_gain"].drop("random"), expected.drop("random"), atol=1e-12)
    error = table.loc["random", "score_error"] - table["score_error"]
    np.testing.assert_allclose(table["score_error_gain"].drop("random"), error.drop("random"), atol=1e-12)
    assert np.isnan(table.loc["random", "tau_gain"])


def test_how_far_pairs_are_ahead_is_the_difference_of_the_rows(result):
    table, ahead = result.frame().set_index("selector"), result.tables["ahead"]
    assert set(ahead["selector"]) == set(SELECTORS) - {"pairs"}
    for row in ahead[ahead["measure"] != "human"].itertuples():
        sign = -1 if row.measure == "score_error" else 1
        expected = sign * (table.loc["pairs", row.measure] - table.loc[row.selector, row.measure])
        assert row.difference == pytest.approx(expected)
        assert row.low <= row.difference <= row.high


def test_the_same_seed_gives_the_same_tables_and_budgets_average_to_the_summary(workspace, settings, result):
    again = held_out_systems(workspace.dataset("small"), settings, repeats=2, draws=2, n_budgets=4)
    for name, table in result.tables.items():
        assert table.equals(again.tables[name])
    means = result.tables["budgets"].groupby("selector")[["new_pairs", "tau", "score_error"]].mean()
    summary = result.frame().set_index("selector")[["new_pairs", "tau", "score_error"]]
    np.testing.assert_allclose(means.loc[summary.index], summary, atol=1e-9)


def test_training_knows_nothing_of_the_new_systems(workspace, settings):
    inputs = read_inputs(workspace.dataset("small"), settings)
    panel = inputs.dataset.panel("binary")
    pooled = fit_irt(inputs.reduction.y)
    old = np.arange(len(panel)) != 2
    training = train(inputs, panel, pooled, old)
    assert training.y.shape[0] == old.sum()
    changed = panel.copy()
    changed[2] = 1 - changed[2]
    again = train(inputs, changed, pooled, old)
    assert (training.passing == again.passing).all()
    assert (training.passing_paper == again.passing_paper).all()


def test_it_stops_when_it_is_cancelled(workspace, settings):
    with pytest.raises(CancelledError):
        held_out_systems(workspace.dataset("small"), settings, cancel=lambda: True)


def placed(theta, reference, fold, human=None):
    """Concordance of one draw at one budget."""
    size = len(reference)
    repeat = Repeat(size, 1)
    everyone = np.ones(size, dtype=bool)
    repeat.put("pairs", 0, everyone, theta[None], np.zeros((1, size)))
    repeat.reference[:], repeat.score[:] = reference, 0.0
    return repeat.concordance("pairs", fold, np.full(size, np.nan) if human is None else human)


def test_each_measure_counts_its_own_pairs():
    rng = np.random.default_rng(0)
    theta, reference, human = rng.normal(size=(3, 9))
    fold = np.arange(9) % 3
    values = placed(theta, reference, fold, human).with_and_without()[:, 0]
    pairs = [(i, k) for i in range(9) for k in range(i)]
    inside = [(theta[i] > theta[k]) == (reference[i] > reference[k]) for i, k in pairs if fold[i] == fold[k]]
    across = [
        ((theta[i] > reference[k]) == (reference[i] > reference[k]))
        for i in range(9)
        for k in range(9)
        if fold[i] != fold[k]
    ]
    assert values[0] == pytest.approx(np.mean(inside))
    assert values[1] == pytest.approx(np.mean(across))
    assert values[2] == pytest.approx(stats.kendalltau(theta, reference).statistic)
    assert values[3] == pytest.approx(stats.kendalltau(theta, human).statistic)


def test_leaving_a_system_out_is_measuring_without_it():
    rng = np.random.default_rng(1)
    theta, reference = rng.normal(size=(2, 8))
    fold = np.arange(8) % 2
    values = placed(theta, reference, fold).with_and_without()
    for system in range(8):
        rest = np.delete(np.arange(8), system)
        expected = placed(theta[rest], reference[rest], fold[rest]).with_and_without()[:, 0]
        np.testing.assert_allclose(values[:3, 1 + system], expected[:3], atol=1e-12)


def test_unknown_and_tied_abilities_count_half_and_tied_references_not_at_all():
    reference = np.array([0.0, 1.0, 1.0, np.nan])
    theta = np.array([0.5, 0.5, np.nan, 0.1])
    found = placed(theta, reference, np.zeros(4, dtype=int))
    assert found.count[0].sum() / 2 == 2
    assert found.with_and_without()[0, 0] == 0.5


def test_abilities_that_differ_by_rounding_alone_are_tied():
    """Processors differ in the last digit of the ability of a copied system."""
    reference, noise = np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.0, 4e-16])
    found = placed(reference - noise, reference + noise, np.zeros(3, dtype=int))
    assert found.count[0].sum() / 2 == 2
    assert found.with_and_without()[0, 0] == 1


def test_pairs_of_systems_without_a_common_scale_are_not_counted():
    rng = np.random.default_rng(2)
    theta, reference, human = rng.normal(size=(3, 8))
    group = np.arange(8) // 4
    repeat = Repeat(8, 1)
    repeat.put("pairs", 0, np.ones(8, dtype=bool), theta[None], np.zeros((1, 8)))
    repeat.reference[:], repeat.score[:] = reference, 0.0
    count = repeat.concordance("pairs", np.arange(8) % 2, human, group).count
    assert (count.sum(axis=0)[group[:, None] != group] == 0).all()
    assert count[2].sum() == 2 * 2 * 6


def test_systems_on_queries_of_their_own_are_told_apart_and_the_unlabelled_are_unknown(settings):
    made = simulate(seed=3, systems=9, queries=16, pool=(5, 6)).labels
    systems, queries = sorted(made["system"].unique()), sorted(made["query"].unique())
    first = made["system"].isin(systems[:4]) & made["query"].isin(queries[:8])
    labels = made[first | made["system"].isin(systems[4:8]) & made["query"].isin(queries[8:])]
    with Workspace() as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "parted", format="csv")
        workspace.ingest(
            made[~made["system"].isin(systems[:1])].to_csv(index=False).encode(), "whole", format="csv"
        )
        found = [
            held_out_systems(workspace.dataset(name), settings, repeats=1, folds=4, draws=1, n_budgets=2)
            for name in ("parted", "whole")
        ]
    told = "The systems form 2 groups that share too few queries for a common scale: pairs of two groups"
    assert [any(limit.startswith(told) for limit in one.limits) for one in found] == [True, False]


def test_every_interval_is_that_of_its_pairs_one_by_one():
    rng = np.random.default_rng(3)
    theta, reference, human = rng.normal(size=(3, 12))
    human[8:] = np.nan  # no part in the comparison with people: neither a system nor a degree of freedom
    fold = np.arange(12) % 3
    found = placed(theta, reference, fold, human)
    table = summary_table({"pairs": found}, 0.9).iloc[0]
    pairs = [(i, k) for i in range(12) for k in range(i)]

    def agrees(other, i, k):
        return float((theta[i] > theta[k]) == (other[i] > other[k]))

    def across(i, k):
        truth = reference[i] > reference[k]
        return np.mean([(theta[i] > reference[k]) == truth, (reference[i] > theta[k]) == truth])

    expected = {
        "new_pairs": {(i, k): agrees(reference, i, k) for i, k in pairs if fold[i] == fold[k]},
        "new_old": {(i, k): across(i, k) for i, k in pairs if fold[i] != fold[k]},
        "tau": {(i, k): agrees(reference, i, k) for i, k in pairs},
        "human": {(i, k): agrees(human, i, k) for i, k in pairs if i < 8},
    }
    for measure, values in expected.items():
        ends = np.array(naive_share_interval(values, 0.9))
        ends = 2 * ends - 1 if measure in ("tau", "human") else ends
        assert table[[f"{measure}_low", f"{measure}_high"]].tolist() == pytest.approx(ends.tolist()), measure


def test_the_interval_of_the_score_error_is_the_t_interval_of_a_mean():
    error = np.abs(np.random.default_rng(2).normal(size=12))
    found = Concordance(np.ones((4, 1, 12, 12)), np.ones((4, 12, 12)), error[None])
    other = Concordance(np.ones((4, 1, 12, 12)), np.ones((4, 12, 12)), error[None] ** 2)
    row = summary_table({"pairs": found, "random": other}, 0.95).iloc[0]
    for name, values in (("score_error", error), ("score_error_gain", error**2 - error)):
        expected = stats.ttest_1samp(values, 0).confidence_interval()
        assert (row[f"{name}_low"], row[f"{name}_high"]) == pytest.approx(tuple(expected))


def test_all_pairs_in_order_are_not_certain_with_few_systems():
    """Shares of 1 had the interval [1, 1], and their differences [0, 0]."""
    reference = np.arange(8.0)
    found = placed(reference, reference, np.arange(8) % 4)
    row = summary_table({"pairs": found, "random": found}, 0.95).iloc[0]
    exact = stats.binomtest(4, 4).proportion_ci().low
    assert (row["new_pairs_low"], row["new_pairs_high"]) == pytest.approx((exact, 1))
    assert (row["tau_low"], row["tau_high"]) == pytest.approx((2 * exact - 1, 1))
    assert row["new_pairs_gain_low"] == pytest.approx(exact - 1)
    assert row["tau_gain_high"] == pytest.approx(2 * (1 - exact))
    assert np.isnan(row["human_low"])
    assert np.isnan(row["human_gain_low"])


@pytest.mark.parametrize("systems", [8, 30])
def test_the_simulation_of_new_systems_has_the_truths_that_it_tells(systems):
    rng, shares = np.random.default_rng(4), (0.9, 0.8)
    drawn = [simulated(rng, systems, shares) for _ in range(300)]
    for name, share in zip(SIMULATED, shares, strict=True):
        means = [[*found[name].with_and_without()[:, 0], found[name].score_error.mean()] for found in drawn]
        np.testing.assert_allclose(np.mean(means, axis=0), truths(share), atol=0.03)


@pytest.mark.parametrize(("systems", "shares"), [(8, (0.98, 0.95)), (15, (0.9, 0.8))])
def test_the_intervals_hold_for_shares_near_1(systems, shares):
    """The jackknife alone held .08 and .89 of those of new pairs (``simulated_claims new_systems``)."""
    rng, truth = np.random.default_rng(5), np.array([truths(share)[:4] for share in shares])
    held = []
    for _ in range(100):
        row = summary_table(simulated(rng, systems, shares), 0.95).iloc[0]
        for kind, true in (("", truth[0]), ("_gain", truth[0] - truth[1])):
            low, high = (row[[f"{name}{kind}_{end}" for name in MEASURES]] for end in ("low", "high"))
            held.append((low.to_numpy() <= true) & (true <= high.to_numpy()))
    assert (np.mean(held, axis=0) > 0.93).all()


def noted(gain):
    """A summary in which pairs beat random on every pair of systems by ``gain`` systems' worth."""
    size, rng = 30, np.random.default_rng(0)
    share = {"pairs": 0.7 + gain, "random": 0.7}
    found = {}
    for name, mean in share.items():
        agree = np.clip(mean + rng.normal(0, 0.01, (4, 1, size, size)), 0, 1)
        agree = (agree + np.swapaxes(agree, 2, 3)) / 2
        found[name] = Concordance(agree, np.ones((4, size, size)), np.full((1, size), 0.1))
    return found_sentence(ahead_table(found, 0.95), summary_table(found, 0.95))


def test_the_headline_says_ahead_behind_or_not_separated_as_the_intervals_do():
    assert noted(0.1).count("ahead") == 3
    assert noted(0.1).startswith("Banks of pairs minus random rubrics: new pairs in order 0.099 [")
    assert noted(-0.1).count("behind") == 3
    assert noted(0.0).count("not separated") == 3


def test_hold_out_can_run_some_selectors_alone(workspace, settings):
    inputs = read_inputs(workspace.dataset("small"), settings)
    budgets, found = hold_out_folds(
        inputs, inputs.dataset.panel(), ExperimentWatch(), 1, 3, 1, 3, ("pairs", "random")
    )
    assert list(found) == ["pairs", "random"]
    assert found["pairs"].agree.shape[1] == len(budgets)


def test_graded_rubrics_and_a_human_ranking_are_read(workspace):
    settings = Settings(model="GRM", tau_c=0.0)
    result = held_out_systems(workspace.dataset("graded"), settings, repeats=1, draws=1, n_budgets=3)
    assert result.frame()["new_pairs"].between(0, 1).all()
    assert result.frame()["human"].isna().all()
    human = held_out_systems(workspace.dataset("gold"), Settings(tau_c=0.6), repeats=1, draws=1, n_budgets=3)
    assert human.frame()["human"].between(-1, 1).all()


def test_too_few_systems_are_an_error():
    with Workspace() as ws:
        ingest(ws, "few", small_study(systems=5)[0])
        with pytest.raises(DatasetError, match="needs 6 systems"):
            held_out_systems(ws.dataset("few"), Settings())


def test_copies_of_a_system_count_once(settings):
    """A copy that stayed among the others was no new system, and the order of the two, that of rounding, counted."""
    labels, _ = small_study()
    copies = labels[labels["system"] == "s1"]
    with Workspace() as ws:
        ingest(ws, "alone", labels)
        ingest(ws, "copied", pd.concat([labels, *(copies.assign(system=f"t{n}") for n in range(2))]))
        alone, copied = (
            held_out_systems(ws.dataset(name), settings, repeats=1, draws=1, n_budgets=2)
            for name in ("alone", "copied")
        )
    for name, table in alone.tables.items():
        pd.testing.assert_frame_equal(copied.tables[name], table)
    told = [[limit for limit in one.limits if "same labels" in limit] for one in (alone, copied)]
    assert told[0] == []
    assert told[1][0].endswith("2 of 9 left out.")


def test_systems_that_are_alike_on_few_labels_or_pass_all_are_no_copies(settings):
    """On the few rubrics of a block, or on easy ones, good systems are alike."""
    labels, _ = small_study()
    few = labels[labels["query"].isin(labels["query"].unique()[:3])]
    alike = few[few["system"] == "s1"].assign(system="t")
    good = [labels[labels["system"] == "s1"].assign(system=name, label=1) for name in ("t", "u")]
    with Workspace() as ws:
        ingest(ws, "few", pd.concat([few, alike]))
        ingest(ws, "easy", pd.concat([labels, *good]))
        for name in ("few", "easy"):
            ds = ws.dataset(name)
            inputs = read_inputs(ds, settings)
            assert each_once(inputs, ds.panel("binary"))[0] is inputs, name


def test_the_folds_of_a_result_are_those_that_were_made(workspace, settings):
    """Two systems a fold at the least: no more folds than that were ever made, whatever was asked."""
    found = held_out_systems(
        workspace.dataset("small"),
        settings,
        repeats=1,
        folds=100,
        draws=1,
        n_budgets=1,
        selectors=("random", "pairs"),
    )
    systems = len(read_inputs(workspace.dataset("small"), settings).reduction.systems)
    assert found.options["folds"] == systems // 2
