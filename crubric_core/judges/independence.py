"""Do judges err together (assumption A3)? Correlations of their errors, given the truth (METHOD §5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from .resampling import Bootstrap
from .votes import leave_one_out_majority

FEWEST_UNANCHORED = 4


@dataclass(frozen=True)
class ResidualCorrelation:
    """K judges, pair by pair; all (K, K), NaN on the diagonal and where it cannot be computed.

    correlation: of the errors left after each judge's mean error on true passes and true fails, in [-1, 1]; 0 where
    judges err independently. low, high: percentile interval over rubrics, corrected for the number of pairs.
    n_cells: cells that both labelled. flagged: low is above ``threshold``. reference: what errors are measured against.
    """

    correlation: FloatArray
    low: FloatArray
    high: FloatArray
    n_cells: IntArray
    flagged: BoolArray
    reference: Literal["anchors", "leave_one_out", "none"]


def residual_correlation(
    panel: FloatArray,
    anchors: FloatArray | None = None,
    bootstrap: Bootstrap | None = None,
    threshold: float = 0.1,
) -> ResidualCorrelation:
    """Correlation of judges' errors on 0/1 labels (M, J, K) against anchors (M, J), else the other judges' majority.

    A careless judge errs more often on passes or on fails, which alone would correlate two independent judges; so
    the mean error of either class is taken out. Fewer than four judges without anchors say nothing: of three, two
    never err on one cell by this measure, whatever they share.
    """
    n_judges = panel.shape[2]
    anchored = anchors is not None and bool((~np.isnan(anchors)).any())
    if not anchored and n_judges < FEWEST_UNANCHORED:
        unknown = np.full((n_judges, n_judges), np.nan)
        none = np.zeros(unknown.shape, dtype=np.int64)
        return ResidualCorrelation(unknown, unknown, unknown, none, none > 0, "none")
    truth = anchors[:, :, None] if anchored and anchors is not None else leave_one_out_majority(panel)
    residual = _residuals(panel, np.broadcast_to(truth, panel.shape))
    known = (~np.isnan(residual)).astype(np.float64)
    filled = np.nan_to_num(residual)
    products = np.einsum("ijk,ijl->jkl", filled, filled)
    squares = np.einsum("ijk,ijl->jkl", filled**2, known)
    how = bootstrap or Bootstrap()
    drawn = how.counts(panel.shape[1]).astype(np.float64)
    draws = _correlate(np.tensordot(drawn, products, axes=1), np.tensordot(drawn, squares, axes=1))
    low, high = how.interval(draws, comparisons=n_judges * (n_judges - 1) // 2)
    return ResidualCorrelation(
        correlation=_correlate(products.sum(axis=0), squares.sum(axis=0)),
        low=low,
        high=high,
        n_cells=np.einsum("ijk,ijl->kl", known, known).astype(np.int64),
        flagged=low > threshold,
        reference="anchors" if anchored else "leave_one_out",
    )


def _residuals(panel: FloatArray, truth: FloatArray) -> FloatArray:
    """(M, J, K) labels minus the judge's mean label where the truth is the same; NaN unless both are known."""
    out = np.full(panel.shape, np.nan)
    for label in (0.0, 1.0):
        cells = (truth == label) & ~np.isnan(panel)
        n = cells.sum(axis=(0, 1))
        mean = np.where(cells, panel, 0).sum(axis=(0, 1)) / np.maximum(n, 1)
        out = np.where(cells, panel - mean, out)
    return out


def _correlate(products: FloatArray, squares: FloatArray) -> FloatArray:
    """(..., K, K) sums of r_k r_l, and of r_k² over the cells of l → correlations; NaN on the diagonal."""
    scale = np.sqrt(squares * np.swapaxes(squares, -1, -2))
    off = ~np.eye(products.shape[-1], dtype=bool)
    return np.divide(products, scale, out=np.full(products.shape, np.nan), where=(scale > 0) & off)
