"""Systems whose labels repeat those of another: where one is held out, the other still tells of its labels.

The same answers under two names, judged once or twice, or versions of one model. A copy in the fit has seen what the
system's own labels would show: of twelve equal systems, six of them copies, three boards in ten showed a difference
(docs/method.md §10).
"""

from __future__ import annotations

import numpy as np

from ..types import FloatArray, IntArray

REPEATED = 0.7  # excess correlation of two systems' labels from which on one repeats the other
USUAL = (
    0.1  # quantile of the correlations of all pairs: what rubrics that are easy for all give any two systems
)
RARER = (
    10  # labels other than its most frequent one that a system must have: with fewer, good systems look alike
)
COMMON = 20  # rubrics that two systems must have in common
MOST = 2048  # rubrics that are looked at, evenly spaced: more would tell the same


def distinct_systems(y: FloatArray) -> IntArray:
    """(M,) number of each system, from 0 as they first occur; those that repeat each other have the same.

    y: (M, J) labels or levels, NaN unknown. The correlation r of two systems' labels over the rubrics that vary is
    compared with that of usual pairs, r0: (r - r0) / (1 - r0) is 1 of copies and 0 of pairs with no more in common than
    the rubrics. Average linkage, so that a chain of similar systems is not one.
    """
    from scipy.cluster.hierarchy import fcluster, linkage  # a tenth of a second
    from scipy.spatial.distance import squareform

    alone = np.arange(len(y))
    telling = np.array([_rarer(row) >= RARER for row in y], dtype=bool)
    if telling.sum() < 2:
        return alone
    varying = y[:, np.nanmin(y, axis=0, initial=np.inf) < np.nanmax(y, axis=0, initial=-np.inf)]
    chosen = np.unique(np.linspace(0, varying.shape[1] - 1, MOST).astype(np.int64))
    r = _correlations(varying[np.ix_(telling, chosen)])
    pairs = np.triu_indices(len(r), 1)
    usual = max(float(np.quantile(r[pairs], USUAL)), 0.0)
    apart = np.clip((1 - r) / max(1 - usual, 1e-9), 0.0, None)
    np.fill_diagonal(apart, 0.0)
    if apart[pairs].min() > 1 - REPEATED:
        return alone
    alone[telling] = len(y) + fcluster(linkage(squareform(apart), "average"), 1 - REPEATED, "distance")
    first, number = np.unique(alone, return_index=True, return_inverse=True)[1:]
    return np.argsort(np.argsort(first))[number]


def repeated_of(y: FloatArray, new: FloatArray) -> IntArray:
    """(N,) the system of ``y`` (M, J) that each of ``new`` (N, J) repeats, as in ``distinct_systems``; -1: none."""
    found = np.full(len(new), -1)
    telling = np.array([_rarer(row) >= RARER for row in y], dtype=bool)
    if telling.sum() < 2:
        return found
    old = np.flatnonzero(telling)
    r = _correlations(np.vstack([y[old], new]))
    usual = max(float(np.quantile(r[: len(old), : len(old)][np.triu_indices(len(old), 1)], USUAL)), 0.0)
    closest = r[len(old) :, : len(old)]
    bound = usual + REPEATED * (1 - usual)
    repeats = (closest.max(axis=1) >= bound) & np.array([_rarer(row) >= RARER for row in new], dtype=bool)
    return np.where(repeats, old[closest.argmax(axis=1)], found)


def _rarer(labels: FloatArray) -> int:
    counts = np.unique(labels[np.isfinite(labels)], return_counts=True)[1]
    return int(counts.sum() - counts.max(initial=0))


def _correlations(y: FloatArray) -> FloatArray:
    """(M, M) Pearson correlation of every two rows (M, J) where both are known; 0 on fewer than COMMON."""
    known = np.isfinite(y).astype(np.float64)
    value = np.where(known > 0, y, 0.0)
    n, sums, squares = known @ known.T, value @ known.T, value**2 @ known.T
    shared = np.maximum(n, 1)
    spread = squares - sums**2 / shared
    scale = np.sqrt(np.maximum(spread * spread.T, 0.0))
    together = value @ value.T - sums * sums.T / shared
    return np.divide(together, scale, out=np.zeros_like(n), where=(n >= COMMON) & (scale > 1e-9))
