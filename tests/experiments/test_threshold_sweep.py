from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from benchmarks.claims_kappa import EFFECTS, change_of, level_of, of_change, of_kappa
from crubric_core import Settings, Workspace
from crubric_core.demo import simulate
from crubric_core.experiments.inputs import gold_labels, read_inputs
from crubric_core.experiments.kappa import KappaComparison, PooledKappa
from crubric_core.experiments.statistics import confusion
from crubric_core.experiments.threshold_sweep import EXPERIMENT, compare, headline, quartile_table, sweep
from crubric_core.judges import agreement
from tests import oracles
from tests.experiments.conftest import ingest, small_study


def slow_pairs(ds, reduction):
    """The pairs of (M, J) label tables whose kappas are averaged."""
    panel, gold = ds.panel(), gold_labels(ds, reduction)
    if gold is not None:
        return [(np.apply_along_axis(oracles.naive_majority, 2, panel), gold)]
    return [
        (panel[:, :, k], np.apply_along_axis(oracles.naive_majority, 2, np.delete(panel, k, axis=2)))
        for k in range(panel.shape[2])
    ]


def slow_kappa(pairs, rubrics):
    return np.mean([oracles.naive_kappa(a[:, rubrics].ravel(), b[:, rubrics].ravel()) for a, b in pairs])


@pytest.mark.parametrize("name", ["small", "gold"])
def test_kept_and_kappa_are_those_of_the_obvious_computation(workspace, settings, name):
    ds = workspace.dataset(name)
    reduction = read_inputs(ds, settings).reduction
    pairs = slow_pairs(ds, reduction)
    q = [(1 + agree) / (2 + total) for agree, total in oracles.naive_instances(ds.panel())]
    table = sweep(ds, settings).frame()
    assert np.isnan(table["tau_c"].iloc[0])
    assert table["tau_c"].tolist()[1:] == [0.5, 0.6, 0.65, 0.7, 0.8]
    for _, row in table.iterrows():
        kept = [j for j in range(len(q)) if np.isnan(row["tau_c"]) or q[j] >= row["tau_c"]]
        assert (row["kept"], row["total"]) == (len(kept), len(q))
        assert row["kappa"] == pytest.approx(slow_kappa(pairs, kept), abs=1e-12)
        assert row["delta"] == pytest.approx(row["kappa"] - table["kappa"].iloc[0], abs=1e-12)


@pytest.mark.parametrize("name", ["small", "gold"])
def test_quartiles_and_correlation_are_those_of_the_obvious_computation(workspace, settings, name):
    ds = workspace.dataset(name)
    pairs = slow_pairs(ds, read_inputs(ds, settings).reduction)
    q = np.array([(1 + agree) / (2 + total) for agree, total in oracles.naive_instances(ds.panel())])
    own = []
    for j in range(len(q)):
        kappas = [oracles.naive_kappa(a[:, j], b[:, j]) for a, b in pairs]
        known = [k for k in kappas if not np.isnan(k)]
        own.append(np.mean(known) if known else np.nan)
    own = np.array(own)
    result = sweep(ds, settings)
    cuts = [-1, *np.percentile(q, [25, 50, 75]), 2]
    for number, row in result.tables["quartiles"].iterrows():
        inside = [j for j in range(len(q)) if cuts[number] < q[j] <= cuts[number + 1]]
        assert row["rubrics"] == len(inside)
        known = [own[j] for j in inside if not np.isnan(own[j])]
        assert row["with_kappa"] == len(known)
        expected = np.mean(known) if known else np.nan
        assert row["kappa"] == pytest.approx(expected, abs=1e-12, nan_ok=True)
    both = ~np.isnan(own)
    row = result.tables["correlation"].iloc[0]
    assert tuple(row) == pytest.approx((stats.pearsonr(q[both], own[both]).statistic, both.sum()))


def test_a_gate_that_no_rubric_passes_leaves_the_kappa_of_all_known():
    """It was said to be unknown for want of data."""
    labels = simulate(seed=1, systems=8, queries=6, pool=(8, 10)).labels
    with Workspace() as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "d", format="csv")
        result = sweep(workspace.dataset("d"), Settings(replicates=20), thresholds=(0.5, 0.9999), splits=1)
    first, *_, last = result.frame().to_dict("records")
    assert last["kept"] == 0
    assert headline(result) == (
        f"Agreement with the other judges: κ is {first['kappa']:.3f} over all rubrics. At τ_c = 1.00 it is unknown, as "
        "no rubric passes."
    )


