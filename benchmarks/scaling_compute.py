"""What the computation costs: fit and folds over systems and rubrics, and the cross-fit experiment over workers.

    python -m benchmarks.scaling_compute                     # fit and folds, with the fitted exponents
    python -m benchmarks.scaling_compute --workers           # E2 of the simulated study with 1 and 2 workers
    python -m benchmarks.scaling_compute --workers --lose    # the same on Dask, one of two workers killed midway
    python -m benchmarks.scaling_compute --gain 60x5000      # E2 in one process and in two, in turn

Tables are simulated by the model. Seconds of fit and folds are processor time of one thread, which other programs on
the machine change little; those of the workers are by the clock, and so is the load that stands beside them. The digest
is of the whole result: it is the same in every row, or a row is wrong.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.latency_tables import DATASET, workspace
from crubric_core import Settings, Workspace, fit_irt
from crubric_core.demo import write_demo
from crubric_core.experiments import run_experiment
from crubric_core.labels.store.snapshot import Snapshot
from crubric_core.leaderboard.cross_fit import cross_fit
from crubric_core.types import FloatArray
from crubric_core.workers import Workers, use_workers

SIZES = ((15, 1_000), (15, 5_000), (60, 1_000), (60, 5_000), (400, 1_000), (400, 5_000), (1_000, 10_000))
SPLITS = 8


def simulated(systems: int, rubrics: int) -> FloatArray:
    """(M, J) labels of the 2PL model."""
    rng = np.random.default_rng([systems, rubrics])
    theta, a = rng.normal(size=systems), np.exp(rng.normal(0, 0.3, rubrics))
    chance = 1 / (1 + np.exp(-a * (theta[:, None] - rng.normal(size=rubrics))))
    return (rng.random(chance.shape) < chance).astype(float)


def exponents(sizes: FloatArray, seconds: FloatArray) -> tuple[float, float, float]:
    """Least-squares p, q of seconds ∝ M^p J^q on the log scale, and the largest error of this fit as a factor."""
    design = np.column_stack([np.ones(len(sizes)), np.log(sizes)])
    found, *_ = np.linalg.lstsq(design, np.log(seconds), rcond=None)
    worst = float(np.exp(np.abs(design @ found - np.log(seconds)).max()))
    return float(found[1]), float(found[2]), worst


def fits_and_folds() -> None:
    """Print one row for each size, then the exponents."""
    print("| systems × rubrics | fit, s | evaluations | folds | all folds, s | folds ÷ fit |")
    print("| --- | --- | --- | --- | --- | --- |")
    fits, folds = [], []
    for systems, rubrics in SIZES:
        y = simulated(systems, rubrics)
        start = time.process_time()
        fit = fit_irt(y)
        fits.append(time.process_time() - start)
        start = time.process_time()
        cross = cross_fit(y, fit)
        folds.append(time.process_time() - start)
        print(
            f"| {systems:,} × {rubrics:,} | {fits[-1]:.3f} | {fit.evaluations} | {cross.n_folds} | {folds[-1]:.2f} "
            f"| {folds[-1] / fits[-1]:.1f} |",
            flush=True,
        )
    for name, seconds in (("fit", fits), ("folds", folds)):
        p, q, worst = exponents(np.array(SIZES, dtype=float), np.array(seconds))
        print(f"\n{name}: seconds ∝ M^{p:.2f} J^{q:.2f}, within a factor {worst:.1f} of every row")


@contextmanager
def backend(name: str) -> Iterator[tuple[Workers, Any]]:
    """Yield the workers of a name ("serial", "loky 2", "Dask 2 …"), and the Dask cluster, else None."""
    if not name.startswith("Dask"):
        yield Workers(processes=2 if name == "loky 2" else 1), None
        return
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield Workers(scheduler=cluster.scheduler_address), cluster


def experiment_over_workers(*, lose: bool) -> None:
    """Print one row for each kind of workers. lose: kill one of two Dask workers midway."""
    with Workspace() as workspace:
        write_demo(workspace)
        data = Snapshot(workspace.dataset("demo"), Settings())
    print("| workers | seconds | load before | digest |\n| --- | --- | --- | --- |")
    for name in ("serial", "Dask 2", "Dask 2, one killed") if lose else ("serial", "loky 2", "Dask 2"):
        with backend(name) as (workers, cluster), use_workers(workers):
            killed: list[int] = []

            def watch(
                share: float, what: str, cluster: Any = cluster, killed: list[int] = killed, name: str = name
            ) -> None:
                if name.endswith("killed") and what.startswith(f"Split {SPLITS // 2} ") and not killed:
                    killed.append(next(iter(cluster.workers.values())).pid)
                    os.kill(killed[0], signal.SIGKILL)

            load, start = os.getloadavg()[0], time.perf_counter()
            result = run_experiment("crossfit", data, Settings(), progress=watch, splits=SPLITS)
            seconds = time.perf_counter() - start
        digest = hashlib.sha256(json.dumps(result.to_json_dict()).encode()).hexdigest()[:12]
        print(f"| {name} | {seconds:.1f} | {load:.1f} | `{digest}` |", flush=True)


def gain(size: str, splits: int, rounds: int = 2) -> None:
    """Print the seconds of E2 in this process and in two workers, in turn, and the ratio of the shortest times."""
    with tempfile.TemporaryDirectory() as folder, Workspace(workspace(Path(folder), size)) as made:
        data = Snapshot(made.dataset(DATASET), Settings())
    best = dict.fromkeys(("serial", "loky 2"), float("inf"))
    digests = set()
    for _ in range(rounds):
        for name in best:
            load, start = os.getloadavg()[0], time.perf_counter()
            with backend(name) as (workers, _cluster), use_workers(workers):
                result = run_experiment("crossfit", data, Settings(), splits=splits)
            seconds = time.perf_counter() - start
            digests.add(hashlib.sha256(json.dumps(result.to_json_dict()).encode()).hexdigest())
            best[name] = min(best[name], seconds)
            print(f"{name}: {seconds:.1f} s, load before {load:.1f}", flush=True)
    one = "one digest" if len(digests) == 1 else f"{len(digests)} DIGESTS"
    print(
        f"{size}, {splits} splits: {best['serial'] / best['loky 2']:.2f} times as fast with two workers, {one}"
    )


def main() -> None:
    """Print the table that the options name."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--workers", action="store_true", help="E2 over workers instead of fit and folds")
    parser.add_argument(
        "--lose", action="store_true", help="with --workers: kill one of two Dask workers midway"
    )
    parser.add_argument("--gain", metavar="SIZE", help="E2 of systems x rubrics in one process and in two")
    parser.add_argument("--splits", type=int, default=20, help="with --gain")
    args = parser.parse_args()
    if args.gain:
        gain(args.gain, args.splits)
    elif args.workers:
        experiment_over_workers(lose=args.lose)
    else:
        fits_and_folds()


if __name__ == "__main__":  # loky and Dask start their processes from here
    main()
