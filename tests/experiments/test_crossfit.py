from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from crubric_core import Settings, Workspace, fit_irt, item_information
from crubric_core.bank.pairs import pair_distances
from crubric_core.bank.utility import utility_grid
from crubric_core.errors import DatasetError
from crubric_core.experiments.crossfit import _mean_correlation, crossfit, smallest_interval
from crubric_core.experiments.inputs import read_inputs
from crubric_core.experiments.splits import STRATEGIES, log_budgets, target_correlation, usable_rubrics
from tests import oracles

SPLITS, DRAWS = 3, 2


@pytest.fixture(scope="module")
def result(workspace, settings):
    return crossfit(workspace.dataset("small"), settings, splits=SPLITS, draws=DRAWS, n_budgets=6)


def slow_orders(inputs, half, fit, rng):
    """Each strategy's orders on half A, straight from the definitions."""
    grid = utility_grid(difficulty=fit.b, theta=fit.theta)
    info = item_information(fit, grid.theta)
    feasible = inputs.feasible[half]
    mean = [sum(grid.weights * info[:, j]) for j in range(len(half))]
    candidates = [j for j in range(len(half)) if feasible[j]]
    y = inputs.reduction.y[:, half]
    agree, total = inputs.reduction.n_agree[half], inputs.reduction.n_total[half]
    hard = [j for j in range(len(half)) if agree[j] == total[j] and {0.0, 1.0} <= set(y[:, j])]
    levels = inputs.reduction.levels[half]
    distances = pair_distances(y, fit.theta, fit.theta_sd, levels)
    rows, query = distances.totals(np.arange(len(half))), np.asarray(inputs.query_index)[half]
    return {
        "pairs": [oracles.naive_pairs_order(rows, distances.weights, query, feasible, len(half))],
        "greedy": [oracles.naive_greedy(info, grid.weights, len(half), feasible)[0]],
        "plain": [sorted(candidates, key=lambda j: -mean[j])],
        "hard_random": [list(rng.permutation(hard)) for _ in range(DRAWS)],
        "random": [list(rng.permutation(len(half))) for _ in range(DRAWS)],
    }


