"""How large the largest of all pairs' studentised differences is when nothing differs (docs/method.md §10).

Hothorn, T., Bretz, F. & Westfall, P. (2008), Simultaneous inference in general parametric models, Biometrical
Journal 50, 346-363.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from ..compiled import compiled
from ..types import FloatArray, IntArray

Floats = NDArray[np.float32]

BLOCK = 60_000  # numbers at a time: their pairs stay in the processor's cache
WIDTH = 12  # systems of a set, of whose pairs one number bounds all
FEW = 4 * WIDTH  # with fewer systems, sets save nothing


def largest_differences(draws: FloatArray, pair_sd: FloatArray) -> FloatArray:
    """(R,) max over pairs i < k of |Z_i - Z_k| / sd_ik, of draws Z (R, M) and sd (M, M); pairs of sd 0 do not count.

    In single precision: half the time, and 1e-6 of a quantile of random draws. Of many systems, only those pairs are
    computed that can be the largest: see ``_by_sets``.
    """
    precision = np.divide(1.0, pair_sd, out=np.zeros_like(pair_sd), where=pair_sd > 0).astype(np.float32)
    size = draws.shape[1]
    found, step = np.zeros(len(draws), dtype=np.float32), max(BLOCK // max(size, 1), 500)
    # A set's pairs should have much the same precision.
    order = np.argsort(pair_sd.sum(axis=1), kind="stable")
    for start in range(0, len(draws), step):
        block, part = draws[start : start + step].astype(np.float32), found[start : start + step]
        if size < FEW:
            part[:] = _of_all_pairs(np.ascontiguousarray(block.T), precision)
        else:
            part[:] = _by_sets(block[:, order], precision[np.ix_(order, order)])
    return found.astype(float)


@compiled
def _of_all_pairs(z: Floats, precision: Floats) -> Floats:
    """(R,) the largest difference, of z (M, R)."""
    largest = np.zeros(z.shape[1], dtype=np.float32)
    for i in range(len(z)):
        for k in range(i + 1, len(z)):
            for draw in range(z.shape[1]):
                apart = abs(z[i, draw] - z[k, draw]) * precision[i, k]
                largest[draw] = max(largest[draw], apart)
    return largest


def _by_sets(z: Floats, precision: Floats) -> Floats:
    """(R,) the same of z (R, M), from few pairs of sets of WIDTH systems.

    No pair between two sets is further apart than the sets' ends, nor more precise than their most precise pair. A
    product of rounded numbers never falls when a factor rises, so that the bound holds to the last digit.
    """
    sets = -(-z.shape[1] // WIDTH)
    beyond = sets * WIDTH - z.shape[1]  # the last set is filled with copies of a system, of precision 0
    z = np.pad(z, ((0, 0), (0, beyond)), mode="edge").reshape(len(z), sets, WIDTH)
    padded = np.pad(precision, ((0, beyond), (0, beyond))).reshape(sets, WIDTH, sets, WIDTH)
    of_sets = np.ascontiguousarray(padded.swapaxes(1, 2))
    most, first, second = of_sets.max(axis=(2, 3)), *np.triu_indices(sets)
    high, low = (np.ascontiguousarray(ends.T) for ends in (z.max(axis=2), z.min(axis=2)))
    bounds = np.empty((len(first), len(z)), dtype=np.float32)
    for a, start in enumerate(np.flatnonzero(first == second).tolist()):
        part = np.subtract(high[a], low[a:], out=bounds[start : start + sets - a])
        np.maximum(part, high[a:] - low[a], out=part)
        part *= most[a, a:, None]

    def between(draw: IntArray, pair: IntArray) -> Floats:
        a, b = first[pair], second[pair]
        apart = z[draw, a][:, :, None] - z[draw, b][:, None, :]
        np.abs(apart, out=apart)
        apart *= of_sets[a, b]
        return np.asarray(apart.reshape(len(draw), -1).max(axis=1))

    largest = between(np.arange(len(z)), bounds.argmax(axis=0))
    pair, draw = np.nonzero(bounds > largest)
    step = BLOCK // WIDTH
    for start in range(0, len(draw), step):
        some = draw[start : start + step]
        np.maximum.at(largest, some, between(some, pair[start : start + step]))
    return largest


def threshold(largest: FloatArray, confidence: float) -> float:
    """The order statistic of ``largest`` (R,) below which lies at least ``confidence`` of a further draw.

    Infinite where R is too small for that.
    """
    place = int(np.ceil((len(largest) + 1) * confidence - 1e-9))
    return float(np.sort(largest)[place - 1]) if place <= len(largest) else float("inf")


def adjusted_p(z: FloatArray, largest: FloatArray) -> FloatArray:
    """(…,) P(largest ≥ z), (1 + draws at least as large) / (R + 1): at most 1 - confidence iff z > ``threshold``."""
    at_least = len(largest) - np.searchsorted(np.sort(largest), z, side="left")
    return np.asarray((1 + at_least) / (len(largest) + 1))


def as_normal(t: FloatArray, df: IntArray | FloatArray) -> FloatArray:
    """The normal deviate with the upper tail probability of Student's ``t`` ≥ 0 with ``df`` degrees; 0 for df < 1."""
    return np.where(df >= 1, -ndtri(stdtr(np.maximum(df, 1), -t)), 0.0)


def as_student(z: float, df: IntArray | FloatArray) -> FloatArray:
    """The deviate of Student's t with the upper tail probability of the normal ``z`` ≥ 0; infinite for df < 1."""
    values, place = np.unique(np.asarray(df), return_inverse=True)
    found = np.where(values >= 1, -stdtrit(np.maximum(values, 1), ndtr(-z)), np.inf)
    return np.asarray(found[place].reshape(np.shape(df)))
