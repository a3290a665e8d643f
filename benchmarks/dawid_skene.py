"""Dawid–Skene beside crowd-kit's: the same posteriors, in how much time; and how much posterior labels gain.

    python -m benchmarks.dawid_skene
    python -m benchmarks.dawid_skene --crowdkit ../peers/bin/python    # an environment with crowd-kit
    python -m benchmarks.dawid_skene --labels study/labels.csv --crowdkit …

Both run the same number of EM steps from the shares of votes, on the same labels, in the same run. The second table
is a simulated panel of which some cells are anchored; accuracy is of the cells without an anchor.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from crubric_core import Workspace
from crubric_core.judges.consensus import majority
from crubric_core.judges.dawid_skene import dawid_skene
from crubric_core.judges.posterior import posterior_labels
from crubric_core.types import FloatArray

_CROWDKIT = """
import sys, time, numpy as np, pandas as pd
from crowdkit.aggregation import DawidSkene
labels, steps = np.load(sys.argv[1]), int(sys.argv[2])
u, k = np.nonzero(~np.isnan(labels))
table = pd.DataFrame({"task": u, "worker": k, "label": labels[u, k].astype(int)})
start = time.perf_counter()
found = DawidSkene(n_iter=steps, tol=-np.inf).fit_predict_proba(table)
print(time.perf_counter() - start)
np.save(sys.argv[3], found.sort_index().sort_index(axis=1).to_numpy())
"""
STEPS = 50


def simulate(
    units: int, sensitivity: list[float], specificity: list[float], seed: int = 0, copied: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Truth (U,), a pass with probability .55, and votes (U, K).

    copied: share of cells on which the last judge copies the vote of the judge before.
    """
    rng = np.random.default_rng(seed)
    truth = (rng.random(units) < 0.55).astype(np.float64)
    chance = np.where(truth[:, None] == 1, sensitivity, 1 - np.asarray(specificity))
    votes = (rng.random(chance.shape) < chance).astype(np.float64)
    votes[:, -1] = np.where(rng.random(units) < copied, votes[:, -2], votes[:, -1])
    return truth, votes


def crowdkit(python: str, labels: FloatArray) -> tuple[float, FloatArray]:
    """Seconds and posterior (U, L) of crowd-kit after STEPS steps."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "labels.npy", Path(folder) / "posterior.npy"
        np.save(source, labels)
        command = [python, "-c", _CROWDKIT, str(source), str(STEPS), str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return float(done.stdout), np.load(target)


def compare(name: str, labels: FloatArray, n_levels: int, python: str | None) -> None:
    """Print one line: the time of both, their ratio, and the largest difference of the posteriors."""
    dawid_skene(labels[:100], n_levels)
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        fit = dawid_skene(labels, n_levels, tolerance=-np.inf, max_iterations=STEPS)
        seconds.append(time.perf_counter() - start)
    ours = float(np.median(seconds))
    line = f"{name:24} {len(labels):7,} cells  {STEPS} steps  {ours * 1e3:8.1f} ms"
    if python:
        theirs, posterior = crowdkit(python, labels)
        seen = ~np.isnan(labels).all(axis=1)
        used = np.unique(labels[~np.isnan(labels)]).astype(int)
        gap = np.abs(fit.posterior[seen][:, used] - posterior).max()
        line += f"  crowd-kit {theirs * 1e3:9.1f} ms  {theirs / ours:6.0f}×  difference {gap:.0e}"
    print(line)


def anchored(share: float) -> None:
    """Print one line for each panel: accuracy of majority and posterior labels, without and with anchors.

    share: of the cells that are anchored.
    """
    panels = {
        "two of three careless": ([0.95, 0.65, 0.65], [0.93, 0.65, 0.65], 0.0),
        "two of three lenient": ([0.97, 0.98, 0.90], [0.60, 0.55, 0.95], 0.0),
        "all alike": ([0.90, 0.85, 0.88], [0.90, 0.88, 0.85], 0.0),
        "a good one, two share errors": ([0.95, 0.80, 0.80], [0.93, 0.80, 0.80], 0.6),
        "good, careless, lenient, sharing": ([0.95, 0.7, 0.97, 0.9, 0.9], [0.93, 0.7, 0.6, 0.88, 0.88], 0.6),
    }
    for name, (sensitivity, specificity, copied) in panels.items():
        truth, votes = simulate(15 * 4052, sensitivity, specificity, copied=copied)
        known = np.random.default_rng(1).random(len(truth)) < share
        anchors = np.where(known, truth, np.nan)
        both = np.full(len(truth), 2)
        labels = {
            "majority": majority(votes, "fail"),
            "posterior": posterior_labels(votes[None], both).y[0],
            f"clamping {share:.0%}": dawid_skene(votes, 2, anchors).level(),
            "and correcting": posterior_labels(votes[None], both, anchors[None]).y[0],
        }
        scores = "  ".join(f"{k} {np.mean(v[~known] == truth[~known]):.4f}" for k, v in labels.items())
        print(f"{name:32} {scores}")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--crowdkit", metavar="PYTHON", help="an interpreter that has crowd-kit")
    parser.add_argument("--labels", type=Path, nargs="*", default=[], help="label tables to compare on too")
    options = parser.parse_args()
    _, votes = simulate(15 * 4052, [0.9, 0.85, 0.8], [0.9, 0.8, 0.7])
    compare("simulated 15×4,052×3", votes, 2, options.crowdkit)
    for path in options.labels:
        with Workspace() as workspace:
            workspace.ingest(path, dataset="table")
            dataset = workspace.dataset("table")
            panel = dataset.panel("ordered")
            levels = int(dataset.rubrics["levels"].max())
        compare(path.parent.name, panel.reshape(-1, panel.shape[2]), levels, options.crowdkit)
    print()
    anchored(0.05)


if __name__ == "__main__":
    main()
