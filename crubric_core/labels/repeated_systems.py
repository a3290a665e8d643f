"""Detect systems whose labels repeat those of another: if one is held out, the other still reveals its labels.

Such systems are the same answers under two names, judged once or twice, or versions of one model. A copy in the fit
carries the information of the system's own labels: for twelve equal systems, six of them copies, three leaderboards in
ten showed a difference (docs/method.md §10).
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, ndtri

from ..types import FloatArray, IntArray

REPEATED = 0.7  # excess correlation of two systems' labels from which on one repeats the other
# Correlation that residuals (after ability, difficulty and slope) must also have: on sharp rubrics, the labels of
# equally good systems are much alike.
BESIDE = 0.4
CHANCE = 0.001  # probability that residuals of any pair of unrelated systems exceed their bound by chance
# Quantile of the correlations of all pairs that is the usual one: rubrics that are easy for all correlate any two.
USUAL = 0.1
# Labels other than its most frequent one that a system must have: with fewer, good systems look alike.
RARER = 10
COMMON = 30  # rubrics that two systems must have in common: on fewer, neighbours look alike
MOST = 2048  # rubrics that are used at most, evenly spaced: more would give the same result
STEPS, RIDGE = 30, 0.1  # of the fit of abilities, difficulties and slopes
PULL = 20.0  # ridge of slopes towards 1: few systems determine them poorly


def distinct_systems(y: FloatArray) -> IntArray:
    """(M,) number of each system, from 0 in the order of first occurrence; systems that repeat each other share one.

    y: (M, J) labels or levels, NaN unknown. The correlation r of two systems' labels over the rubrics that vary is
    compared with that of usual pairs, r0: (r - r0) / (1 - r0) is 1 for copies and 0 for pairs with no more in common
    than the rubrics. The residuals after ability, difficulty and slope must correlate, too. Clusters are formed by
    average linkage, so that a chain of similar systems is not one group.
    """
    from scipy.cluster.hierarchy import fcluster, linkage  # a tenth of a second
    from scipy.spatial.distance import squareform

    alone, seen = np.arange(len(y)), y[:, _varying(y)]
    rows = _with_varied_labels(seen)
    if len(rows) < 2:
        return alone
    apart = _apart(seen, rows, rows)
    if apart[np.triu_indices(len(apart), 1)].min() > 1:
        return alone
    alone[rows] = len(y) + fcluster(linkage(squareform(apart), "average"), 1, "distance")
    first, number = np.unique(alone, return_index=True, return_inverse=True)[1:]
    return np.asarray(np.argsort(np.argsort(first))[number], dtype=np.int64)


def copies_once(distinct: int, rows: int) -> str:
    """Words to append to a number of distinct systems if more (``rows``) are listed; else ""."""
    return ", copies counted once" if distinct < rows else ""


def repeated_of(y: FloatArray, new: FloatArray) -> IntArray:
    """(N,) row of ``y`` (M, J) that each system of ``new`` (N, J) repeats, as in ``distinct_systems``; -1: none."""
    found, varying = np.full(len(new), -1), _varying(y)
    y, new = y[:, varying], new[:, varying]
    old = _with_varied_labels(y)
    if len(old) < 2:
        return found
    for n in _with_varied_labels(new).tolist():
        apart = _apart(np.vstack([y, new[n]]), np.append(old, len(y)), old)[-1, :-1]
        if apart.min() <= 1:
            found[n] = old[apart.argmin()]
    return found


def _varying(y: FloatArray) -> IntArray:
    """Indices of the rubrics on which systems differ, at most MOST."""
    found = np.flatnonzero(np.nanmin(y, axis=0, initial=np.inf) < np.nanmax(y, axis=0, initial=-np.inf))
    return found[np.unique(np.linspace(0, len(found) - 1, MOST).astype(np.int64))] if len(found) else found


def _apart(y: FloatArray, rows: IntArray, usual: IntArray) -> FloatArray:
    """(m, m) distances of the ``rows`` (m,) of y (M, J): 0 for copies; up to 1, two systems repeat each other.

    usual: the rows whose pairs define the usual correlation.
    """
    r = _correlations(y[rows])
    pairs = _correlations(y[usual])[np.triu_indices(len(usual), 1)]
    r0 = max(float(np.quantile(pairs, USUAL)), 0.0)
    apart = np.clip((1 - r) / max(1 - r0, 1e-9), 0.0, None) / (1 - REPEATED)
    if (apart[np.triu_indices(len(rows), 1)] <= 1).any():
        rest = _unexplained(y)[rows]
        # Fisher's transformation of r.
        by_chance = np.tanh(ndtri(1 - CHANCE / len(pairs)) / np.sqrt(np.maximum(_effective(rest) - 3, 1)))
        left = np.clip(1 - _correlations(rest), 0.0, None)
        apart = np.maximum(apart, left / (1 - np.maximum(BESIDE, by_chance)))
    np.fill_diagonal(apart, 0.0)
    return apart


def _effective(rest: FloatArray) -> FloatArray:
    """(m, m) effective number of rubrics for the chance correlation of two rows r, s: sum r² sum s² / sum r² s².

    rest: (m, J) residuals, NaN unknown. On sharp rubrics most labels are certain, and the few that are not are much the
    same for neighbours.
    """
    known = np.isfinite(rest).astype(np.float64)
    square = np.where(known > 0, rest, 0.0) ** 2
    sums, products = square @ known.T, square @ square.T
    return np.divide(sums * sums.T, products, out=np.zeros_like(products), where=products > 0)


def _unexplained(y: FloatArray) -> FloatArray:
    """(M, J) residuals of the labels after an ability of each system, and a difficulty and slope of each rubric.

    Labels are shares of each rubric's range; NaN: unknown. The model is a 2PL by joint maximum likelihood with a small
    ridge: rough, but it needs no fit of the analysis.
    """
    known = np.isfinite(y)
    low, high = np.nanmin(y, axis=0, initial=np.inf), np.nanmax(y, axis=0, initial=-np.inf)
    share = np.divide(y - low, high - low, out=np.zeros(y.shape), where=known & (high > low))
    ability, ease, slope = np.zeros((len(y), 1)), np.zeros(y.shape[1]), np.ones(y.shape[1])

    def step(
        at: FloatArray, by: FloatArray | float, axis: int, ridge: float, toward: float = 0.0
    ) -> FloatArray:
        chance = expit(slope * ability + ease)
        gap, weight = known * (share - chance) * by, known * chance * (1 - chance) * by**2
        pull = ridge * (at - toward)
        return at + np.clip((gap.sum(axis=axis) - pull) / (weight.sum(axis=axis) + ridge), -1, 1)

    for _ in range(STEPS):
        ability = step(ability[:, 0], slope, 1, RIDGE)[:, None]
        ease = step(ease, 1.0, 0, RIDGE)
        slope = np.maximum(step(slope, ability, 0, PULL, 1.0), 0.0)
    return np.where(known, share - expit(slope * ability + ease), np.nan)


def _with_varied_labels(y: FloatArray) -> IntArray:
    """Indices of the systems whose labels vary enough to detect a copy: RARER differ from the most frequent label."""
    return np.flatnonzero(np.array([_rarer(row) >= RARER for row in y], dtype=bool))


def _rarer(labels: FloatArray) -> int:
    counts = np.unique(labels[np.isfinite(labels)], return_counts=True)[1]
    return int(counts.sum() - counts.max(initial=0))


def _correlations(y: FloatArray) -> FloatArray:
    """(M, M) Pearson correlation of every two rows (M, J) over the columns known in both; 0 on fewer than COMMON."""
    known = np.isfinite(y).astype(np.float64)
    value = np.where(known > 0, y, 0.0)
    n, sums, squares = known @ known.T, value @ known.T, value**2 @ known.T
    shared = np.maximum(n, 1)
    spread = squares - sums**2 / shared
    scale = np.sqrt(np.maximum(spread * spread.T, 0.0))
    together = value @ value.T - sums * sums.T / shared
    return np.divide(together, scale, out=np.zeros_like(n), where=(n >= COMMON) & (scale > 1e-9))
