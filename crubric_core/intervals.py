"""Percentile intervals of draws, the same for every kernel that has some."""

from __future__ import annotations

import numpy as np

from .types import FloatArray


def percentile_interval(draws: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Equal-tailed percentile interval of each column. draws (R, …) → low, high (…); NaN where a draw is NaN."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    return low, high