def test_a_difference_of_kappas_goes_no_further_than_kappas_do():
    few = PooledKappa(np.array([0.9, 1.0, 0.2]), np.array([4.0, 4.0]), 2.0, all_kept=False)
    base = PooledKappa(np.array([0.5, 0.4, 0.6]), np.array([40.0, 40.0]), 20.0, all_kept=True)
    low, high = base.interval(0.95)
    change = few.change(base, 0.95)
    assert (change[1], change[2]) == (pytest.approx(-1 - high), pytest.approx(1 - low))


def exact_interval(values, cells, confidence=0.95):
    """Of kappa, values (1 + N,) with all queries and without each, cells (N,): Korn and Graubard 1998 by scipy."""
    n, freedom = len(cells), np.sum(cells) ** 2 / np.sum(np.square(cells)) - 1
    level, share, left = (1 + confidence) / 2, (1 + values[0]) / 2, (1 + values[1:]) / 2
    variance = (n - 1) ** 2 / n * np.var(left, ddof=1)
    trials = share * (1 - share) / variance * (stats.norm.ppf(level) / stats.t.ppf(level, freedom)) ** 2
    met = share * trials
    ends = (
        stats.beta.ppf(1 - level, met, trials - met + 1),
        stats.beta.ppf(level, met + 1, trials - met),
    )
    return 2 * np.array(ends) - 1, stats.t.ppf(level, freedom)


def test_the_intervals_are_those_of_kappa_computed_again_without_each_query(workspace, settings):
    ds = workspace.dataset("small")
    inputs = read_inputs(ds, settings)
    pairs, n = slow_pairs(ds, inputs.reduction), len(inputs.queries)
    q, query = inputs.measurability["q_mean"].to_numpy(), inputs.query_index
    both = sum((np.isfinite(a) & np.isfinite(b)).sum(axis=0) for a, b in pairs)
    found = []
    for kept in (q >= 0.7, q >= 0):
        without = [slow_kappa(pairs, np.flatnonzero(kept & (query != name))) for name in range(n)]
        values = np.array([slow_kappa(pairs, np.flatnonzero(kept)), *without])
        found.append(
            (values, *exact_interval(values, [both[kept & (query == name)].sum() for name in range(n)]))
        )
    (kept, kept_ends, t), (every, ends, _) = found
    row = sweep(ds, settings, thresholds=[0.7]).frame().iloc[1]
    assert (row["kappa_low"], row["kappa_high"]) == pytest.approx(tuple(kept_ends))
    r = np.corrcoef(kept[1:], every[1:])[0, 1]
    difference = kept - every
    below, above = kept[0] - kept_ends[0], kept_ends[1] - kept[0]
    down, up = every[0] - ends[0], ends[1] - every[0]
    half = t * np.sqrt((n - 1) ** 2 / n * np.var(difference[1:], ddof=1))
    low = min(-np.sqrt(below**2 + up**2 - 2 * r * below * up), -half)
    high = max(np.sqrt(above**2 + down**2 - 2 * r * above * down), half)
    assert (row["delta_low"], row["delta_high"]) == pytest.approx((difference[0] + low, difference[0] + high))


@pytest.mark.parametrize(("queries", "kappa"), [(5, 0.6), (5, 0.99), (20, 0.9)])
@pytest.mark.parametrize("effects", EFFECTS, ids=lambda effects: effects.name)
def test_the_intervals_hold_kappa(effects, queries, kappa):
    """Quantiles of draws of the queries held .48 to .92 of these (``simulated_claims kappa``)."""
    rng, level = np.random.default_rng(queries), level_of(effects, kappa)
    held = [of_kappa(rng, effects, queries, kappa, level)[0] for _ in range(300)]
    assert np.mean(held) > 0.92


@pytest.mark.parametrize("change", [(0.9, 0.6, 0.5), (0.99, 0.9, 0.5), (0.99, 0.9, 0.9)])
def test_the_intervals_hold_the_change_of_kappa(change):
    """Quantiles of draws of the queries held .88, .87 and .71 of these (``simulated_claims kappa``)."""
    rng, design = np.random.default_rng(1), change_of(EFFECTS[1], *change)
    held = [of_change(rng, EFFECTS[1], 10, *design)[0] for _ in range(300)]
    assert np.mean(held) > 0.92


