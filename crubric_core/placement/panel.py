"""A panel's agreement and each judge's leniency, compared with those of the calibration (docs/method.md §13).

The scale of a bank is that of the judges who calibrated it. Where new labels come from stricter judges, or from
judges who agree less, an ability is off by an amount that no interval shows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from ..types import FloatArray, IntArray

FEWEST = 5  # queries below which no difference is tested


@dataclass(frozen=True)
class PanelRecord:
    """What K judges did on B rubrics.

    agreement: (B,) share of pairs of labels on a cell that are equal; NaN without a pair. leniency: (B, K) mean over
    the systems of a judge's label less the mean of the others' on the same cell, as a share of the scale.
    """

    judges: tuple[str, ...]
    agreement: FloatArray
    leniency: FloatArray


@dataclass(frozen=True)
class Drift:
    """A difference from the calibration: its mean over n queries and its p-value (t, queries as units)."""

    difference: float
    p_value: float
    n: int


def panel_record(judges: tuple[str, ...], panel: FloatArray, levels: IntArray) -> PanelRecord:
    """From labels (M, B, K) as the model reads them. levels: (B,) of each rubric."""
    return PanelRecord(judges, _agreement(panel), _leniency(panel, levels))


def _agreement(panel: FloatArray) -> FloatArray:
    known = np.isfinite(panel)
    first, second = np.triu_indices(panel.shape[2], 1)
    both = known[:, :, first] & known[:, :, second]
    same = both & (panel[:, :, first] == panel[:, :, second])
    return _share(same.sum(axis=(0, 2)), both.sum(axis=(0, 2)))


def _leniency(panel: FloatArray, levels: IntArray) -> FloatArray:
    share = panel / (levels - 1)[None, :, None]
    known = np.isfinite(share)
    value = np.where(known, share, 0.0)
    others = known.sum(axis=2, keepdims=True) - known
    rest = np.divide(
        value.sum(axis=2, keepdims=True) - value, others, out=np.zeros_like(value), where=others > 0
    )
    seen = known & (others > 0)
    return _share(np.where(seen, value - rest, 0.0).sum(axis=0), seen.sum(axis=0))


def _share(total: FloatArray | IntArray, count: IntArray) -> FloatArray:
    found = np.full(total.shape, np.nan)
    np.divide(total, count, out=found, where=count > 0)
    return found


def drift(new: FloatArray, old: FloatArray, unit: IntArray) -> Drift | None:
    """The mean difference of two values (B,) over the rubrics that have both, tested with queries as units.

    unit: (B,) query of each rubric. None where fewer than FEWEST queries have both.
    """
    known = np.flatnonzero(np.isfinite(new) & np.isfinite(old))
    queries, at = np.unique(unit[known], return_inverse=True)
    n = len(queries)
    if n < FEWEST:
        return None
    sums = np.bincount(at, new[known] - old[known])
    mean = float(sums.sum() / len(known))
    rest = sums - mean * np.bincount(at)
    se = float(np.sqrt((rest**2).sum() * n / (n - 1))) / len(known)
    p = 2 * float(stdtr(n - 1, -abs(mean) / se)) if se > 0 else float(mean == 0)
    return Drift(mean, p, n)