@pytest.fixture(scope="module")
def slow(workspace, settings):
    """[split] → (strategy → (order, y, fit) of each draw, reference), budgets."""
    inputs = read_inputs(workspace.dataset("small"), settings)
    y = inputs.reduction.y
    usable = [j for j in range(y.shape[1]) if len({x for x in y[:, j] if not np.isnan(x)}) == 2]
    made = []
    for number in range(SPLITS):
        rng = np.random.default_rng([settings.seed, 10, number])
        shuffled = rng.permutation(usable)
        half, other = sorted(shuffled[: len(usable) // 2]), sorted(shuffled[len(usable) // 2 :])
        fit = fit_irt(y[:, half])
        made.append((slow_orders(inputs, half, fit, rng), y[:, half], fit, fit_irt(y[:, other]).theta))
    return made, log_budgets(len(usable) // 2, 6).tolist()


def slow_rho(split, order, budget):
    _, y, fit, reference = split
    return oracles.naive_spearman(oracles.naive_eap(y, fit.a, fit.b, order[:budget]), reference)


def mean_rho(made, strategy, budget):
    return np.mean([np.mean([slow_rho(s, o, budget) for o in s[0][strategy]]) for s in made])


def interval_of_halves(values):
    """Half of the rubrics is held out: the variance of the mean is s² (1/n + 1)."""
    return stats.t.interval(
        0.95, len(values) - 1, values.mean(), values.std(ddof=1) * np.sqrt(1 / len(values) + 1)
    )


def test_auc_deltas_and_intervals_are_those_of_the_obvious_computation(result, slow, settings):
    made, budgets = slow
    assert result.options["budgets"] == budgets
    table = result.frame().set_index("strategy")
    auc = {
        s: np.array([np.mean([[slow_rho(m, o, b) for b in budgets] for o in m[0][s]]) for m in made])
        for s in STRATEGIES
    }
    for strategy in STRATEGIES:
        row = table.loc[strategy]
        assert row["auc"] == pytest.approx(auc[strategy].mean(), abs=1e-12)
        low, high = np.clip(interval_of_halves(auc[strategy]), -1, 1)
        assert (row["auc_low"], row["auc_high"]) == pytest.approx((low, high), abs=1e-12)
        for first, delta in (("pairs", "delta"), ("greedy", "greedy_delta")):
            if strategy == first:
                assert np.isnan(row[delta])
                continue
            paired = auc[first] - auc[strategy]
            assert row[delta] == pytest.approx(paired.mean(), abs=1e-12)
            low, high = interval_of_halves(paired)
            assert (row[f"{delta}_low"], row[f"{delta}_high"]) == pytest.approx((low, high), abs=1e-12)


def test_curves_are_those_of_the_obvious_computation(result, slow):
    made, budgets = slow
    for _, row in result.tables["curves"].iterrows():
        assert row["rho"] == pytest.approx(mean_rho(made, row["strategy"], row["budget"]), abs=1e-12)
    assert len(result.tables["curves"]) == len(budgets) * len(STRATEGIES)


@pytest.mark.parametrize("target", [0.5, 0.7, 0.8, 0.999999])
def test_the_smallest_bank_is_found_as_by_asking_every_budget(workspace, settings, slow, target, monkeypatch):
    monkeypatch.setattr("crubric_core.experiments.splits.target_correlation", lambda n: target)
    made, budgets = slow
    table = crossfit(workspace.dataset("small"), settings, splits=SPLITS, draws=DRAWS, n_budgets=6).frame()
    for strategy, found in table.set_index("strategy")["smallest_bank"].items():
        expected = oracles.naive_smallest(lambda b, s=strategy: mean_rho(made, s, b), budgets, target)
        assert (None if np.isnan(found) else found) == expected


def test_the_same_seed_gives_the_same_result_and_another_seed_another(workspace, settings, result):
    ds = workspace.dataset("small")
    again = crossfit(ds, settings, splits=SPLITS, draws=DRAWS, n_budgets=6)
    assert again.to_json_dict() == result.to_json_dict()
    other = crossfit(ds, Settings(tau_c=0.6, budget=10, seed=1), splits=SPLITS, draws=DRAWS, n_budgets=6)
    assert not other.tables["splits"].equals(result.tables["splits"])


def test_budgets_are_log_spaced_from_five_to_the_whole_half():
    assert log_budgets(2000).tolist()[::11] == [5, 2000]
    assert len(log_budgets(2000)) == 12
    assert log_budgets(4).tolist() == [1, 2, 3, 4]


def test_at_six_systems_the_target_is_one_swap_of_neighbours_away_from_perfect():
    assert target_correlation(6) == pytest.approx(stats.spearmanr([1, 2, 3, 4, 5, 6], [2, 1, 3, 4, 5, 6])[0])
    assert round(target_correlation(6), 4) == 0.9429
    assert target_correlation(15) == 0.95


def test_a_hard_set_without_any_rubric_is_unknown_and_said(workspace):
    labels = [
        (f"s{i}", f"r{j:02}", k, int((i + j) % 4 < 2)) for i in range(4) for j in range(20) for k in "abc"
    ]
    labels = [(s, r, k, 1 - x if (k, s) == ("a", "s0") else x) for s, r, k, x in labels]
    text = "system,query,rubric,judge,label\n" + "\n".join(f"{s},q,{r},{k},{x}" for s, r, k, x in labels)
    workspace.ingest(text.encode(), "never unanimous", format="csv")
    ds = workspace.dataset("never unanimous")
    found = crossfit(ds, Settings(tau_c=0.1), splits=2, draws=1, n_budgets=3)
    row = found.frame().set_index("strategy").loc["hard_random"]
    assert np.isnan([row["auc"], row["delta"], row["smallest_bank"]]).all()
    assert row["splits"] == row["delta_splits"] == row["candidates"] == 0
    assert "random rubrics of the hard set, because no split has both" in found.found
    assert row[["smallest_low", "smallest_high"]].isna().all()
    assert found.found.endswith("Smallest bank with ρ ≥ 0.95: not reached by any strategy.")


def test_too_few_systems_are_refused_with_the_reason(workspace, settings):
    rows = "\n".join(f"s{i},q,r{j},k,{(i + j) % 2}" for i in range(2) for j in range(9))
    workspace.ingest(f"system,query,rubric,judge,label\n{rows}".encode(), "two systems", format="csv")
    with pytest.raises(DatasetError, match="needs 3 systems"):
        crossfit(workspace.dataset("two systems"), settings)


def test_splits_whose_half_holds_no_measurable_rubric_are_left_out_and_counted(workspace):
    ds = workspace.dataset("small")
    q = np.sort(read_inputs(ds, Settings(tau_c=0.8)).measurability["q_mean"].to_numpy())
    found = crossfit(ds, Settings(tau_c=float(q[-1]) - 1e-9), splits=8, draws=1, n_budgets=3)
    table = found.frame().set_index("strategy")
    assert found.tables["splits"]["greedy"].isna().sum() == 8 - table.loc["greedy", "splits"]
    assert table.loc["random", "splits"] == 8
    assert table.loc["random", "delta_splits"] == table.loc["greedy", "splits"]


def test_a_gate_that_nothing_passes_is_refused_with_the_remedy(workspace):
    with pytest.raises(DatasetError, match="lower τ_c"):
        crossfit(workspace.dataset("small"), Settings(tau_c=1.0))


def test_graded_labels_are_cross_fitted_with_the_graded_model(workspace):
    ds = workspace.dataset("graded")
    found = crossfit(ds, Settings(model="GRM", tau_c=0.3), splits=2, draws=1, n_budgets=4)
    assert found.frame()["auc"].between(0, 1).all()


def test_no_interval_of_a_correlation_ends_beyond_1():
    assert _mean_correlation(np.array([0.6, 1.0, 1.0]), 0.95)[2] == 1
    assert _mean_correlation(np.array([-0.6, -1.0, -1.0]), 0.95)[1] == -1
    assert np.isnan(_mean_correlation(np.array([0.6, np.nan]), 0.95)[1:3]).all()


def test_splits_that_are_all_equal_show_no_spread_and_give_no_interval():
    mean, low, high, n = _mean_correlation(np.array([1.0, 1.0, np.nan, 1.0]), 0.95)
    assert (mean, n) == (1.0, 3)
    assert np.isnan([low, high]).all()


def test_the_smallest_bank_lies_between_the_sizes_that_the_intervals_of_the_curve_allow():
    curve = pd.DataFrame(
        {
            "budget": [5, 10, 20, 40],
            "rho": [0.5, 0.85, 0.93, 0.97],
            "low": [0.3, 0.7, 0.88, 0.951],
            "high": [0.7, 0.949, 0.96, 0.99],
        }
    )
    assert smallest_interval(curve, 0.95) == (11, 40), "10 is excluded, sizes from 11 on were not tried"
    assert smallest_interval(curve, 0.7) == (1, 10)
    assert smallest_interval(curve, 0.98) == pytest.approx((21, np.nan), nan_ok=True)
    assert np.isnan(smallest_interval(curve, 0.995)).all()


def test_sizes_without_an_interval_are_not_excluded_and_prove_nothing():
    unknown, alike = [np.nan, np.nan], [0.9, 0.96]
    curve = pd.DataFrame({"budget": [5, 10], "rho": alike, "low": unknown, "high": unknown})
    assert smallest_interval(curve, 0.95) == pytest.approx((1, np.nan), nan_ok=True)
    assert np.isnan(smallest_interval(curve.assign(rho=unknown), 0.95)).all(), "no bank at all"


def test_the_smallest_bank_has_its_interval_in_the_table_and_in_the_sentence(result):
    table = result.frame()
    known = table[table["smallest_bank"].notna()]
    assert (known["smallest_low"] <= known["smallest_bank"]).all()
    assert not (known["smallest_high"] < known["smallest_bank"]).any()
    for row in known.to_dict("records"):
        high = "not reached" if np.isnan(row["smallest_high"]) else f"{row['smallest_high']:.0f}"
        assert f"{row['smallest_bank']:.0f} [{row['smallest_low']:.0f}, {high}] (" in result.found


@pytest.mark.parametrize(
    ("varying", "said"), [(0, "0 such rubrics"), (1, "1 such rubric"), (3, "3 such rubrics")]
)
def test_a_dataset_with_too_few_rubrics_that_differ_says_how_many_there_are(varying, said):
    rows = [
        f"s{i},q{j},r{j},{judge},{int(j < varying and i == 0)}"
        for i in range(4)
        for j in range(6)
        for judge in "ab"
    ]
    with Workspace() as workspace:
        workspace.ingest("\n".join(["system,query,rubric,judge,label", *rows]).encode(), "d")
        reduction = workspace.dataset("d").reduce()
    with pytest.raises(DatasetError, match=rf"this dataset has 4 systems and {said}\.$"):
        usable_rubrics(reduction)
