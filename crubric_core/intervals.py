"""Intervals of draws and of estimates without each cluster, the same for every kernel that has some."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import betainccinv, betaincinv, ndtri, stdtrit

from .types import BoolArray, FloatArray, IntArray

FEWEST_CLUSTERS = 5  # fewer do not show how much others would differ


def percentile_interval(draws: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Equal-tailed percentile interval of each column. draws (R, …) → low, high (…); NaN where a draw is NaN."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    return low, high


def cluster_sums(values: FloatArray, cluster: IntArray, clusters: int | None = None) -> FloatArray:
    """(G, …) sums of the rows (J, …) of each cluster 0..G-1. clusters: G, by default as many as occur."""
    size = int(cluster.max(initial=-1)) + 1 if clusters is None else clusters
    rows = np.arange(len(cluster))
    member = sparse.csr_array((np.ones(len(rows)), (cluster, rows)), shape=(size, len(rows)))
    shape = values.shape[1:]
    return np.asarray(member @ values.reshape(len(rows), math.prod(shape))).reshape(size, *shape)


def ratio(above: ArrayLike, below: ArrayLike) -> FloatArray:
    """``above`` / ``below``, broadcast against each other; NaN where ``below`` is not above 0."""
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below)
    found = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    return np.divide(above, below, out=found, where=below > 0)


def known_mean(values: FloatArray, axis: int = 0) -> FloatArray:
    """Mean over the known values along an axis; NaN where none is known."""
    known = np.isfinite(values)
    return ratio(np.where(known, values, 0.0).sum(axis=axis), known.sum(axis=axis))


def leave_one_out_sums(rows: FloatArray) -> FloatArray:
    """(…, 1 + M) sums over all pairs of M systems, then over those without each system. rows: (…, M) over its pairs."""
    total = rows.sum(axis=-1, keepdims=True) / 2
    return np.concatenate([total, total - rows], axis=-1)


def jackknife_half_width(
    left: FloatArray, confidence: float, comparisons: int = 1, clusters: float | FloatArray | None = None
) -> FloatArray:
    """Half the width of the interval of an estimate, from its values without each of G clusters: (G, …) → (…).

    The delete-one jackknife (Efron & Tibshirani 1993, ch. 11) with Student's t, G - 1 degrees of freedom, adjusted for
    the number of ``comparisons`` (Bonferroni). NaN with fewer than two clusters. clusters: as many as clusters of
    unequal size are worth, of all estimates or of each (…), whose degrees of freedom count; by default all are alike.
    """
    n = len(left)
    if n < 2:
        return np.full(left.shape[1:], np.nan)
    error = np.sqrt((n - 1) / n * ((left - left.mean(axis=0)) ** 2).sum(axis=0))
    freedom = (n if clusters is None else clusters) - 1
    return np.asarray(-stdtrit(freedom, (1 - confidence) / (2 * comparisons)) * error)


def exact_binomial_interval(met: float, trials: float, confidence: float) -> tuple[float, float]:
    """(low, high) of a probability, given ``met`` of ``trials`` (Clopper and Pearson 1934); NaN without a trial."""
    if trials <= 0:
        return float("nan"), float("nan")
    tail = (1 - confidence) / 2
    low = betaincinv(met, trials - met + 1, tail) if met > 0 else 0.0
    high = betainccinv(met + 1, trials - met, tail) if met < trials else 1.0
    return float(low), float(high)


def share_interval(
    share: float,
    left: FloatArray,
    trials: float,
    confidence: float,
    most: float = np.inf,
    clusters: float | None = None,
) -> tuple[float, float]:
    """(low, high) of a share of the pairs of clusters.

    left: (G,) the share without each cluster, NaN where no pair is left.
    The exact binomial interval of as many trials as have the jackknife's variance, adjusted for its degrees of freedom
    (Korn and Graubard 1998), at most ``most``: near 0 and 1 the jackknife alone is too narrow. A share that shows no
    spread has ``trials``, as many as there are pairs without a common cluster, also where all pairs have one in common.
    clusters: as for ``jackknife_half_width``.
    """
    values = left[np.isfinite(left)]
    n = len(values)
    inside = 0 < share < 1 and n >= 3 and np.ptp(values) > 1e-12
    half = float(jackknife_half_width(values, confidence, clusters=clusters)) if inside else np.nan
    effective = share * (1 - share) * (float(ndtri((1 + confidence) / 2)) / half) ** 2 if inside else np.inf
    if n < len(left):
        effective = min(effective, trials)
    like = min(max(effective, 1.0), most) if inside else trials
    return exact_binomial_interval(share * like, like, confidence)


def coefficient_interval(
    value: float, left: FloatArray, trials: float, confidence: float, clusters: float, most: float = np.inf
) -> tuple[float, float]:
    """(low, high) of an agreement coefficient in [-1, 1], such as kappa: ``share_interval`` of (1 + value) / 2."""
    low, high = share_interval((1 + value) / 2, (1 + left) / 2, trials, confidence, most, clusters)
    return 2 * low - 1, 2 * high - 1


def effective_clusters(sizes: FloatArray) -> float:
    """As many clusters of equal size as these are worth (Kish 1965); 0 without any."""
    return float(effective_clusters_of_each(sizes))


def effective_clusters_of_each(sizes: FloatArray) -> FloatArray:
    """As many clusters of equal size as each column's are worth (Kish 1965): sizes (G, …) → (…), 0 without any."""
    total, squares = sizes.sum(axis=0), (sizes**2).sum(axis=0)
    return np.divide(total**2, squares, out=np.zeros(np.shape(total)), where=squares > 0)


