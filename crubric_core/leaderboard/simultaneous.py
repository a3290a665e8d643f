"""How large the largest of all pairs' studentised differences is when nothing differs (docs/method.md §10).

Hothorn, T., Bretz, F. & Westfall, P. (2008), Simultaneous inference in general parametric models, Biometrical
Journal 50, 346-363.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from ..types import FloatArray, IntArray

BLOCK = 20_000  # numbers at a time: their pairs stay in the processor's cache


def largest_differences(draws: FloatArray, pair_sd: FloatArray) -> FloatArray:
    """(R,) max over pairs i < k of |Z_i - Z_k| / sd_ik, of draws Z (R, M) and sd (M, M); pairs of sd 0 do not count.

    In single precision: half the time, and 1e-6 of a quantile of random draws.
    """
    precision = np.divide(1.0, pair_sd, out=np.zeros_like(pair_sd), where=pair_sd > 0).astype(np.float32)
    largest, step = np.zeros(len(draws), dtype=np.float32), max(BLOCK // max(draws.shape[1], 1), 500)
    for start in range(0, len(draws), step):
        block = np.ascontiguousarray(draws[start : start + step].T, dtype=np.float32)
        most = largest[start : start + step]
        for i in range(len(block) - 1):
            apart = block[i + 1 :] - block[i]
            np.abs(apart, out=apart)
            apart *= precision[i, i + 1 :, None]
            np.maximum(most, apart.max(axis=0), out=most)
    return largest.astype(float)


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
