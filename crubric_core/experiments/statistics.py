"""Statistics that several experiments use, as array kernels."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from ..intervals import FEWEST_CLUSTERS, cluster_sums
from ..types import BoolArray, FloatArray, IntArray


def mean_interval(
    values: FloatArray, confidence: float = 0.95, *, held_out: float = 0.0
) -> tuple[float, float, float, int]:
    """(mean, low, high, n) of the known ``values``, with a t interval; NaN if n is too small.

    held_out: for values from random splits of the same data, the size of the held-out part divided by that of the other
    part: the variance of the mean is s² (1/n + held_out), not s²/n (Nadeau and Bengio 2003).
    """
    known = values[np.isfinite(values)]
    n = len(known)
    if not n:
        return float("nan"), float("nan"), float("nan"), 0
    mean = float(known.mean())
    if n < 2:
        return mean, float("nan"), float("nan"), n
    spread = known.std(ddof=1) * np.sqrt(1 / n + held_out)
    half = float(stdtrit(n - 1, (1 + confidence) / 2) * spread)
    return mean, mean - half, mean + half, n


def half_width(drawn: FloatArray, repeats: FloatArray, units: int, confidence: float) -> float:
    """Half the width of the interval of a mean over random repeats (S,) on one table.

    drawn: (R,) the mean for each resample of the table's units. The variance is that of the resamples plus that of the
    mean over the repeats, with Student's t and units - 1 degrees of freedom. NaN with fewer than two resamples or
    repeats, or fewer than FEWEST_CLUSTERS units.
    """
    drawn = drawn[np.isfinite(drawn)]
    if min(len(drawn), len(repeats)) < 2 or units < FEWEST_CLUSTERS:
        return float("nan")
    variance = drawn.var(ddof=1) + repeats.var(ddof=1) / len(repeats)
    return float(stdtrit(units - 1, (1 + confidence) / 2) * np.sqrt(variance))


def confusion(first: FloatArray, second: FloatArray) -> FloatArray:
    """(J, 4) counts of each rubric's cells: both pass, only first, only second, both fail.

    first, second: (M, J) labels as pass or fail, NaN unknown.
    """
    passes = [first == 1, first == 0], [second == 1, second == 0]
    return np.stack([(a & b).sum(axis=0) for a in passes[0] for b in passes[1]], axis=1).astype(float)


def query_draws(query_index: IntArray, replicates: int, rng: np.random.Generator) -> IntArray:
    """(replicates, N) how often each query is drawn if N of N queries are drawn with replacement."""
    n = int(query_index.max()) + 1
    return rng.multinomial(n, np.full(n, 1 / n), size=replicates)


def sum_by_query(values: FloatArray, query_index: IntArray, kept: BoolArray) -> FloatArray:
    """(N, …) sums by query of the rows of the kept rubrics. values: (J, …). query_index, kept: (J,)."""
    return cluster_sums(values[kept], query_index[kept], int(query_index.max()) + 1)


def interquartile_range(values: FloatArray) -> float:
    """75% quantile minus 25% quantile of the known values; NaN without any."""
    known = values[np.isfinite(values)]
    return float(np.subtract(*np.quantile(known, [0.75, 0.25]))) if len(known) else float("nan")
