"""Strategy ``pairs`` on systems that it has not seen, compared with random rubrics, the paper's greedy and others.

    python -m benchmarks.selection                                # the demo and the optional real tables
    python -m benchmarks.selection --datasets demo --repeats 2
    python -m benchmarks.selection --certificates                 # what is proven of the banks of 20 and of 200
    python -m benchmarks.selection --speed                        # distances, orders and certificates at two sizes

Four folds of systems are held out in turn, ``--repeats`` times (crubric_core/experiments/held_out_systems.py). Columns:
pairs of new systems and new against old in the pool's order, Kendall's tau, and the error of the predicted pool score;
then how far pairs are ahead of each other selector, with intervals over systems, and over the tables the mean
difference with a t interval.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.tables import simulate_2pl
from crubric_core import Settings, Workspace, fit_irt, run_pipeline
from crubric_core.bank.certificate import certify
from crubric_core.bank.pairs import pair_distances
from crubric_core.bank.pairs_order import pairs_order
from crubric_core.demo import write_demo
from crubric_core.experiments.held_out_systems import held_out_systems
from crubric_core.experiments.statistics import mean_interval

ROOT = Path(__file__).resolve().parents[1]
REAL = Path(os.environ.get("CRUBRIC_REAL_DATA", ROOT.parent / "shared" / "data"))
DATASETS = ("demo", "dialsummeval", "wildbench", "hellobench", "eulegal_prbench")
SHOWN = ("new_pairs", "new_old", "tau", "score_error")


def load(workspace: Workspace, name: str) -> bool:
    """Ingest one dataset into the workspace; False if its labels are absent."""
    if name == "demo":
        write_demo(workspace)
        return True
    for kind in ("queries", "rubrics", "labels", "reference"):
        if (file := REAL / name / f"{kind}.csv").exists():
            workspace.ingest(file, name, kind)
    return (REAL / name / "labels.csv").exists()


def measure(name: str, repeats: int) -> pd.DataFrame | None:
    """Print the tables of one dataset, and return how far ``pairs`` is ahead; None if the dataset is absent."""
    with Workspace() as workspace:
        if not load(workspace, name):
            print(f"{name}: no folder at {REAL}", file=sys.stderr)
            return None
        start = time.process_time()
        result = held_out_systems(workspace.dataset(name), Settings(), repeats=repeats)
    print(f"\n## {name} ({time.process_time() - start:.0f} s of one core)\n\n{result.found}\n")
    columns = [*SHOWN, *(["human"] if result.frame()["human"].notna().any() else [])]
    print(result.frame().set_index("selector")[columns].round(3).to_string(), "\n")
    ahead = result.tables["ahead"]
    print(cells(ahead).to_string(), flush=True)
    return ahead.assign(dataset=name)


def cells(ahead: pd.DataFrame) -> pd.DataFrame:
    """A table of selectors by measures with the texts "difference [low, high]"."""
    words = [
        f"{d:+.3f} [{low:+.3f}, {high:+.3f}]"
        for d, low, high in ahead[["difference", "low", "high"]].itertuples(index=False)
    ]
    return (
        ahead.assign(words=words)
        .pivot_table(index="selector", columns="measure", values="words", aggfunc="first")
        .reindex(columns=[m for m in (*SHOWN, "human") if m in set(ahead.dropna()["measure"])])
    )


def over_tables(ahead: pd.DataFrame) -> pd.DataFrame:
    """Mean difference over the datasets for each selector and measure, with its t interval."""
    rows = []
    for (selector, kind), part in ahead.groupby(["selector", "measure"], sort=False):
        mean, low, high, _ = mean_interval(part["difference"].to_numpy())
        rows.append((selector, kind, mean, low, high))
    return pd.DataFrame(rows, columns=["selector", "measure", "difference", "low", "high"])


def seconds(call: Callable[[], object], repeats: int = 5) -> float:
    """Least processor time of some calls, in seconds."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)


def speed() -> None:
    """Print the times of distances and orders, and certificates, on simulated tables with 39 rubrics a query."""
    print(
        "systems × rubrics | distances ms | order of 200 ms | whole order ms | proven at 20 | proven at 200"
    )
    for shape in ((15, 4052), (400, 5000)):
        y, _ = simulate_2pl(*shape)
        fit, query = fit_irt(y), np.arange(y.shape[1]) // 39
        distances = pair_distances(y, fit.theta, fit.theta_sd)
        order = pairs_order(distances, query, budget=200).order
        times = (
            seconds(partial(pair_distances, y, fit.theta, fit.theta_sd)),
            seconds(partial(pairs_order, distances, query, budget=200)),
            seconds(partial(pairs_order, distances, query), repeats=1),
        )
        proven = [certify(distances, order, budget) for budget in (20, 200)]
        print(
            f"{y.shape[0]} × {y.shape[1]:,} |",
            " | ".join([*(f"{1000 * t:.0f}" for t in times), *(f"{p:.1%}" for p in proven)]),
            flush=True,
        )


def certificates(names: list[str]) -> None:
    """Print the certificates of each dataset's banks of 20 and of 200 rubrics."""
    for name in names:
        with Workspace() as workspace:
            if load(workspace, name):
                data = workspace.dataset(name)
                proven = [run_pipeline(data, Settings(budget=budget)).certificate for budget in (20, 200)]
                print(f"{name} {proven[0]:.1%} and {proven[1]:.1%}", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--certificates", action="store_true", help="certificates of the banks instead")
    parser.add_argument("--speed", action="store_true", help="time the kernels instead")
    args = parser.parse_args()
    if args.speed:
        speed()
        return
    if args.certificates:
        certificates(args.datasets)
        return
    found = [table for name in args.datasets if (table := measure(name, args.repeats)) is not None]
    if len(found) > 1:
        print(f"\n## Mean over {len(found)} tables: pairs minus the other\n")
        print(cells(over_tables(pd.concat(found))).to_string())


if __name__ == "__main__":
    main()
