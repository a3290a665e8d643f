"""A panel with one judge left out, reduced again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import FloatArray, IntArray
from ..settings import Tie
from .consensus import majority, median_low

if TYPE_CHECKING:
    from ..labels.dataset import Reduction


def agreement_counts(panel: FloatArray, tolerance: int = 0) -> tuple[IntArray, IntArray, IntArray]:
    """(n_agree, n_total, max_panel), each (J,), of labels (M, J, K): the twins of the counts in SQL (METHOD §2)."""
    known = (~np.isnan(panel)).sum(axis=2)
    highest = np.where(np.isnan(panel), -np.inf, panel).max(axis=2, initial=-np.inf)
    lowest = np.where(np.isnan(panel), np.inf, panel).min(axis=2, initial=np.inf)
    instance = known >= 2
    gap = np.where(instance, highest, 0) - np.where(instance, lowest, 0)
    agree = instance & (gap <= tolerance)
    return agree.sum(axis=0), instance.sum(axis=0), known.max(axis=0, initial=0)


def without_judge(
    reduction: Reduction, panel: FloatArray, judge: int, tie: Tie = "unknown", tolerance: int = 0
) -> Reduction:
    """What the labels come to without judge 0..K-1 of ``panel`` (M, J, K), on the scale of ``reduction``."""
    rest = np.delete(panel, judge, axis=2)
    ordered = reduction.response == "ordered"
    n_agree, n_total, max_panel = agreement_counts(rest, tolerance if ordered else 0)
    return replace(
        reduction,
        y=_consensus(rest, ordered, tie),
        n_agree=n_agree,
        n_total=n_total,
        max_panel=max_panel,
        n_judges=reduction.n_judges - 1,
        unanimous=n_agree == n_total,
        n_labels=int((~np.isnan(rest)).sum()),
    )


def _consensus(panel: FloatArray, ordered: bool, tie: Tie) -> FloatArray:
    if not panel.shape[2]:
        return np.full(panel.shape[:2], np.nan)
    return median_low(panel) if ordered else majority(panel, tie)
