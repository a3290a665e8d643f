"""The whole road: labels in, bank and tiered leaderboard out."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.analysis.export import FILES, report, write_result
from crubric_core.analysis.warnings import dataset_warnings, ranking_warnings
from crubric_core.demo import simulate
from crubric_core.errors import DatasetError
from crubric_core.files import csv_bytes
from tests.tiers import crossed

COLUMNS = {
    "measurability": "rubric query n_agree n_total q_mean q_sd q_low q_high p_above_tau feasible flag",
    "items": "rubric a b nu item_rest constant in_bank",
    "bank": "order rubric gain utility weight",
    "leaderboard": "rank system theta theta_low theta_high score tier rank_low rank_high",
}


@pytest.fixture(scope="module")
def study():
    return simulate(1, systems=8, queries=20, pool=(10, 20))


@pytest.fixture(scope="module")
def workspace(study):
    with Workspace() as workspace:
        for kind in ("queries", "rubrics", "labels"):
            workspace.ingest(
                getattr(study, kind).to_csv(index=False).encode(), "demo", kind, name=f"{kind}.csv"
            )
        yield workspace


@pytest.fixture(scope="module")
def result(workspace):
    return run_pipeline(workspace.dataset("demo"), Settings(budget=60, replicates=50))


def test_the_tables_have_the_columns_that_scripts_rely_on(result):
    for name, columns in COLUMNS.items():
        assert set(columns.split()) <= set(getattr(result, name).columns)


def test_the_bank_holds_feasible_rubrics_that_vary(result):
    chosen = result.items["in_bank"].to_numpy()
    assert chosen.sum() == len(result.bank) == 60
    assert result.measurability["feasible"].to_numpy()[chosen].all()
    assert not result.items["constant"].to_numpy()[chosen].any()
    assert (result.bank["gain"] > 0).all()
    assert result.bank["weight"].sum() == pytest.approx(1.0)
    assert 0 < result.certificate <= 1


def test_the_leaderboard_is_ordered_and_its_tiers_follow_the_order(result):
    board = result.leaderboard
    assert board["theta"].is_monotonic_decreasing
    assert (board["theta_low"] <= board["theta_high"]).all()
    assert (board["tier"].diff().dropna() >= 0).all()
    assert ((board["rank_low"] <= board["rank"]) & (board["rank"] <= board["rank_high"])).all()


def test_the_ranking_finds_the_true_order(result, study):
    truth = study.truth.systems.set_index("system")["theta"]
    found = result.leaderboard.set_index("system")["theta_full"].astype(float)
    assert found.corr(truth[found.index], method="spearman") > 0.9


def test_a_smaller_budget_is_a_prefix_and_a_threshold_does_not_refit(workspace, result):
    smaller = run_pipeline(workspace.dataset("demo"), Settings(budget=20, replicates=50))
    assert smaller.bank["rubric"].tolist() == result.bank["rubric"].tolist()[:20]
    looser = run_pipeline(workspace.dataset("demo"), Settings(budget=60, tau_c=0.6, replicates=50))
    np.testing.assert_array_equal(looser.calibration.fit.theta, result.calibration.fit.theta)


@pytest.mark.parametrize(
    ("model", "strategy"), crossed(["1PL", "3PL", "GRM"], ["greedy", "plain", "random", "hard_random"])
)
def test_every_model_and_strategy_gives_a_leaderboard(workspace, model, strategy):
    found = run_pipeline(
        workspace.dataset("demo"), Settings(model=model, strategy=strategy, budget=15, replicates=20)
    )
    assert found.leaderboard["theta"].notna().all()


def test_rubrics_drawn_anew_are_held_to_all_pairs_at_once_too(workspace):
    settings = Settings(replicates=200, population="rubrics")
    together = run_pipeline(workspace.dataset("demo"), settings).ranking.standing
    alone = run_pipeline(workspace.dataset("demo"), replace(settings, simultaneous=False)).ranking.standing
    assert (together.method, together.simultaneous, alone.simultaneous) == ("bootstrap", True, False)
    assert together.critical > 1.96
    assert (together.separated <= alone.separated).all()
    wide, narrow = (np.nansum(r.difference_high - r.difference_low) for r in (together, alone))
    assert wide > 1.2 * narrow


def test_the_same_seed_writes_the_same_bytes(workspace, tmp_path):
    for name in ("first", "second"):
        write_result(run_pipeline(workspace.dataset("demo"), Settings(replicates=20)), tmp_path / name)
    for name in FILES:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


def test_progress_rises_from_0_to_1(workspace):
    shares = []
    run_pipeline(workspace.dataset("demo"), Settings(replicates=5), lambda share, what: shares.append(share))
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)


def test_one_judge_turns_the_gate_off_and_everything_says_so(study):
    labels = study.labels
    alone = labels[labels["judge"] == labels["judge"].iloc[0]]
    with Workspace() as workspace:
        workspace.ingest(alone.to_csv(index=False).encode(), "one", name="one.csv")
        found = run_pipeline(workspace.dataset("one"), Settings(replicates=5))
    assert found.gate == "off"
    assert found.measurability["feasible"].all()
    assert (found.measurability["flag"] == "unmeasured").all()
    assert any("gate is off" in warning for warning in found.warnings)
    assert report(found)["measurability"]["gate"] == "off"


def test_a_threshold_that_nothing_reaches_is_said_in_one_sentence(workspace):
    with pytest.raises(
        DatasetError, match=r"τ_c = 1; the highest measurability of one is 0\.\d+: lower τ_c to"
    ):
        run_pipeline(workspace.dataset("demo"), Settings(tau_c=1.0))


def test_a_system_without_labels_on_the_bank_is_not_ranked(study):
    labels = study.labels
    mute, keep = labels["system"].iloc[0], set(labels["query"].unique()[:2])
    labels = labels.assign(
        label=labels["label"].where((labels["system"] != mute) | labels["query"].isin(keep))
    )
    labels.loc[labels["system"] == mute, "label"] = np.nan
    with Workspace() as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "x", name="x.csv")
        found = run_pipeline(workspace.dataset("x"), Settings(replicates=5))
    last = found.leaderboard.iloc[-1]
    assert last["system"] == mute
    assert pd.isna(last["theta"])
    assert pd.isna(last["tier"])
    assert pd.isna(last["theta_full"])
    assert any("cannot be ranked" in warning for warning in found.warnings)


def test_text_cannot_become_a_spreadsheet_formula():
    table = pd.DataFrame({"system": ["=1+1", "@x", "plain", None], "theta": [-1.5, np.nan, 0.0, 2.0]})
    assert csv_bytes(table) == b"system,theta\r\n'=1+1,-1.5\r\n'@x,\r\nplain,0.0\r\n,2.0\r\n"


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "systems", "rubrics", "gate"),
    [("dialsummeval", 14, 400, "on"), ("wildbench", 15, 1024, "on"), ("hellobench", 26, 3902, "off")],
)
def test_real_tables_reach_a_tiered_leaderboard(real_data, name, systems, rubrics, gate):
    with Workspace() as workspace:
        for kind in ("rubrics", "labels"):
            workspace.ingest(real_data / name / f"{kind}.csv", name, kind)
        found = run_pipeline(workspace.dataset(name), Settings(replicates=50))
    assert found.gate == gate
    assert len(found.leaderboard) == systems
    assert len(found.items) == rubrics
    assert found.calibration.fit.converged
    assert found.leaderboard["tier"].max() > 1


def warned(*saturated, method="units"):
    """The saturation warning of systems that pass all (1), fail all (-1) or neither (0)."""
    ability = SimpleNamespace(saturated=np.array(saturated))
    return ranking_warnings(SimpleNamespace(ability=ability, method=method), Settings())


def test_systems_that_fail_every_rubric_are_warned_of_and_those_that_pass_all_are_the_headlines():
    assert warned(1, 1, 0) == ()
    assert warned(1, -1, 0) == ("1 system fails every rubric used: its ability has no lower bound.",)
    assert warned(-1, -1) == ("2 systems fail every rubric used: they are not compared with each other.",)


def test_one_system_without_labels_is_spoken_of_in_the_singular():
    y = np.ones((7, 2))
    y[3] = np.nan
    panel = {"n_judges": 3, "max_panel": np.full(2, 3), "n_total": np.full(2, 6)}
    given = SimpleNamespace(y=y, systems=tuple("abcdefg"), n_distinct=7, **panel)
    assert dataset_warnings(given) == ("1 system has no consensus label and cannot be ranked.",)


def test_no_warning_where_every_system_passes_some_and_fails_some_or_is_unknown():
    assert warned(0, 0, 0) == ()
    assert warned(1, -1, method="score") == (), "a score has ends"


def test_where_no_rubric_reaches_the_threshold_the_sentence_says_which_one_some_reach():
    """Three judges, levels 0..4, never all alike: at most a rate of adjacent ones."""
    rows = [f"s{i},r{j},j{k},{(i + j + k) % 5}" for i in range(4) for j in range(3) for k in range(3)]
    with Workspace() as workspace:
        workspace.ingest(("system,rubric,judge,label\n" + "\n".join(rows)).encode(), "d")
        dataset = workspace.dataset("d")
        with pytest.raises(
            DatasetError, match=r"is 0\.167: lower τ_c to 0\.16 or less, let adjacent levels agree"
        ):
            run_pipeline(dataset, Settings(model="GRM", tau_c=0.8))
        assert len(run_pipeline(dataset, Settings(model="GRM", tau_c=0.16, replicates=5)).bank)


def test_few_systems_on_one_query_are_compared_by_its_rubrics():
    rng = np.random.default_rng(5)
    passes = {"strong": 0.95, "middle": 0.5, "same": 0.5, "weak": 0.05}
    rows = [
        (system, "only", f"r{j}", judge, label)
        for system, rate in passes.items()
        for j in range(40)
        for label in [int(rng.random() < rate)]
        for judge in ("j1", "j2")
    ]
    labels = pd.DataFrame(rows, columns=["system", "query", "rubric", "judge", "label"])
    with Workspace() as ws:
        ws.ingest(labels.to_csv(index=False).encode(), "d", name="d.csv")
        ranking = run_pipeline(ws.dataset("d"), Settings(model="1PL")).ranking
    found = ranking.standing
    assert (ranking.method, found.unit, found.n_units) == ("score", "rubric", 40)
    place = {name: i for i, name in enumerate(sorted(passes))}
    assert found.separated[place["strong"], place["weak"]]
    assert not found.separated[place["middle"], place["same"]]
    np.testing.assert_allclose(found.estimate, ranking.scores.score)


def test_files_give_no_places_where_no_claim_about_systems_may_be_made(result, tmp_path):
    refused = replace(result, verdict=replace(result.verdict, holds=False))
    write_result(refused, tmp_path)
    board = pd.read_csv(tmp_path / "leaderboard.csv")
    assert board[["rank", "tier", "rank_low", "rank_high"]].isna().all(axis=None)
    assert board["theta"].notna().all()


def test_a_result_shows_what_it_claims_and_what_must_be_said_of_it(result):
    told = repr(result).splitlines()
    assert told[0] == (
        f"{result.dataset}: {len(result.leaderboard)} systems, {len(result.items)} rubrics "
        f"({len(result.bank)} in the bank), {len(result.judges)} judges"
    )
    assert tuple(told[1:]) == (*result.claims.headline, *result.warnings)
    assert result.warnings
