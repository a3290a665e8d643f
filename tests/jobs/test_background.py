"""Experiments beside the program: the same result from another process, kept though nobody waits for it."""

from __future__ import annotations

import os
import pickle
import subprocess
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from crubric_core import Settings, Workspace
from crubric_core.demo import simulate
from crubric_core.demo.writing import KINDS
from crubric_core.environment import ONE_THREAD
from crubric_core.errors import DatasetError, WorkspaceError
from crubric_core.experiments import EXPERIMENTS, run_experiment, store_experiment, stored_experiment
from crubric_core.jobs.background import UNEXPECTED, Background, ExperimentJob, job_key
from crubric_core.labels.store.snapshot import Snapshot
from tests.experiments.conftest import QUICK

SETTINGS = Settings(tau_c=0.6, budget=20, replicates=20)


@pytest.fixture(scope="module")
def workspace():
    made = simulate(0, systems=6, queries=8, pool=(8, 12))
    with Workspace() as ws:
        for kind in KINDS:
            ws.ingest(getattr(made, kind).to_csv(index=False).encode(), "small", kind, format="csv")
        yield ws


@pytest.fixture
def background(workspace):
    made = Background(lambda result: store_experiment(workspace, result))
    yield made
    made.close()


def wait(until, seconds=60):
    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_snapshot_is_as_good_as_the_dataset(workspace, name):
    ds = workspace.dataset("small")
    snapshot = pickle.loads(pickle.dumps(Snapshot(ds, SETTINGS)))
    here, there = (run_experiment(name, data, SETTINGS, **QUICK.get(name, {})) for data in (ds, snapshot))
    assert there.sentences() == here.sentences()
    for table, expected in here.tables.items():
        pd.testing.assert_frame_equal(there.tables[table], expected)


def test_a_snapshot_refuses_what_it_did_not_read(workspace):
    snapshot = Snapshot(workspace.dataset("small"), SETTINGS)
    with pytest.raises(DatasetError, match="no ordered panel"):
        snapshot.panel("ordered")
    with pytest.raises(DatasetError, match="other settings"):
        snapshot.reduce("binary", "pass")


def test_a_result_is_kept_without_anyone_asking_for_it(workspace, background):
    ds = workspace.dataset("small")
    background.start("sweep", Snapshot(ds, SETTINGS), SETTINGS)
    wait(lambda: stored_experiment(workspace, "sweep", ds, SETTINGS))
    kept = stored_experiment(workspace, "sweep", ds, SETTINGS)
    expected = run_experiment("sweep", ds, SETTINGS)
    np.testing.assert_allclose(kept.frame().to_numpy(float), expected.frame().to_numpy(float), rtol=1e-12)
    wait(lambda: background.job(job_key("sweep", ds.fingerprint, SETTINGS)) is None)


def test_what_is_cancelled_stops_and_leaves_nothing(workspace, background):
    ds = workspace.dataset("small")
    settings = replace(SETTINGS, seed=5)
    snapshot, key = Snapshot(ds, settings), job_key("stability", ds.fingerprint, settings)
    running = background.start("stability", snapshot, settings)
    waiting = background.start("attrition", snapshot, settings)
    wait(lambda: running.process is not None)
    assert background.start("stability", snapshot, settings) is running
    background.cancel(job_key("attrition", ds.fingerprint, settings))
    background.cancel(key)
    assert background.job(key) is None
    wait(lambda: running.process.poll() is not None, seconds=10)
    background.start("sweep", snapshot, settings)  # the queue goes on
    wait(lambda: stored_experiment(workspace, "sweep", ds, settings))
    assert waiting.process is None
    assert stored_experiment(workspace, "stability", ds, settings) is None
    assert stored_experiment(workspace, "attrition", ds, settings) is None


def test_all_that_run_or_wait_are_cancelled_at_once(workspace, background):
    ds = workspace.dataset("small")
    settings = replace(SETTINGS, seed=6)
    snapshot = Snapshot(ds, settings)
    running, *waiting = (background.start(name, snapshot, settings) for name in ("stability", "attrition"))
    wait(lambda: running.process is not None)
    before = background.changes
    background.cancel_all()
    assert (background.active(), background.changes) == ([], before + 2)
    wait(lambda: running.process.poll() is not None, seconds=10)
    background.start("sweep", snapshot, settings)  # the queue goes on
    wait(lambda: stored_experiment(workspace, "sweep", ds, settings))
    assert waiting[0].process is None


def test_a_users_error_is_said_in_its_own_sentence(workspace, background):
    settings = Settings(tau_c=1.0, budget=20, replicates=20)
    job = background.start("stability", Snapshot(workspace.dataset("small"), settings), settings)
    wait(lambda: not job.active)
    assert job.error
    assert job.error != UNEXPECTED
    assert "Traceback" not in job.error


def test_a_process_that_dies_is_told_calmly_and_can_be_started_again(workspace, background, caplog):
    settings = Settings(tau_c=0.55, budget=20, replicates=20)
    snapshot = Snapshot(workspace.dataset("small"), settings)
    job: ExperimentJob = background.start("stability", snapshot, settings)
    wait(lambda: job.process is not None)
    job.process.kill()
    wait(lambda: not job.active)
    assert job.error == UNEXPECTED
    assert "stability" in caplog.text
    assert background.start("stability", snapshot, settings) is not job


def test_a_result_that_cannot_be_stored_is_not_lost(workspace):
    def full(_result):
        raise WorkspaceError("The change could not be stored (the disk is full); the workspace is as it was.")

    queue, settings = Background(full), replace(SETTINGS, seed=11)
    try:
        ds = workspace.dataset("small")
        job = queue.start("sweep", Snapshot(ds, settings), settings)
        wait(lambda: not job.active)
        assert "the disk is full" in job.error
        assert queue.job(job_key("sweep", ds.fingerprint, settings)) is job
        assert job.result.sentences() == run_experiment("sweep", ds, settings).sentences()
    finally:
        queue.close()


def test_every_change_of_the_queue_is_counted(workspace, background):
    settings = replace(SETTINGS, seed=9)
    ds = workspace.dataset("small")
    snapshot, key = Snapshot(ds, settings), job_key("stability", ds.fingerprint, settings)
    running = background.start("stability", snapshot, settings)
    assert background.active() == [running]
    started = background.changes
    background.start("stability", snapshot, settings)
    assert background.changes == started  # the same one, under way already
    background.cancel(key)
    assert background.changes > started
    assert background.active() == []
    background.start("attrition", snapshot, settings)
    queued = background.changes
    wait(lambda: background.changes > queued)
    wait(lambda: stored_experiment(workspace, "attrition", ds, settings))


def test_an_experiment_leaves_a_processor_to_the_pages(workspace, background, monkeypatch):
    started = []
    real = subprocess.Popen
    monkeypatch.setattr(
        "crubric_core.jobs.background.subprocess.Popen",
        lambda *a, **k: started.append(k["env"]) or real(*a, **k),
    )
    ds, settings = workspace.dataset("small"), replace(SETTINGS, seed=10)
    background.start("attrition", Snapshot(ds, settings), settings)
    wait(lambda: stored_experiment(workspace, "attrition", ds, settings))
    assert {started[0][name] for name in ONE_THREAD} == {os.environ.get(name, "1") for name in ONE_THREAD}
