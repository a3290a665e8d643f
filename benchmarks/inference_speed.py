"""Seconds that claims take once the fold fits are cached, and the time of these fits in units of one fit.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.inference_speed

Times are processor time, the least of five runs, so that other work on the machine does not count. A move of the gate
keeps a random three quarters of the rubrics; abilities, contributions, threshold, intervals, tiers and ranks are then
all computed again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import process_time

import numpy as np

from benchmarks.tables import simulate_2pl
from crubric_core.irt.fit import fit_irt
from crubric_core.leaderboard.cross_fit import CrossFit, cross_fit
from crubric_core.leaderboard.inference import infer
from crubric_core.leaderboard.influence import ability_influence

SIZES = ((15, 4052), (60, 1000), (400, 5000))
QUERIES, REPEATS = 104, 5


def seconds(work: Callable[[], object]) -> float:
    """Least processor time of REPEATS runs of ``work``."""
    found = []
    for _ in range(REPEATS):
        start = process_time()
        work()
        found.append(process_time() - start)
    return min(found)


def main() -> None:
    """Print one row for each size."""
    print("| systems × rubrics | one fit, s | fold fits, in fits | tables, s | a move of the gate, ms |")
    print("|" + " --- |" * 5)
    for n_systems, n_rubrics in SIZES:
        y, _ = simulate_2pl(n_systems, n_rubrics)
        fit, query = fit_irt(y), np.arange(y.shape[1]) % QUERIES
        one = seconds(partial(fit_irt, y))
        start = process_time()
        cross = cross_fit(y, fit)
        folds = process_time() - start
        rng = np.random.default_rng(0)

        def move(
            cross: CrossFit = cross, query: np.ndarray = query, rng: np.random.Generator = rng
        ) -> object:
            return infer(ability_influence(cross, rng.random(len(query)) < 0.75, query), rng)

        start = process_time()
        move()
        first, later = process_time() - start, seconds(move)
        row = (f"{one:.3f}", f"{folds / one:.1f}", f"{first - later:.2f}", f"{1000 * later:.0f}")
        print(f"| {n_systems} × {n_rubrics:,} | " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
