"""The distribution of the largest of all pairs' studentised differences if no systems differ (docs/method.md §10).

Hothorn, T., Bretz, F. & Westfall, P. (2008), Simultaneous inference in general parametric models, Biometrical Journal
50, 346-363.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from ..compiled import compiled
from ..types import FloatArray, IntArray

Floats = NDArray[np.float32]

BLOCK = 60_000  # numbers of a block, which stays in the processor's cache
WIDTH = 16  # systems of a set; one number bounds all pairs between two sets
FEW = 8 * WIDTH  # with fewer systems, sets save no time


def largest_differences(draws: FloatArray, pair_sd: FloatArray) -> FloatArray:
    """(R,) max over pairs i < k of |Z_i - Z_k| / sd_ik, for draws Z (R, M) and sd (M, M); pairs with sd 0 do not count.

    In single precision, which takes half the time and errs by 1e-6 of a quantile. With many systems, only pairs that
    can be the largest are computed: see ``_by_sets``.
    """
    precision = np.divide(1.0, pair_sd, out=np.zeros_like(pair_sd), where=pair_sd > 0).astype(np.float32)
    size = draws.shape[1]
    if size >= FEW:
        # A set's pairs should have much the same precision.
        order = np.argsort(pair_sd.sum(axis=1), kind="stable")
        return _by_sets(draws[:, order].astype(np.float32), precision[np.ix_(order, order)]).astype(float)
    found, step = np.zeros(len(draws), dtype=np.float32), max(BLOCK // max(size, 1), 500)
    for start in range(0, len(draws), step):
        block = draws[start : start + step].astype(np.float32)
        found[start : start + step] = _of_all_pairs(np.ascontiguousarray(block.T), precision)
    return found.astype(float)


@compiled
def _of_all_pairs(z: Floats, precision: Floats) -> Floats:
    """(R,) largest difference of each draw. z: (M, R). precision: (M, M) 1 / sd."""
    largest = np.zeros(z.shape[1], dtype=np.float32)
    for i in range(len(z)):
        for k in range(i + 1, len(z)):
            for draw in range(z.shape[1]):
                apart = abs(z[i, draw] - z[k, draw]) * precision[i, k]
                largest[draw] = max(largest[draw], apart)
    return largest


def _by_sets(z: Floats, precision: Floats) -> Floats:
    """(R,) largest difference of each draw in z (R, M), from few pairs of sets of WIDTH systems.

    The differences between two sets are bounded by the sets' ends and the highest precision of their pairs. A product
    of rounded numbers never falls when a factor rises, so that the bound is exact to the last digit.
    """
    sets = -(-z.shape[1] // WIDTH)
    beyond = sets * WIDTH - z.shape[1]  # the last set is filled with copies of a system, of precision 0
    z = np.pad(z, ((0, 0), (0, beyond)), mode="edge").reshape(len(z), sets, WIDTH)
    padded = np.pad(precision, ((0, beyond), (0, beyond))).reshape(sets, WIDTH, sets, WIDTH)
    of_sets = np.ascontiguousarray(padded.swapaxes(1, 2))
    high, low = z.max(axis=2), z.min(axis=2)
    return np.asarray(_of_likely_pairs(z, high, low, of_sets, of_sets.max(axis=(2, 3))))


@compiled
def _of_likely_pairs(z: Floats, high: Floats, low: Floats, precision: Floats, most: Floats) -> Floats:
    """(R,) largest difference of each draw in z (R, S, WIDTH), from the pairs of sets whose bound exceeds it.

    high, low: (R, S) the sets' ends. precision: (S, S, WIDTH, WIDTH). most: (S, S) the largest precision of two sets.
    """
    found, sets = np.zeros(len(z), dtype=np.float32), len(most)
    bounds, best = np.zeros((sets, sets), dtype=np.float32), np.zeros(WIDTH, dtype=np.float32)
    for draw in range(len(z)):
        first = second = 0
        for a in range(sets):
            for b in range(a, sets):
                bounds[a, b] = max(high[draw, a] - low[draw, b], high[draw, b] - low[draw, a]) * most[a, b]
            for b in range(a, sets):
                if bounds[a, b] > bounds[first, second]:
                    first, second = a, b
        best[:] = 0
        _raise(best, z[draw, first], z[draw, second], precision[first, second])
        largest = best.max()
        for a in range(sets):
            for b in range(a, sets):
                if bounds[a, b] > largest:
                    _raise(best, z[draw, a], z[draw, b], precision[a, b])
                    largest = best.max()
        found[draw] = largest
    return found


@compiled
def _raise(best: Floats, ones: Floats, others: Floats, precision: Floats) -> None:
    """Raise each of ``best`` (WIDTH,) to the largest difference of that entry of ``others`` from any of ``ones``."""
    for one in range(len(ones)):
        for other in range(len(others)):
            best[other] = max(best[other], abs(ones[one] - others[other]) * precision[one, other])


def threshold(largest: FloatArray, confidence: float) -> float:
    """The order statistic of ``largest`` (R,) that a further draw exceeds with probability 1 - confidence or less.

    Infinite if R is too small.
    """
    place = int(np.ceil((len(largest) + 1) * confidence - 1e-9))
    return float(np.sort(largest)[place - 1]) if place <= len(largest) else float("inf")


def adjusted_p(z: FloatArray, largest: FloatArray) -> FloatArray:
    """(…,) P(largest ≥ z) = (1 + draws at least as large) / (R + 1): at most 1 - confidence iff z > ``threshold``."""
    at_least = len(largest) - np.searchsorted(np.sort(largest), z, side="left")
    return np.asarray((1 + at_least) / (len(largest) + 1))


def as_normal(t: FloatArray, df: IntArray | FloatArray) -> FloatArray:
    """Normal deviate with the upper tail probability of Student's ``t`` ≥ 0; 0 for df < 1 (degrees of freedom)."""
    return np.where(df >= 1, -ndtri(stdtr(np.maximum(df, 1), -t)), 0.0)


def as_student(z: float, df: IntArray | FloatArray) -> FloatArray:
    """Student's t deviate with the tail probability of the normal ``z`` ≥ 0; infinite for df < 1."""
    values, place = np.unique(np.asarray(df), return_inverse=True)
    found = np.where(values >= 1, -stdtrit(np.maximum(values, 1), ndtr(-z)), np.inf)
    return np.asarray(found[place].reshape(np.shape(df)))