def pooled(table, queries):
    """Kappa of two raters: one rubric a row of cells (J, 4), rubrics shared out among the queries."""
    counts = np.array(table, dtype=float)
    index = np.arange(len(counts)) % queries
    return KappaComparison("human gold", counts[None]).pooled(np.ones(len(counts), dtype=bool), index)


def test_kappa_is_not_known_exactly_where_nobody_disagrees():
    few, many = (pooled([[3, 0, 0, 3]] * size, 5).interval(0.95) for size in (10, 200))
    rare = pooled([[6, 0, 0, 0]] * 190 + [[3, 0, 0, 3]] * 10, 5).interval(0.95)
    assert few == pytest.approx((2 * 0.025 ** (1 / 10) - 1, 1))
    assert many == pytest.approx((2 * 0.025 ** (1 / 200) - 1, 1))
    assert few[0] < rare[0] < many[0]  # labels that seldom vary tell less


def test_kappa_of_labels_all_alike_is_unknown_and_so_is_its_change():
    alike, other = pooled([[5, 0, 0, 0]] * 10, 5), pooled([[3, 1, 0, 3]] * 10, 5)
    assert np.isnan([*alike.interval(0.95), *alike.change(other, 0.95)]).all()
    assert np.isnan(pooled([[0, 0, 0, 0]] * 10, 5).interval(0.95)).all()


def test_kappa_of_the_same_rubrics_has_not_changed_and_of_others_may_have():
    every = pooled([[3, 0, 0, 3]] * 20, 5)
    assert every.change(every, 0.95) == (0, 0, 0)
    some, low, high = replace(every, all_kept=False).change(every, 0.95)
    assert low < some == 0 < high


def test_queries_of_unequal_size_are_worth_fewer():
    sizes = replace(
        pooled([[3, 1, 0, 3], [2, 0, 1, 4], [4, 1, 1, 1], [3, 0, 0, 4]], 4), cells=np.array([9.0, 1, 1, 1])
    )
    assert sizes.clusters == pytest.approx(12**2 / 84)
    assert np.diff(sizes.interval(0.95)) > np.diff(replace(sizes, cells=np.full(4, 3.0)).interval(0.95))


def test_thresholds_are_free_and_come_sorted(workspace, settings):
    found = sweep(workspace.dataset("small"), settings, thresholds=[0.9, 0.1])
    assert found.frame()["tau_c"].tolist()[1:] == [0.1, 0.9]
    assert found.frame()["kept"].iloc[1] == found.frame()["total"].iloc[1]


def test_human_gold_is_preferred_and_named(workspace, settings):
    assert sweep(workspace.dataset("gold"), settings).options["against"] == "human gold"
    assert sweep(workspace.dataset("small"), settings).options["against"] == "the other judges"


def test_agreement_is_said_to_rise_by_construction_and_to_need_human_gold_for_more(workspace, settings):
    small, gold = (sweep(workspace.dataset(name), settings, splits=0).limits for name in ("small", "gold"))
    assert all(any("by construction" in limit for limit in limits) for limits in (small, gold))
    assert any("needs human gold" in limit for limit in small)
    assert not any("needs human gold" in limit for limit in gold)


def test_a_gate_on_rubrics_that_are_all_alike_is_not_said_to_raise_agreement(workspace):
    """Judges err alike on every rubric: whatever the gate drops, it drops by chance."""
    rng = np.random.default_rng(3)
    truth = rng.random((20, 60)) < 0.5
    panel = truth[..., None] ^ (rng.random((20, 60, 3)) < 0.12)
    rows = (f"s{i:02},q{j // 3:02},r{j},k{k},{panel[i, j, k]:d}" for i, j, k in np.ndindex(panel.shape))
    workspace.ingest(("system,query,rubric,judge,label\n" + "\n".join(rows)).encode(), "alike", format="csv")
    found = sweep(workspace.dataset("alike"), Settings.preset("paper"), thresholds=[0.7])
    row = found.frame().iloc[-1]
    assert row["delta_low"] > 0  # on the labels that the gate has read
    assert row["unread_low"] < 0 < row["unread_high"]
    assert "not shown to change on systems that the gate has not read" in EXPERIMENT.headline(found)


