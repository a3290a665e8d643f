"""Intervals from draws, and from estimates without each cluster (jackknife), shared by all kernels."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import betainccinv, betaincinv, ndtri, stdtrit

from .types import BoolArray, FloatArray, IntArray

FEWEST_CLUSTERS = 5  # fewer clusters do not show how much clusters vary


def percentile_interval(draws: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Equal-tailed percentile interval of each column. draws (R, …) → low, high (…); NaN where a draw is NaN."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    return low, high


def cluster_sums(values: FloatArray, cluster: IntArray, clusters: int | None = None) -> FloatArray:
    """(G, …) sums of the rows (J, …) of each cluster. cluster: (J,) from 0. clusters: G; by default the largest + 1."""
    size = int(cluster.max(initial=-1)) + 1 if clusters is None else clusters
    rows = np.arange(len(cluster))
    member = sparse.csr_array((np.ones(len(rows)), (cluster, rows)), shape=(size, len(rows)))
    shape = values.shape[1:]
    return np.asarray(member @ values.reshape(len(rows), math.prod(shape))).reshape(size, *shape)


def ratio(above: ArrayLike, below: ArrayLike) -> FloatArray:
    """``above`` / ``below``, with broadcasting; NaN where ``below`` is not greater than 0."""
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below)
    found = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    return np.divide(above, below, out=found, where=below > 0)


def known_mean(values: FloatArray, axis: int = 0) -> FloatArray:
    """Mean of the finite values along an axis; NaN where no value is finite."""
    known = np.isfinite(values)
    return ratio(np.where(known, values, 0.0).sum(axis=axis), known.sum(axis=axis))


def leave_one_out_sums(rows: FloatArray) -> FloatArray:
    """(…, 1 + M) sum over all pairs of M systems, then the sum without the pairs of each system in turn.

    rows: (…, M) sum over the pairs of each system.
    """
    total = rows.sum(axis=-1, keepdims=True) / 2
    return np.concatenate([total, total - rows], axis=-1)


def jackknife_half_width(
    left: FloatArray, confidence: float, comparisons: int = 1, clusters: float | FloatArray | None = None
) -> FloatArray:
    """Half the width of the interval of an estimate, from its values without each of G clusters: (G, …) → (…).

    The delete-one jackknife (Efron & Tibshirani 1993, ch. 11) with Student's t, G - 1 degrees of freedom, adjusted for
    the number of ``comparisons`` (Bonferroni). NaN with fewer than two clusters. clusters: number of equal clusters
    that clusters of unequal size are worth, one number or (…), for the degrees of freedom; by default G.
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

    left: (G,) the share without each cluster, NaN if no pair is left.
    It is the exact binomial interval for the number of trials that gives the jackknife's variance, adjusted for its
    degrees of freedom (Korn and Graubard 1998), at most ``most``: near 0 and 1 the jackknife alone is too narrow.
    trials: their number if the share shows no spread, the number of pairs without a common cluster; it is also the most
    if some value of ``left`` is NaN. clusters: as for ``jackknife_half_width``.
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
    """Number of equal clusters that clusters of these sizes are worth (Kish 1965); 0 without clusters."""
    return float(effective_clusters_of_each(sizes))


def effective_clusters_of_each(sizes: FloatArray) -> FloatArray:
    """``effective_clusters`` of each column: sizes (G, …) → (…), 0 without clusters (Kish 1965)."""
    total, squares = sizes.sum(axis=0), (sizes**2).sum(axis=0)
    return np.divide(total**2, squares, out=np.zeros(np.shape(total)), where=squares > 0)


def disjoint_pairs(pairs: BoolArray) -> int:
    """Number of pairs without a common cluster, chosen greedily from the clusters with the fewest partners.

    pairs: (G, G) symmetric, whether two clusters form a pair.
    """
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
    """(low, high) of the difference ``first`` - ``other``; each is (estimate, low, high).

    left: (2, G) both estimates without each cluster. The distances to the ends are combined as correlated errors (Zou
    and Donner 2008, after Newcombe 1998), so that the difference of two shares without spread is not more certain than
    the shares. The correlation is 0 if an estimate shows no spread.
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

    above, below: (G,) positive and negative parts of the values, each from 0 to 1: the mean is a difference of two
    shares. weight: (G,) of the clusters. trials: number of trials of a share that shows no spread.
    """
    total, clusters = weight.sum(), effective_clusters(weight)
    ends, left = [], []
    for part in (above, below):
        mean = float(weight @ part / total)
        left.append((mean * total - weight * part) / (total - weight))
        ends.append((mean, *share_interval(mean, left[-1], trials, confidence, clusters=clusters)))
    interval = difference_interval(ends[0], ends[1], np.stack(left))
    return (ends[0][0] - ends[1][0], *interval), left[0] - left[1]
