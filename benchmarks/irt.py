"""Our fit beside PyPI `mirt` and `girth` on the same simulated tables, medians in one run.

    python -m venv .peers && .peers/bin/pip install -r benchmarks/peers.txt
    python -m benchmarks.irt --peers .peers/bin/python [--sizes 15x624 15x4052] [--repeats 5] [--timeout 1800]
    python -m benchmarks.irt --scale          # us alone at 1,000 × 30,000, each evaluation beside its matrix products

Every fit runs in a process of its own (`fit_once.py`). Quality is measured by one yardstick for all: the log
posterior of docs/method.md §6 on 4,001 nodes of [-8, 8], at each package's own item parameters; theta by its RMSE and
rank correlation with the truth, each package's own EAP standardised. "values" counts abilities that differ by 0.001.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from benchmarks.fit_once import METHODS
from benchmarks.tables import simulate_2pl
from crubric_core.irt.fit import fit_irt
from crubric_core.irt.logistic import Logistic
from crubric_core.irt.objective import MarginalPosterior
from crubric_core.settings import Priors
from tests.oracles import dense_2pl

OURS = ("ours", "ours, 41-node grid", "41-node numpy EM")
COLUMNS = (
    "systems × rubrics", "method", "seconds (median)", "× ours", "peak MiB", "log posterior below ours", "RMSE theta",
    "rank corr.", "values",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", type=Path, help="python of the environment that holds the peers")
    parser.add_argument("--sizes", nargs="+", default=["15x624", "15x4052", "400x5000"])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--timeout", type=float, default=1800.0, help="seconds for all repeats of one method")
    parser.add_argument("--scale", action="store_true", help="us alone at 1,000 × 30,000")
    args = parser.parse_args()
    if args.scale:
        measure_scale()
        return
    print("|", " | ".join(COLUMNS), "|")
    print("|" + " --- |" * len(COLUMNS))
    for size in args.sizes:
        n_systems, n_rubrics = map(int, size.split("x"))
        compare(n_systems, n_rubrics, args)


def compare(n_systems: int, n_rubrics: int, args: argparse.Namespace) -> None:
    """Print one row for each method on one simulated table."""
    y, truth = simulate_2pl(n_systems, n_rubrics)
    reference = None
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "y.npy"
        np.save(table, y)
        for method in args.methods:
            found = run(method, table, args)
            label = f"| {n_systems:,} × {y.shape[1]:,} | {method} |"
            if found is None:
                print(label, f"over {args.timeout:g} s, or failed |", flush=True)
                continue
            if reference is None:
                reference = found
            print(label, row(found, reference, y, truth), flush=True)


def run(method: str, table: Path, args: argparse.Namespace) -> dict[str, np.ndarray] | None:
    """The results of one method, run in its own process; None if it fails, takes too long or has no interpreter."""
    python = sys.executable if method in OURS else args.peers
    if python is None:
        return None
    out = table.with_suffix(".npz")
    out.unlink(missing_ok=True)
    command = [
        str(python),
        str(Path(__file__).with_name("fit_once.py")),
        method,
        str(table),
        str(args.repeats),
        str(out),
    ]
    root = Path(__file__).resolve().parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root) if method in OURS else ""}
    try:
        done = subprocess.run(command, timeout=args.timeout, env=environment, capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        print(done.stderr[-500:], file=sys.stderr)
        return None
    return dict(np.load(out))


def row(
    found: dict[str, np.ndarray], reference: dict[str, np.ndarray], y: np.ndarray, truth: np.ndarray
) -> str:
    seconds, ours = np.median(found["seconds"]), np.median(reference["seconds"])
    theta = found["theta"]
    gap = exact(reference, y) - exact(found, y)
    spread = float(np.std(theta))
    rmse = np.sqrt(np.mean(((theta - theta.mean()) / spread - (truth - truth.mean()) / truth.std()) ** 2))
    rank = spearmanr(theta, truth).statistic
    values = len(np.unique(np.round(theta, 3)))
    return (
        f"{seconds:.3f} | {seconds / ours:.1f} | {float(found['mib']):.0f} | {gap:.4f} | {rmse:.4f} | {rank:.4f} | "
        f"{values} of {len(theta)} |"
    )


def exact(found: dict[str, np.ndarray], y: np.ndarray) -> float:
    """Log posterior of docs/method.md §6 at the estimated parameters, on the dense grid."""
    x = np.concatenate([np.log(np.maximum(found["a"], 1e-6)), found["b"]])
    return float(dense_2pl(x, y)[0])  # type: ignore[no-untyped-call] # the oracle is plain on purpose


def measure_scale(n_systems: int = 1000, n_rubrics: int = 30000) -> None:
    """Time of a fit at leaderboard scale, of one evaluation, and of the matrix products that it needs."""
    for missing in (0.0, 0.1):
        y, truth = simulate_2pl(n_systems, n_rubrics, missing=missing)
        start = time.perf_counter()
        fit = fit_irt(y)
        seconds = time.perf_counter() - start
        model = Logistic(y[:, ~fit.constant], Priors(), common_slope=False)
        objective = MarginalPosterior(model, "adaptive")
        keep = ~fit.constant
        x = np.concatenate([np.log(fit.a[keep]), fit.b[keep]])
        objective(x)
        one = median_seconds(partial(objective, x))
        nodes, mask = len(objective.rule.nodes), np.ascontiguousarray((~np.isnan(y)).T.astype(float))
        rng = np.random.default_rng(0)
        forward, back = rng.random((mask.shape[0], nodes)), rng.random((n_systems, nodes))
        products = median_seconds(partial(_products, mask, forward, back))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
        print(
            f"{n_systems} × {n_rubrics}, {missing:.0%} missing: converged {fit.converged}, {seconds:.1f} s, "
            f"{fit.evaluations} evaluations of {one:.2f} s; two products (systems × rubrics × {nodes} nodes) "
            f"{products:.2f} s: {one / products:.2f} times; peak {peak:.2f} GiB; "
            f"rank correlation {spearmanr(fit.theta, truth).statistic:.5f}",
            flush=True,
        )


def _products(mask: np.ndarray, forward: np.ndarray, back: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return mask.T @ forward, mask @ back


def median_seconds(call: Callable[[], object], repeats: int = 5) -> float:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))


if __name__ == "__main__":
    main()
