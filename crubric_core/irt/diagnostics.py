"""Does the model hold? Item-rest correlation here; residuals, Q3 and item fit on top of it (METHOD §12)."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray


def item_rest_correlation(y: FloatArray) -> FloatArray:
    """(J,) Pearson correlation of each rubric with the systems' mean on all the other rubrics they were labelled on.

    ``y`` is (M, J) on any common scale, NaN unknown. NaN where fewer than three systems are known or one side does
    not vary. A negative value marks a rubric that weaker systems pass more often (aberrant).
    """
    known = ~np.isnan(y)
    filled = np.where(known, y, 0.0)
    others = known.sum(axis=1, keepdims=True) - known
    with_rest = known & (others > 0)
    rest = np.where(with_rest, (filled.sum(axis=1, keepdims=True) - filled) / np.maximum(others, 1), 0.0)
    n = with_rest.sum(axis=0)
    item = np.where(with_rest, filled, 0.0)
    enough = np.maximum(n, 1)
    item_gap = np.where(with_rest, item - item.sum(axis=0) / enough, 0.0)
    rest_gap = np.where(with_rest, rest - rest.sum(axis=0) / enough, 0.0)
    scale = np.sqrt((item_gap**2).sum(axis=0) * (rest_gap**2).sum(axis=0))
    defined = (n >= 3) & (scale > 1e-12)
    return np.where(defined, (item_gap * rest_gap).sum(axis=0) / np.where(defined, scale, 1.0), np.nan)
