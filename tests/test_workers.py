"""Results are the same in this process, in other processes and on a cluster, even if a worker is lost."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from threading import get_ident

import numpy as np
import pytest

from crubric_core import fit_irt
from crubric_core.errors import FitError, SettingsError, WorkersError
from crubric_core.experiments import run_experiment
from crubric_core.experiments.leave_one_judge_out import leave_one_judge_out
from crubric_core.experiments.results import ExperimentWatch
from crubric_core.leaderboard.cross_fit import cross_fit
from crubric_core.workers import (
    ATTEMPTS,
    MOST_THREADS,
    Workers,
    current_workers,
    run_tasks,
    run_threads,
    use_workers,
)
from tests.experiments.conftest import settings, workspace  # noqa: F401 - fixtures
from tests.worker_tasks import die, die_once, fail, slowly, thread, times, where

LOKY = Workers(processes=2)
ROOT = Path(__file__).resolve().parents[1]


def test_tasks_run_one_by_one_when_their_result_is_asked_for():
    told = []
    results = run_tasks(times, range(3), (10,), before=told.append)
    assert told == []
    assert next(results) == 0
    assert told == [0]
    assert list(results) == [10, 20]
    assert told == [0, 1, 2]


def test_the_default_is_this_process(monkeypatch):
    monkeypatch.delenv("CRUBRIC_WORKERS", raising=False)
    monkeypatch.delenv("CRUBRIC_SCHEDULER", raising=False)
    assert current_workers().here
    assert set(run_tasks(where, range(3))) == {(os.getpid(), True)}


def test_the_environment_names_workers_and_a_block_goes_before_it(monkeypatch):
    monkeypatch.setenv("CRUBRIC_WORKERS", "3")
    monkeypatch.setenv("CRUBRIC_SCHEDULER", "tcp://there:8786")
    assert current_workers() == Workers(3, "tcp://there:8786")
    with use_workers(LOKY):
        assert current_workers() == LOKY
    assert current_workers() == Workers(3, "tcp://there:8786")


def test_threads_give_the_results_in_order():
    told = []
    with use_workers(Workers(threads=2)):
        assert run_threads(fail, [0, 1, 3, 4], told.append) == [0, 1, 3, 4]
        assert get_ident() not in run_threads(thread, range(4))
    assert told == [0, 1, 2, 3]
    with use_workers(Workers(threads=1)):
        assert set(run_threads(thread, range(4))) == {get_ident()}
        assert run_threads(thread, []) == []


def test_threads_are_those_that_linear_algebra_leaves(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "8")
    assert Workers().threads == 1
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    assert Workers().threads == min(len(os.sched_getaffinity(0)), MOST_THREADS)


def test_an_error_and_a_stop_end_tasks_in_threads():
    def stop(position):
        raise KeyboardInterrupt

    for threads in (1, 2):
        with use_workers(Workers(threads=threads)):
            with pytest.raises(FitError, match="task 2"):
                run_threads(fail, range(3))
            with pytest.raises(KeyboardInterrupt):
                run_threads(thread, range(3), stop)


def test_folds_fitted_in_threads_have_the_same_bytes(monkeypatch):
    y = (np.random.default_rng(1).random((60, 40)) < 0.6).astype(float)
    pooled = fit_irt(y)
    alone = cross_fit(y, pooled)
    monkeypatch.setattr("crubric_core.leaderboard.cross_fit.LARGE", 0)
    with use_workers(Workers(threads=3)):
        together = cross_fit(y, pooled)
    assert pickle.dumps(together) == pickle.dumps(alone)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("CRUBRIC_WORKERS", "many"),
        ("CRUBRIC_WORKERS", "0"),
        ("CRUBRIC_WORKERS", "-1"),
        ("CRUBRIC_SCHEDULER", "host:8786"),
    ],
)
def test_workers_that_cannot_be_meant_are_refused(monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=value):
        current_workers()


def test_who_watches_an_experiment_stays_behind_when_it_is_sent_away():
    watch = pickle.loads(
        pickle.dumps(ExperimentWatch(progress=lambda share, what: None, cancel=lambda: True))
    )
    watch.step(0.5, "nobody stops this")
    assert watch == ExperimentWatch()


def test_no_scheduler_at_the_address_is_said(monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed: pip install -r requirements-dev.txt")
    monkeypatch.setattr("crubric_core.workers.CONNECT_SECONDS", 0.2)
    with (
        use_workers(Workers(scheduler="tcp://127.0.0.1:9")),
        pytest.raises(WorkersError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:9"),
    ):
        list(run_tasks(times, range(3), (10,)))


@pytest.mark.slow
class TestProcesses:
    """Tasks in processes of this machine, started by loky."""

    def test_results_come_in_the_order_of_the_tasks(self):
        with use_workers(LOKY):
            assert list(run_tasks(times, range(20), (3,))) == [3 * n for n in range(20)]

    def test_tasks_of_a_task_run_in_its_own_process(self):
        with use_workers(LOKY):
            found = list(run_tasks(where, range(4)))
        assert os.getpid() not in {process for process, _ in found}
        assert all(here for _, here in found)

    def test_the_error_of_a_task_is_raised(self):
        with use_workers(LOKY), pytest.raises(FitError, match="task 2 cannot be fitted"):
            list(run_tasks(fail, range(5)))

    def test_what_is_stopped_runs_no_further(self):
        def stop(position: int) -> None:
            if position == 1:
                raise KeyboardInterrupt

        with use_workers(LOKY), pytest.raises(KeyboardInterrupt):
            list(run_tasks(slowly, range(40), before=stop))

    def test_a_process_that_ends_is_survived(self, tmp_path):
        with use_workers(LOKY):
            assert list(run_tasks(die_once, range(6), (tmp_path,))) == list(range(6))
        assert (tmp_path / "died").exists()

    def test_a_task_that_always_ends_its_process_is_given_up(self):
        with use_workers(LOKY), pytest.raises(WorkersError, match=f"ended {ATTEMPTS} times"):
            list(run_tasks(die, range(3)))


def _bytes(name, ds, settings, **parameters):  # noqa: F811
    return json.dumps(run_experiment(name, ds, settings, **parameters).to_json_dict()).encode()


QUICK = {
    "crossfit": {"splits": 4, "n_budgets": 4},
    "model_check": {"replicates": 3},
    "new_systems": {"repeats": 2, "n_budgets": 2},
    "stability": {"kinds": ("judge", "budget")},
}


@dataclass(frozen=True)
class Cluster:
    """A Dask scheduler and its workers, each in its own process."""

    scheduler_address: str
    workers: tuple[subprocess.Popen[bytes], ...]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A Dask cluster of two workers; tests are skipped with a message without Dask."""
    distributed = pytest.importorskip(
        "distributed", reason="Dask is not installed: pip install -r requirements-dev.txt"
    )
    folder = tmp_path_factory.mktemp("dask")
    address = folder / "scheduler.json"
    quiet = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    start = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    work = [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        "--no-nanny",
        "--nthreads",
        "1",
        "--no-dashboard",
    ]
    quiet["env"] = {**os.environ, "PYTHONPATH": str(ROOT)}
    with ExitStack() as running:
        found = [
            running.enter_context(subprocess.Popen([*command, "--scheduler-file", str(address)], **quiet))
            for command in (start, work, work)
        ]
        try:
            with distributed.Client(scheduler_file=str(address), timeout=60) as client:
                client.wait_for_workers(2, timeout=60)
                where = client.scheduler.address
            yield Cluster(where, tuple(found[1:]))
        finally:
            for process in found:
                process.kill()


