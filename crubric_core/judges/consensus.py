"""The panel's label, as array functions equivalent to the SQL in labels/store/reduce.py (docs/method.md §1, §3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..settings import Tie
from ..types import BoolArray, FloatArray

if TYPE_CHECKING:
    from ..labels.store.reduction import Reduction

TIES = {"unknown": np.nan, "fail": 0.0, "pass": 1.0}


def scale_map(levels: FloatArray, n_levels: ArrayLike) -> FloatArray:
    """Pass (1) iff level >= (L - 1) / 2, else fail (0); NaN stays.

    ``levels`` holds 0..L-1 in any shape; ``n_levels`` is L, broadcast against it.
    """
    passed = (2 * levels >= np.asarray(n_levels) - 1).astype(np.float64)
    return np.where(np.isnan(levels), np.nan, passed)


def majority(panel: FloatArray, tie: Tie = "unknown") -> FloatArray:
    """Strict majority over the last axis of 0/1 labels with NaN unknown; NaN without a label, a tie by ``tie``."""
    known = np.sum(~np.isnan(panel), axis=-1)
    passed = np.nansum(panel, axis=-1)
    even = np.where(known > 0, TIES[tie], np.nan)
    return np.where(2 * passed > known, 1.0, np.where(2 * passed < known, 0.0, even))


def median_low(panel: FloatArray) -> FloatArray:
    """Median over the last axis, the lower one of an even number; NaN where there is no label."""
    if not panel.shape[-1]:
        return np.full(panel.shape[:-1], np.nan)
    known = np.sum(~np.isnan(panel), axis=-1, keepdims=True)
    middle = np.maximum(known - 1, 0) // 2
    lower: FloatArray = np.take_along_axis(np.sort(panel, axis=-1), middle, axis=-1)[..., 0]  # NaN sorts last
    return lower


def baseline_mask(reduction: Reduction) -> BoolArray:
    """(J,) rubrics without disagreement on any instance that have both a pass and a fail (def:baseline)."""
    passed = reduction.y
    if reduction.response == "ordered":
        passed = scale_map(reduction.y, reduction.levels)
    discriminating = np.any(passed == 1, axis=0) & np.any(passed == 0, axis=0)
    return np.asarray(reduction.unanimous & discriminating)
