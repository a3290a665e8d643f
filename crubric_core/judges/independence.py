"""Whether judges err together (assumption A3): correlations of their errors, given the truth (docs/method.md §5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..intervals import cluster_sums, coefficient_interval, effective_clusters
from ..types import BoolArray, FloatArray, IntArray
from .votes import leave_one_out_majority

FEWEST_UNANCHORED = 4
SIMULATIONS = 5
CORRECTIONS = 6  # of the simulated judges' rates
SHARED = 0.1  # correlation beyond that of independent judges from which errors count as shared


@dataclass(frozen=True)
class ResidualCorrelation:
    """Correlations of errors for each pair of K judges; all (K, K), NaN on the diagonal and where unknown.

    correlation: of the errors left after each judge's mean error on true passes and true fails, in [-1, 1].
    expected: the correlation that independent judges with the same rates would show; 0 against anchors. low, high:
    interval of correlation over queries, simultaneous for all pairs. n_cells: cells that both labelled.
    flagged: whether low exceeds expected by more than SHARED. reference: the truth against which errors are measured.
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
    cluster: IntArray | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> ResidualCorrelation:
    """Correlation of judges' errors on 0/1 labels (M, J, K) against anchors (M, J), else the other judges' majority.

    cluster: (J,) the query of each rubric, over which intervals are computed (a judge who is strict on one query is
    strict on all of its rubrics); by default the rubric itself. seed: for the simulated independent judges.
    A careless judge errs more often on passes or on fails, which alone would correlate two independent judges, so the
    mean error in each class is subtracted. A wrong majority makes two right judges appear to err together, so the
    correlation of simulated independent judges is reported too. With fewer than four judges and no anchors all values
    are NaN: of three judges, two never err on one cell by this measure, whatever they share.
    """
    anchored = anchors is not None and bool((~np.isnan(anchors)).any())
    if not anchored and panel.shape[2] < FEWEST_UNANCHORED:
        return _unknown(panel.shape[2])
    products, squares, known = _moments(panel, anchors if anchored else None)
    of = np.arange(panel.shape[1]) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    by_query = [cluster_sums(moments, of) for moments in (products, squares, known)]
    low, high = _interval(by_query[0], by_query[1], by_query[2], confidence)
    expected = np.zeros(low.shape) if anchored else _expected(panel, seed)
    return ResidualCorrelation(
        correlation=_correlate(products.sum(axis=0), squares.sum(axis=0)),
        expected=np.where(np.isnan(low), np.nan, expected),
        low=low,
        high=high,
        n_cells=known.sum(axis=0).astype(np.int64),
        flagged=low - expected > SHARED,
        reference="anchors" if anchored else "leave_one_out",
    )


def _unknown(n_judges: int) -> ResidualCorrelation:
    nothing = np.full((n_judges, n_judges), np.nan)
    none = np.zeros(nothing.shape, dtype=np.int64)
    return ResidualCorrelation(nothing, nothing, nothing, nothing, none, none > 0, "none")


