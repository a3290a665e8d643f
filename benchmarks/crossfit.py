"""The whole cross-fit compared with one fit of the full table: time in units of that fit, and peak memory.

    python -m benchmarks.crossfit

The table is the simulated study's (15 systems, about 4,000 rubrics); 20 splits need 40 fits of half of it. The full
fit is timed before and after the cross-fit and in between, so that both see the same machine.
"""

from __future__ import annotations

import resource
import time

import numpy as np

from crubric_core import Settings, Workspace, fit_irt
from crubric_core.demo import write_demo
from crubric_core.experiments.inputs import Inputs, read_inputs
from crubric_core.experiments.results import ExperimentWatch
from crubric_core.experiments.splits import split_rubrics


def full_fit(inputs: Inputs) -> float:
    """Seconds of one fit."""
    start = time.perf_counter()
    fit_irt(inputs.reduction.y)
    return time.perf_counter() - start


def compare(inputs: Inputs) -> tuple[float, float, float]:
    """Median seconds of a full fit, seconds of the cross-fit, and seconds of 40 fits of half of the rubrics alone."""
    fits = [full_fit(inputs) for _ in range(3)]
    pauses: list[float] = []

    def pause(share: float, what: str) -> None:
        start = time.perf_counter()
        fits.append(full_fit(inputs))
        pauses.append(time.perf_counter() - start)

    start = time.perf_counter()
    split_rubrics(inputs.reduction, inputs.feasible, inputs.settings, watch=ExperimentWatch(pause))
    whole = time.perf_counter() - start - sum(pauses)
    rng = np.random.default_rng(0)
    halves = [
        rng.permutation(inputs.reduction.y.shape[1])[: inputs.reduction.y.shape[1] // 2] for _ in range(40)
    ]
    start = time.perf_counter()
    for half in halves:
        fit_irt(inputs.reduction.y[:, np.sort(half)])
    return float(np.median(fits)), whole, time.perf_counter() - start


def main() -> None:
    """Print one row for each gate threshold."""
    with Workspace() as workspace:
        write_demo(workspace)
        print("tau_c  full fit s  40 half fits s  cross-fit s  ratio")
        for tau_c in (0.8, 0.0):
            inputs = read_inputs(workspace.dataset("demo"), Settings(tau_c=tau_c))
            fit, whole, halves = compare(inputs)
            print(
                f"{tau_c:>5.2f} {fit:>11.3f} {halves:>15.3f} {whole:>12.3f} {whole / fit:>6.1f}", flush=True
            )
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


if __name__ == "__main__":
    main()
