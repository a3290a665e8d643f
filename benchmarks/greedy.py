"""Greedy assembly beside the naive algorithm and, where its interpreter is given, apricot's lazy greedy.

    python -m benchmarks.greedy
    python -m benchmarks.greedy --apricot ../peers/bin/python    # an environment with apricot-select, scikit-learn

Every row times all of them in one run on the same information. apricot knows no node weights: beside it all
three take equal ones. "same" says whether the orders are the naive one, item for item.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from crubric_core.bank.greedy import greedy_bank
from crubric_core.bank.utility import utility_grid
from crubric_core.types import FloatArray

_APRICOT = """
import sys, time, numpy as np
from apricot import FeatureBasedSelection
rows = np.ascontiguousarray(np.load(sys.argv[1]).T)
def select(rows, budget):
    return FeatureBasedSelection(budget, concave_func="log", optimizer="lazy").fit(rows).ranking
select(rows[:100], 5)  # compile before the clock starts
start = time.perf_counter()
order = select(rows, int(sys.argv[2]))
print(time.perf_counter() - start, *order)
"""


def simulate(n: int, distinct: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Information (41, n) of 2PL rubrics, of which ``distinct`` are different, and the weights of the nodes (41,)."""
    rng = np.random.default_rng(seed)
    grid = utility_grid()
    a, b = np.exp(rng.normal(0, 0.5, distinct)), rng.normal(0, 1.5, distinct)
    p = 1 / (1 + np.exp(-a * (grid.theta[:, None] - b)))
    info = a**2 * p * (1 - p)
    return (info if distinct == n else info[:, rng.integers(0, distinct, n)]), grid.weights


def naive_greedy(info: FloatArray, weights: FloatArray, budget: int) -> list[int]:
    """The naive algorithm: compute all J gains at every step, by a few numpy calls."""
    covered, taken, order = np.zeros(len(info)), np.zeros(info.shape[1], dtype=bool), []
    for _ in range(budget):
        gains = weights @ np.log1p(info / (1 + covered)[:, None])
        gains[taken] = -np.inf
        best = int(gains.argmax())
        order.append(best)
        taken[best] = True
        covered += info[:, best]
    return order


def timed(run: Callable[[], list[int]], repeats: int) -> tuple[list[int], float]:
    """The result and the median seconds."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - start)
    return result, float(np.median(seconds))


def apricot_greedy(python: Path, info: FloatArray, budget: int) -> tuple[list[int], float]:
    """Order and seconds of apricot in its own interpreter, timed without start-up and compilation."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "info.npy")
        np.save(path, info)
        words = subprocess.run(
            [python, "-c", _APRICOT, path, str(budget)], check=True, capture_output=True, text=True
        ).stdout.split()
    return [int(word) for word in words[1:]], float(words[0])


def compare(n: int, distinct: int, budget: int, apricot: Path | None = None) -> str:
    """One row of the table."""
    info, weights = simulate(n, distinct)
    if apricot:
        weights = np.ones_like(weights)
    ours, seconds = timed(lambda: greedy_bank(info, weights, budget)[0].tolist(), repeats=5)
    naive, slow = timed(lambda: naive_greedy(info, weights, budget), repeats=3 if n < 10_000 else 1)
    row = f"{n:>7,} {distinct:>8,} {budget:>6,} {slow:>9.3f} {seconds:>9.3f} {slow / seconds:>6.1f}"
    row += f"  {'yes' if ours == naive else 'NO':>4}"
    if apricot:
        peers, theirs = apricot_greedy(apricot, info, budget)
        row += f" {theirs:>10.3f} {theirs / seconds:>6.1f}  {'yes' if peers == naive else 'NO':>4}"
    return row


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--apricot", type=Path, help="a Python interpreter that has apricot-select")
    apricot = parser.parse_args().apricot
    print("      J distinct      B   naive s    ours s  ratio  same  apricot s  ratio  same")
    for n, distinct, budget in (
        (4052, 4052, 4052),
        (4052, 1500, 4052),
        (4052, 4052, 200),
        (100_000, 100_000, 1000),
    ):
        print(compare(n, distinct, budget), flush=True)
    if apricot:
        print(compare(4052, 4052, 4052, apricot), flush=True)
        print(compare(100_000, 100_000, 1000, apricot), flush=True)


if __name__ == "__main__":
    main()
