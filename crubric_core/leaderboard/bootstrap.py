"""The query-stratified item bootstrap (METHOD §10)."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray


def draw_counts(query_index: IntArray, replicates: int, rng: np.random.Generator) -> IntArray:
    """How often each rubric is drawn: within each query as many as it has, with replacement.

    query_index (J,) any whole numbers → (replicates, J) counts ≥ 0; each query's counts sum to its rubric count.
    """
    n = len(query_index)
    by_query = np.argsort(query_index, kind="stable")
    _, position, size = np.unique(query_index[by_query], return_inverse=True, return_counts=True)
    first = (np.cumsum(size) - size)[position]
    counts = np.zeros((replicates, n), dtype=np.int64)
    for replicate in counts:
        drawn = first + rng.integers(0, size[position])
        replicate[by_query] = np.bincount(drawn, minlength=n)
    return counts


def percentile_interval(draws: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Equal-tailed percentile interval of each column. draws (R, …) → low, high (…); NaN where a draw is NaN."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    return low, high
