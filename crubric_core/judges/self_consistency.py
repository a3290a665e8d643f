"""Whether a judge repeats itself: the share of agreeing pairs of runs on the same cells (docs/method.md §1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..intervals import FEWEST_CLUSTERS, effective_clusters, ratio, share_interval
from ..types import FloatArray, IntArray
from .measurability import measurability_posterior


@dataclass(frozen=True)
class SelfConsistency:
    """Self-consistency of n judges, rubrics, or judges on rubrics.

    pairs: (n,) pairs of runs on the same cell. share: (n,) share of them that agree, in [0, 1]; NaN without a pair.
    mean, sd: (n,) of the posterior. low, high: (n,) its equal-tailed interval.
    """

    pairs: IntArray
    share: FloatArray
    mean: FloatArray
    sd: FloatArray
    low: FloatArray
    high: FloatArray


def self_consistency(
    pairs: ArrayLike,
    agreeing: ArrayLike,
    draws: ArrayLike,
    consistent: ArrayLike,
    confidence: float = 0.95,
) -> SelfConsistency:
    """Share of agreeing pairs and its posterior Beta(1 + consistent, 1 + draws - consistent).

    The n (n - 1) / 2 pairs of n runs on one cell are not independent, so a cell counts as its n - 1 runs beyond the
    first, times its share of agreeing pairs: with two runs exactly the count of agreeing pairs.

    Args:
        pairs: (n,) pairs of runs, summed over cells.
        agreeing: (n,) number of them on the same level.
        draws: (n,) runs beyond the first, summed over cells.
        consistent: (n,) the same sum, each cell times its share of agreeing pairs; at most ``draws``.
        confidence: of the interval.

    """
    compared, equal = np.asarray(pairs, dtype=np.int64), np.asarray(agreeing, dtype=np.float64)
    share = ratio(equal, compared)
    posterior = measurability_posterior(np.minimum(consistent, draws), draws)
    low, high = posterior.interval(confidence)
    return SelfConsistency(compared, share, posterior.mean, posterior.sd, low, high)


def over_queries(draws: FloatArray, consistent: FloatArray, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of a judge's share of consistent runs, for further queries like these; NaN with too few queries.

    draws, consistent: (n,) of each query, as in ``self_consistency``. A judge repeats itself on some queries less than
    on others, so that cells are not independent evidence, and a few queries with most of the runs count as few.
    """
    used = draws > 0
    draws, consistent = draws[used], consistent[used]
    if len(draws) < FEWEST_CLUSTERS:
        return float("nan"), float("nan")
    total, agreed = draws.sum(), consistent.sum()
    left = (agreed - consistent) / (total - draws)
    clusters = effective_clusters(draws)
    return share_interval(float(agreed / total), left, clusters, confidence, float(total), clusters)