def test_what_the_gate_has_not_read_is_the_other_half_of_the_systems(workspace, settings):
    ds = workspace.dataset("small")
    inputs, panel = read_inputs(ds, settings), ds.panel()
    order = np.random.default_rng([settings.seed, 21]).permutation(len(panel))
    halves, changes = (order[: len(panel) // 2], order[len(panel) // 2 :]), []
    for read, unread in (halves, halves[::-1]):
        q = np.array([(1 + a) / (2 + n) for a, n in oracles.naive_instances(panel[np.sort(read)])])
        labels = panel[unread]
        pairs = [
            (labels[:, :, k], np.apply_along_axis(oracles.naive_majority, 2, np.delete(labels, k, axis=2)))
            for k in range(panel.shape[2])
        ]
        kept = [j for j in range(len(q)) if q[j] >= 0.6]
        changes.append(slow_kappa(pairs, kept) - slow_kappa(pairs, list(range(len(q)))))
    found = sweep(ds, settings, thresholds=[0.6], splits=1).frame().iloc[-1]
    assert inputs.settings.response == "binary"
    assert found["unread"] == pytest.approx(np.mean(changes), abs=1e-12)


def test_one_judge_has_no_gate_and_no_kappa_and_the_first_line_says_so(workspace):
    found = sweep(workspace.dataset("one judge"), Settings())
    assert "gate is off" in found.sentences()[0]
    assert found.frame()["kappa"].isna().all()
    assert (found.frame()["kept"] == found.frame()["total"]).all()
    assert "nothing to compare" in found.found


def test_two_judges_are_said_to_give_no_rubric_level_signal_in_the_first_line(workspace):
    assert (
        "says little about a single rubric"
        in sweep(workspace.dataset("two judges"), Settings()).sentences()[0]
    )


def test_kappa_from_counts_is_cohens_kappa_of_the_labels():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 2, (2, 30, 8)).astype(float)
    first[rng.random(first.shape) < 0.2] = np.nan
    second[:, 3] = 1.0
    first[:, 3] = 1.0
    ours = agreement.kappa_of_counts(confusion(first, second))
    np.testing.assert_allclose(ours, agreement.cohen_kappa(first, second), atol=1e-12)
    assert np.isnan(ours[3])


def test_rubrics_of_equal_measurability_share_a_quartile():
    table = quartile_table(np.array([0.5] * 6 + [0.9] * 2), np.arange(8.0))
    assert table["rubrics"].tolist() == [6, 0, 0, 2]
    assert np.isnan(table["kappa"].iloc[1])


def test_the_majority_is_compared_with_gold_only_where_both_are_known():
    panel = np.array([[[1, 1, 0], [0, 1, np.nan]]], dtype=float)
    assert compare(panel, np.array([[1.0, 1.0]])).counts.tolist() == [[[1, 0, 0, 0], [0, 0, 0, 0]]]


def test_a_few_rubrics_of_few_queries_show_no_change(settings):
    frame = small_study()[0]
    guessed = ~frame["query"].isin(["q00", "q01", "q02"])
    frame.loc[guessed, "label"] = np.random.default_rng(1).integers(0, 2, guessed.sum())
    with Workspace() as ws:
        ingest(ws, "d", frame)
        ds = ws.dataset("d")
        inputs = read_inputs(ds, settings)
        q, clear = inputs.measurability["q_mean"].to_numpy(), inputs.query_index < 3
        strict = float(q[~clear].max()) + 1e-9
        found, mild = (sweep(ds, settings, thresholds=taus) for taus in ([0.1, strict], [0.1]))
    loose, row = found.frame().iloc[1], found.frame().iloc[-1]
    assert 0 < row["kept"] == (q >= strict).sum() <= clear.sum()
    assert np.isnan(row[["kappa_low", "delta_high", "unread_low", "unread_high"]].astype(float)).all()
    assert np.isfinite(loose[["kappa_low", "delta_high", "unread_low"]].astype(float)).all()
    assert "is not shown to change" in EXPERIMENT.headline(found)
    assert any("of fewer than 5 queries" in limit for limit in found.limits)
    assert not any("of fewer than 5 queries" in limit for limit in mild.limits)
