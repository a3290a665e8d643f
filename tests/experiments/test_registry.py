from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from crubric_core import Settings, Workspace
from crubric_core.errors import SettingsError
from crubric_core.experiments import (
    EXPERIMENTS,
    CancelledError,
    ExperimentResult,
    run_experiment,
    store_experiment,
    stored_experiment,
)
from crubric_core.experiments.attrition import attrition
from crubric_core.experiments.statistics import mean_interval
from crubric_core.labels.store.results import result_key
from tests import oracles
from tests.experiments import conftest as study
from tests.tiers import at_most

FAST = Settings(tau_c=0.5, budget=8, replicates=20)
JUDGES = ("one judge", "two judges")
FEW = [(n, d) for i, n in enumerate(EXPERIMENTS) for d in (JUDGES[i % 2], JUDGES[1 - i % 2])[: at_most(1, 2)]]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_survives_json_and_names_what_it_ran_on(workspace, name):
    ds = workspace.dataset("gold")
    heard = []
    parameters = study.QUICK.get(name, {})
    result = run_experiment(
        name, ds, FAST, progress=lambda share, what: heard.append((share, what)), **parameters
    )
    text = json.dumps(result.to_json_dict(), allow_nan=False)
    again = ExperimentResult.from_json_dict(json.loads(text))
    assert again.to_json_dict() == result.to_json_dict()
    for key, table in result.tables.items():
        pd.testing.assert_frame_equal(again.tables[key], table)
    assert (again.name, again.dataset, again.fingerprint, again.seed) == (name, "gold", ds.fingerprint, 0)
    shares = [share for share, _ in heard]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert result.found.endswith(".")
    assert all(sentence.endswith(".") for sentence in result.sentences())
    assert (
        pd.read_csv(pd.io.common.StringIO(result.frame().to_csv(index=False))).shape == result.frame().shape
    )


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_stops_when_told(workspace, name):
    with pytest.raises(CancelledError, match="nothing of it was stored"):
        run_experiment(name, workspace.dataset("small"), FAST, cancel=lambda: True)


@pytest.mark.parametrize(("name", "data"), FEW)
def test_few_judges_are_the_first_thing_that_every_experiment_says(workspace, name, data):
    parameters = study.QUICK.get(name, {})
    first = run_experiment(name, workspace.dataset(data), FAST, **parameters).sentences()[0]
    assert ("gate is off" if data == "one judge" else "says little about a single rubric") in first


def test_probabilities_of_judges_that_err_together_are_said_to_be_too_sure():
    labels, _ = study.small_study(judges=4)
    twin = labels[labels["judge"] == "j0"]
    copies = [twin.assign(judge=name) for name in ("j0", "copy 1", "copy 2")]
    both = pd.concat([*copies, labels[labels["judge"].isin(["j1", "j2"])]])
    with Workspace() as ws:
        study.ingest(ws, "twins", both)
        for consensus, marked in (("majority", False), ("dawid_skene", True)):
            found = run_experiment("attrition", ws.dataset("twins"), Settings(consensus=consensus))
            assert any("too extreme" in notice for notice in found.notices) is marked


def test_an_unknown_experiment_is_refused_with_the_names_of_all(workspace):
    with pytest.raises(SettingsError, match="crossfit, new_systems, sweep, perturbation"):
        run_experiment("cross-fit", workspace.dataset("small"), FAST)


def test_results_are_kept_by_content_settings_and_seed():
    with Workspace() as ws:
        study.ingest(ws, "kept", study.small_study()[0])
        ds = ws.dataset("kept")
        assert stored_experiment(ws, "attrition", ds, FAST) is None
        result = run_experiment("attrition", ds, FAST)
        store_experiment(ws, result)
        store_experiment(ws, result)
        found = stored_experiment(ws, "attrition", ds, FAST)
        assert found is not None
        assert found.to_json_dict() == result.to_json_dict()
        assert stored_experiment(ws, "attrition", ds, Settings(seed=1)) is None
        assert stored_experiment(ws, "sweep", ds, FAST) is None
        study.ingest(
            ws,
            "kept",
            pd.DataFrame(
                [("new", "q00", "r00", "j0", 1)], columns=["system", "query", "rubric", "judge", "label"]
            ),
        )
        assert stored_experiment(ws, "attrition", ws.dataset("kept"), FAST) is None


def test_results_of_a_deleted_dataset_are_forgotten():
    with Workspace() as ws:
        study.ingest(ws, "a", study.small_study()[0])
        result = run_experiment("attrition", ws.dataset("a"), FAST)
        store_experiment(ws, result)
        ws.delete("a")
        study.ingest(ws, "a", study.small_study()[0])
        assert ws.dataset("a").fingerprint == result.fingerprint
        assert stored_experiment(ws, "attrition", ws.dataset("a"), FAST) is None


def test_a_key_minds_every_setting_and_no_order():
    assert result_key({"a": 1, "b": 2}) == result_key({"b": 2, "a": 1})
    assert result_key({"a": 1, "b": 2}) != result_key({"a": 1, "b": 3})


def test_attrition_shows_the_curve_and_both_models(workspace):
    result = attrition(workspace.dataset("small"), FAST)
    curve, models = result.frame(), result.tables["models"].set_index("model")
    panel = workspace.dataset("small").panel()
    for row in curve.itertuples():
        slow = oracles.subset_retention(panel, row.m)
        assert (row.consistency, row.distinguishability, row.joint) == pytest.approx(slow, abs=1e-12)
    logs, m = np.log(curve["consistency"]), curve["m"]
    assert models.loc["homogeneous", "rho"] == pytest.approx(np.exp((m * logs).sum() / (m * m).sum()))
    errors = curve["homogeneous"] - curve["consistency"]
    assert models.loc["homogeneous", "rmse"] == pytest.approx(np.sqrt((errors**2).mean()))
    rho = models.loc["homogeneous", "rho"]
    np.testing.assert_allclose(curve["homogeneous"], rho ** curve["m"])
    np.testing.assert_allclose(curve["rho_m"] ** curve["m"], curve["consistency"])


def test_intervals_leave_the_unknown_out_and_say_how_many_are_left():
    mean, low, high, n = mean_interval(np.array([1.0, 2.0, 4.0, np.nan]))
    assert (mean, n) == (pytest.approx(7 / 3), 3)
    assert (low, high) == pytest.approx(stats.t.interval(0.95, 2, 7 / 3, stats.sem([1, 2, 4])))
    assert np.isnan(mean_interval(np.array([1.0]))[1])
    assert mean_interval(np.array([np.nan]))[3] == 0
