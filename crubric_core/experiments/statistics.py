"""The few statistics that the experiments share, as array kernels."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from ..intervals import FEWEST_CLUSTERS, cluster_sums
from ..types import BoolArray, FloatArray, IntArray


def mean_interval(
    values: FloatArray, confidence: float = 0.95, *, held_out: float = 0.0
) -> tuple[float, float, float, int]:
    """Mean, t interval (low, high) and number of the known ``values`` (n,); NaN where n is too small.

    held_out: of values from random splits of the same data, the size of the part held out over that of the other:
    the variance of their mean is s² (1/n + held_out), not s²/n (Nadeau and Bengio 2003).
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
    """Half the width of the interval of a mean over random repeats (S,) of one table.

    drawn: (R,) the mean with the table's units drawn anew. The variances of the draws and of the mean over the
    repeats add up; Student's t with units - 1 degrees of freedom.
    NaN where one of them is unknown, or with fewer than FEWEST_CLUSTERS units.
    """
    drawn = drawn[np.isfinite(drawn)]
    if min(len(drawn), len(repeats)) < 2 or units < FEWEST_CLUSTERS:
        return float("nan")
    variance = drawn.var(ddof=1) + repeats.var(ddof=1) / len(repeats)
    return float(stdtrit(units - 1, (1 + confidence) / 2) * np.sqrt(variance))


def confusion(first: FloatArray, second: FloatArray) -> FloatArray:
    """(J, 4) cells of each rubric: both pass, only first, only second, both fail. first, second (M, J), NaN unknown."""
    passes = [first == 1, first == 0], [second == 1, second == 0]
    return np.stack([(a & b).sum(axis=0) for a in passes[0] for b in passes[1]], axis=1).astype(float)


def query_draws(query_index: IntArray, replicates: int, rng: np.random.Generator) -> IntArray:
    """(replicates, N) how often each query is drawn when as many as there are, N, are drawn with replacement."""
    n = int(query_index.max()) + 1
    return rng.multinomial(n, np.full(n, 1 / n), size=replicates)


def sum_by_query(values: FloatArray, query_index: IntArray, kept: BoolArray) -> FloatArray:
    """(N, …) sums of the kept rubrics' rows. values (J, …)."""
    return cluster_sums(values[kept], query_index[kept], int(query_index.max()) + 1)


def interquartile_range(values: FloatArray) -> float:
    """75% quantile less 25% quantile of the known values; NaN without any."""
    known = values[np.isfinite(values)]
    return float(np.subtract(*np.quantile(known, [0.75, 0.25]))) if len(known) else float("nan")