@pytest.fixture(scope="module")
def alone(workspace, settings):  # noqa: F811
    """The bytes of each experiment's result, run in this process."""
    ds = workspace.dataset("graded")
    return {name: _bytes(name, ds, settings, **quick) for name, quick in QUICK.items()}


@pytest.mark.slow
class TestSameBytes:
    """Experiments give the same bytes in this process, with loky and with Dask."""

    @pytest.mark.parametrize("name", QUICK)
    def test_in_two_processes(self, alone, workspace, settings, name):  # noqa: F811
        with use_workers(LOKY):
            assert _bytes(name, workspace.dataset("graded"), settings, **QUICK[name]) == alone[name]

    @pytest.mark.parametrize("name", ["crossfit", "model_check"])
    def test_on_a_cluster_of_two(self, cluster, alone, workspace, settings, name):  # noqa: F811
        with use_workers(Workers(scheduler=cluster.scheduler_address)):
            assert _bytes(name, workspace.dataset("graded"), settings, **QUICK[name]) == alone[name]

    def test_of_every_fold(self, cluster, workspace):  # noqa: F811
        y = workspace.dataset("gold").reduce().y
        pooled = fit_irt(y)
        alone = cross_fit(y, pooled)
        for workers in (LOKY, Workers(scheduler=cluster.scheduler_address)):
            with use_workers(workers):
                again = cross_fit(y, pooled)
            for one, other in zip(alone.items, again.items, strict=True):
                assert (one.a.tobytes(), one.b.tobytes()) == (other.a.tobytes(), other.b.tobytes())

    def test_without_each_judge(self, workspace, settings):  # noqa: F811
        ds = workspace.dataset("gold")
        alone = leave_one_judge_out(ds, settings)
        with use_workers(LOKY):
            again = leave_one_judge_out(ds, settings)
        assert alone.judges.to_csv() == again.judges.to_csv()
        assert alone.systems.to_csv() == again.systems.to_csv()

    def test_a_lost_worker_changes_no_byte(self, cluster, alone, workspace, settings):  # noqa: F811
        lost = []

        def kill_one(share: float, what: str) -> None:
            if what.startswith("Split 3") and not lost:
                lost.append(cluster.workers[0])
                lost[0].kill()

        with use_workers(Workers(scheduler=cluster.scheduler_address)):
            found = _bytes(
                "crossfit", workspace.dataset("graded"), settings, progress=kill_one, **QUICK["crossfit"]
            )
        assert lost
        assert found == alone["crossfit"]