def _moments(panel: FloatArray, anchors: FloatArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(J, K, K) each: Σ r_k r_l of the residuals, Σ r_k² over cells labelled by l, number of cells labelled by both."""
    truth = leave_one_out_majority(panel) if anchors is None else anchors[:, :, None]
    residual = _residuals(panel, np.broadcast_to(truth, panel.shape))
    known = (~np.isnan(residual)).astype(np.float64)
    filled = np.nan_to_num(residual)
    there = known.transpose(1, 0, 2)
    products = filled.transpose(1, 2, 0) @ filled.transpose(1, 0, 2)
    return products, (filled**2).transpose(1, 2, 0) @ there, known.transpose(1, 2, 0) @ there


def _interval(
    products: FloatArray, squares: FloatArray, cells: FloatArray, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """(K, K) low and high of each correlation, simultaneous for all pairs, from sums (G, K, K) over G queries.

    A correlation that no query changes gets as many trials as there are errors, estimated by the residuals' squares. No
    interval is narrower than with independent cells.
    """
    left = _correlate(products.sum(axis=0) - products, squares.sum(axis=0) - squares)
    both, total = squares.sum(axis=0), cells.sum(axis=0)
    value, errors = _correlate(products.sum(axis=0), both), np.sqrt(both * both.T)
    pairs = np.argwhere(np.triu(np.isfinite(value), 1))
    low, high = np.full((2, *value.shape), np.nan)
    at_once = 1 - (1 - confidence) / max(len(pairs), 1)
    for k, m in pairs:
        ends = coefficient_interval(
            float(value[k, m]),
            left[:, k, m],
            trials=errors[k, m],
            confidence=at_once,
            most=total[k, m],
            clusters=effective_clusters(cells[:, k, m]),
        )
        low[k, m], high[k, m] = low[m, k], high[m, k] = ends
    return low, high


def _expected(panel: FloatArray, seed: int) -> FloatArray:
    """(K, K) residual correlation of simulated judges who err independently, on these cells.

    They differ from the majority of the others as often as these judges do: their rates are adjusted until this holds,
    as a wrong majority makes a judge look worse. The rates of Dawid–Skene would suit independent judges only: if two
    judges always agree, it takes them as the ones who are right.
    """
    goal, share = _beside_others(panel)
    rates, passing = goal, share
    for _ in range(CORRECTIONS):
        found, found_share = _beside_others(_drawn(panel, rates, passing, np.random.default_rng([seed, 1])))
        rates = np.clip(rates + goal - found, 0.001, 0.999)
        passing = float(np.clip(passing + share - found_share, 0.01, 0.99))
    rng, shown = np.random.default_rng([seed, 1]), []
    for _ in range(SIMULATIONS):
        products, squares, _ = _moments(_drawn(panel, rates, passing, rng), None)
        shown.append(_correlate(products.sum(axis=0), squares.sum(axis=0)))
    # In a simulation without errors of a judge, its correlations are undefined: the others are averaged.
    return np.asarray(np.ma.masked_invalid(shown).mean(axis=0).filled(0.0))


def _beside_others(panel: FloatArray) -> tuple[FloatArray, float]:
    """(K, 2) each judge's pass rate on cells that the others' majority fails, and passes; the majority's pass rate."""
    truth = leave_one_out_majority(panel)
    rates = np.stack([_pass_rate(panel, truth == level) for level in (0.0, 1.0)], axis=1)
    return rates, float(np.nanmean(truth)) if np.isfinite(truth).any() else 0.5


def _drawn(panel: FloatArray, rates: FloatArray, passing: float, rng: np.random.Generator) -> FloatArray:
    """Simulate independent judges with these pass rates (K, 2), where the panel (M, J, K) has labels."""
    truth = (rng.random(panel.shape[:2]) < passing).astype(np.int64)
    return np.where(np.isnan(panel), np.nan, (rng.random(panel.shape) < rates.T[truth]).astype(np.float64))


def _pass_rate(panel: FloatArray, cells: BoolArray) -> FloatArray:
    """(K,) share of passes among each judge's labels on these cells (M, J, K); 0 without any."""
    known = cells & ~np.isnan(panel)
    return np.asarray(np.where(known, panel, 0).sum(axis=(0, 1)) / np.maximum(known.sum(axis=(0, 1)), 1))


def _residuals(panel: FloatArray, truth: FloatArray) -> FloatArray:
    """(M, J, K) labels minus the judge's mean label on cells with the same truth; NaN unless both are known."""
    out = np.full(panel.shape, np.nan)
    for label in (0.0, 1.0):
        cells = (truth == label) & ~np.isnan(panel)
        out = np.where(cells, panel - _pass_rate(panel, cells), out)
    return out


def _correlate(products: FloatArray, squares: FloatArray) -> FloatArray:
    """Correlations (..., K, K) from sums of r_k r_l, and of r_k² over the cells of l; NaN on the diagonal."""
    scale = np.sqrt(squares * np.swapaxes(squares, -1, -2))
    off = ~np.eye(products.shape[-1], dtype=bool)
    return np.divide(products, scale, out=np.full(products.shape, np.nan), where=(scale > 0) & off)
