"""Do judges err together (assumption A3)? Correlations of their errors, given the truth (docs/method.md §5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..types import BoolArray, FloatArray, IntArray
from .dawid_skene import dawid_skene
from .resampling import Bootstrap
from .votes import leave_one_out_majority

FEWEST_UNANCHORED = 4
SIMULATIONS = 5
SHARED = 0.1  # correlation beyond that of independent judges from which errors count as shared


@dataclass(frozen=True)
class ResidualCorrelation:
    """K judges, pair by pair; all (K, K), NaN on the diagonal and where it cannot be computed.

    correlation: of the errors left after each judge's mean error on true passes and true fails, in [-1, 1].
    expected: what independent judges with the same rates would show; 0 against anchors. low, high: percentile interval
    of correlation over rubrics, corrected for the number of pairs. n_cells: cells that both labelled.
    flagged: low exceeds expected by more than SHARED. reference: what errors are measured against.
    """

    correlation: FloatArray
    expected: FloatArray
    low: FloatArray
    high: FloatArray
    n_cells: IntArray
    flagged: BoolArray
    reference: Literal["anchors", "leave_one_out", "none"]


def residual_correlation(
    panel: FloatArray,
    anchors: FloatArray | None = None,
    bootstrap: Bootstrap | None = None,
) -> ResidualCorrelation:
    """Correlation of judges' errors on 0/1 labels (M, J, K) against anchors (M, J), else the other judges' majority.

    A careless judge errs more often on passes or on fails, which alone would correlate two independent judges; so
    the mean error of either class is taken out. A majority that is wrong makes two right judges err together; so
    what simulated independent judges show is given with it. With fewer than four judges and no anchors nothing is
    known: of three, two never err on one cell by this measure, whatever they share.
    """
    anchored = anchors is not None and bool((~np.isnan(anchors)).any())
    if not anchored and panel.shape[2] < FEWEST_UNANCHORED:
        return _unknown(panel.shape[2])
    how = bootstrap or Bootstrap()
    products, squares, n_cells = _moments(panel, anchors if anchored else None)
    drawn = how.counts(panel.shape[1]).astype(np.float64)
    draws = _correlate(np.tensordot(drawn, products, axes=1), np.tensordot(drawn, squares, axes=1))
    low, high = how.interval(draws, comparisons=panel.shape[2] * (panel.shape[2] - 1) // 2)
    expected = np.zeros(low.shape) if anchored else _expected(panel, how.seed)
    return ResidualCorrelation(
        correlation=_correlate(products.sum(axis=0), squares.sum(axis=0)),
        expected=np.where(np.isnan(low), np.nan, expected),
        low=low,
        high=high,
        n_cells=n_cells,
        flagged=low - expected > SHARED,
        reference="anchors" if anchored else "leave_one_out",
    )


def _unknown(n_judges: int) -> ResidualCorrelation:
    nothing = np.full((n_judges, n_judges), np.nan)
    none = np.zeros(nothing.shape, dtype=np.int64)
    return ResidualCorrelation(nothing, nothing, nothing, nothing, none, none > 0, "none")


def _moments(panel: FloatArray, anchors: FloatArray | None) -> tuple[FloatArray, FloatArray, IntArray]:
    """Per rubric (J, K, K): Σ r_k r_l, and Σ r_k² over the cells of l, of the residuals; and (K, K) common cells."""
    truth = leave_one_out_majority(panel) if anchors is None else anchors[:, :, None]
    residual = _residuals(panel, np.broadcast_to(truth, panel.shape))
    known = (~np.isnan(residual)).astype(np.float64)
    filled = np.nan_to_num(residual)
    products = filled.transpose(1, 2, 0) @ filled.transpose(1, 0, 2)
    squares = (filled**2).transpose(1, 2, 0) @ known.transpose(1, 0, 2)
    flat = known.reshape(-1, panel.shape[2])
    return products, squares, (flat.T @ flat).astype(np.int64)


def _expected(panel: FloatArray, seed: int) -> FloatArray:
    """The same correlation of judges who err independently, at the rates that Dawid–Skene finds, on the same cells."""
    fit = dawid_skene(panel.reshape(-1, panel.shape[2]), 2, tolerance=1e-7)
    pass_rate = np.nan_to_num(fit.confusion[:, :, 1])
    rng = np.random.default_rng([seed, 1])
    shown = []
    for _ in range(SIMULATIONS):
        truth = (rng.random(panel.shape[:2]) < fit.prior[1]).astype(np.int64)
        labels = (rng.random(panel.shape) < pass_rate.T[truth]).astype(np.float64)
        products, squares, _ = _moments(np.where(np.isnan(panel), np.nan, labels), None)
        shown.append(_correlate(products.sum(axis=0), squares.sum(axis=0)))
    return np.mean(shown, axis=0)


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
