"""Agreement of judge pairs beyond chance: one number for each rubric, with any number of judges (docs/method.md §2)."""

from __future__ import annotations

import numpy as np

from ..labels.store.pairs import CellSums, PairCounts, pair_counts
from ..types import FloatArray, IntArray

SHRINKAGE = 10.0
"""Judge pairs of the average rubric that are added to each: a rubric with few pairs leans on all of them."""


def pair_kappa(pairs: PairCounts) -> FloatArray:
    """(J,) kappa_j = 1 - (D_j + 10 D̄) / (E_j + 10 Ē), at most 1; D̄ = ΣD/ΣN, Ē = ΣE/ΣN.

    A rubric without any pair has the kappa of all together. All NaN if no disagreement is possible: all labels of the
    dataset are equal, or no cell has two.
    """
    total = pairs.n_pairs.sum()
    observed, expected = np.nan_to_num(pairs.discordance), np.nan_to_num(pairs.chance)
    if total == 0 or expected.sum() <= 0:
        return np.full(len(observed), np.nan)
    kappa: FloatArray = 1 - (observed + SHRINKAGE * observed.sum() / total) / (
        expected + SHRINKAGE * expected.sum() / total
    )
    return kappa


def panel_pairs(panel: FloatArray, levels: IntArray, tolerance: int = 0) -> PairCounts:
    """Pair counts of labels (M, J, K) of 0..levels - 1, NaN unknown; labels up to ``tolerance`` levels apart agree."""
    known = ~np.isnan(panel)
    n = known.sum(axis=2)
    filled = np.where(known, panel, 0.0)
    total, squares = filled.sum(axis=2), (filled**2).sum(axis=2)
    agreeing = np.zeros(n.shape)
    for k in range(1, panel.shape[2]):
        agreeing += (np.abs(panel[:, :, :k] - panel[:, :, k : k + 1]) <= tolerance).sum(axis=2)
    return pair_counts(
        CellSums(
            rubric=np.broadcast_to(np.arange(panel.shape[1]), n.shape).ravel(),
            labels=n.ravel(),
            cells=np.ones(n.size, dtype=np.int64),
            agreeing=agreeing.ravel(),
            agreeing_squares=(agreeing**2).ravel(),
            gap=(n * squares - total**2).ravel(),
            total=total.ravel(),
            squares=squares.ravel(),
        ),
        levels,
    )
