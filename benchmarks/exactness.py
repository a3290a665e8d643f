"""Is the answer the optimum of the exact objective? Every model, on simulated and (where present) real tables.

    python -m benchmarks.exactness [--skip-search]

"gradient" is the norm of the gradient of the objective on 4,001 nodes of [-8, 8] at our answer beside that at the
start; "value" the relative difference of our log posterior to that grid's at the same point; "search" how much a long
SciPy L-BFGS-B run on a dense grid (801 nodes above 1,000 rubrics) gains over our answer, relative; negative: it ends
below us.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from benchmarks.tables import simulate_2pl
from crubric_core import Priors, Workspace
from crubric_core.irt.fit import RELATIVE_GRADIENT, TOLERANCE, bind_model, constant_rubrics
from crubric_core.irt.objective import MarginalPosterior
from crubric_core.irt.optimise import maximise
from crubric_core.irt.quadrature import GridQuadrature
from crubric_core.settings import Model

ROOT = Path(__file__).resolve().parents[1]
REAL = Path(os.environ.get("CRUBRIC_REAL_DATA", ROOT.parent / "shared" / "data"))
MODELS: tuple[Model, ...] = ("1PL", "2PL", "3PL", "GRM")


def tables() -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """(name, binary labels, ordered labels, levels) of each table."""
    for n_rubrics in (624, 4052):
        y, theta = simulate_2pl(15, n_rubrics)
        rng = np.random.default_rng(1)
        levels = np.full(n_rubrics, 5)
        z = 1.2 * (theta[:, None] - rng.normal(0, 1, n_rubrics)) + rng.logistic(size=(15, n_rubrics))
        yield f"simulated 15 × {n_rubrics}", y, np.clip(np.round(z + 2), 0, 4), levels
    for name in ("dialsummeval", "hellobench"):
        if (REAL / name).is_dir():
            with Workspace() as workspace:
                workspace.ingest(REAL / name / "labels.csv", name)
                dataset = workspace.dataset(name)
                ordered = dataset.reduce("ordered")
                yield name, dataset.reduce("binary").y, ordered.y, ordered.levels


def check(name: str, y: np.ndarray, model: Model, levels: np.ndarray, search: bool) -> None:
    keep = ~constant_rubrics(y)
    bound = bind_model(np.ascontiguousarray(y[:, keep]), model, Priors(), levels[keep])
    start = bound.start()
    clock = time.perf_counter()
    best = maximise(MarginalPosterior(bound, "adaptive"), start, TOLERANCE, RELATIVE_GRADIENT, 500)
    seconds = time.perf_counter() - clock
    exact = MarginalPosterior(bound, "grid")
    exact.rule = GridQuadrature(np.linspace(-8, 8, 4001))
    first, last = exact(start), exact(best.point)
    gradient = np.linalg.norm(last.gradient) / np.linalg.norm(first.gradient)
    value = (best.evaluation.value - last.value) / abs(last.value)
    gain = "—"
    if search:
        exact.rule = GridQuadrature(np.linspace(-8, 8, 801 if keep.sum() > 1000 else 4001))
        found = minimize(  # type: ignore[call-overload] # the stubs know no function of value and gradient
            lambda x: (lambda e: (-e.value, -e.gradient))(exact(x)),
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 1500, "maxfun": 1500, "maxcor": 20, "ftol": 1e-15, "gtol": 1e-6},
        )
        exact.rule = GridQuadrature(np.linspace(-8, 8, 4001))
        gain = f"{(exact(found.x).value - last.value) / abs(last.value):.1e} in {found.nfev}"
    distinct = len(np.unique(best.evaluation.posterior.mean))
    print(
        f"| {name} | {model} | {best.converged} | {best.evaluations} | {seconds:.2f} | {gradient:.1e} | {value:.1e} | "
        f"{gain} | {distinct} of {len(y)} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--skip-search", action="store_true", help="leave the long L-BFGS-B runs out")
    args = parser.parse_args()
    print(
        "| table | model | converged | evaluations | seconds | gradient | value | search | distinct abilities |"
    )
    print("|" + " --- |" * 9)
    for name, binary, ordered, levels in tables():
        for model in MODELS:
            y = ordered if model == "GRM" else binary
            check(name, y, model, levels if model == "GRM" else np.full(y.shape[1], 2), not args.skip_search)


if __name__ == "__main__":
    main()