def disjoint_pairs(pairs: BoolArray) -> int:
    """How many of the pairs (G, G) share no cluster, taken from the clusters with the fewest partners on."""
    left, partners, found = pairs.copy(), pairs.sum(axis=1), 0
    while partners.any():
        first = int(np.where(partners > 0, partners, len(left) + 1).argmin())
        second = int(np.where(left[first], partners, len(left) + 1).argmin())
        for cluster in (first, second):
            partners -= left[cluster]
            left[cluster] = left[:, cluster] = False
            partners[cluster] = 0
        found += 1
    return found


def difference_interval(
    first: tuple[float, float, float], other: tuple[float, float, float], left: FloatArray
) -> tuple[float, float]:
    """(low, high) of ``first`` less ``other``, (estimate, low, high) each.

    left: (2, G) both estimates without each cluster.
    The distances to the ends add up as correlated errors do (Zou and Donner 2008, after Newcombe 1998), so that the
    difference of two shares that show no spread is no more certain than the shares. No correlation without a spread.
    """
    left = left[:, np.isfinite(left).all(axis=0)]
    spread = left - left.mean(axis=1, keepdims=True) if left.size else left
    scale = np.sqrt((spread**2).sum(axis=1))
    correlation = float(spread[0] @ spread[1] / scale.prod()) if scale.min() > 1e-12 else 0.0

    def distance(one: float, two: float) -> float:
        return float(np.sqrt(max(one**2 + two**2 - 2 * correlation * one * two, 0.0)))

    difference = first[0] - other[0]
    below = distance(first[0] - first[1], other[2] - other[0])
    return difference - below, difference + distance(first[2] - first[0], other[0] - other[1])


def signed_mean_interval(
    above: FloatArray, below: FloatArray, weight: FloatArray, trials: float, confidence: float
) -> tuple[tuple[float, float, float], FloatArray]:
    """(mean, low, high) of a mean over G clusters of values in [-1, 1], and (G,) the mean without each cluster.

    above, below: what the values are above 0, and below it, both from 0 to 1: the mean is a difference of two shares.
    weight: of the clusters. trials: of a share that shows no spread.
    """
    total, clusters = weight.sum(), effective_clusters(weight)
    ends, left = [], []
    for part in (above, below):
        mean = float(weight @ part / total)
        left.append((mean * total - weight * part) / (total - weight))
        ends.append((mean, *share_interval(mean, left[-1], trials, confidence, clusters=clusters)))
    interval = difference_interval(ends[0], ends[1], np.stack(left))
    return (ends[0][0] - ends[1][0], *interval), left[0] - left[1]
