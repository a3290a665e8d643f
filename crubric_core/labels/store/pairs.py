"""How often pairs of judges disagree on each rubric, from sums that a database computes (docs/method.md §2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...types import FloatArray, IntArray


@dataclass(frozen=True)
class PairCounts:
    """Judge pairs on each of J rubrics, over the cells with two labels or more.

    n_pairs: (J,) number of pairs of labels on the same cell; 0 if no cell has two labels.
    agree_share: (J,) sum over the cells of the share of agreeing pairs; from 0 to the number of such cells.
    agree_squares: (J,) sum over the cells of the square of that share.
    discordance: (J,) D_j, sum over the pairs of squared level difference / (L - 1)²; if binary, the discordant pairs.
    chance: (J,) E_j, the expected D_j if the rubric's labels were randomly permuted; if binary, 2 p (1 - p) n_pairs.
    NaN if the rubric has no label.
    """

    n_pairs: IntArray
    agree_share: FloatArray
    agree_squares: FloatArray
    discordance: FloatArray
    chance: FloatArray


@dataclass(frozen=True)
class CellSums:
    """One row for each rubric and number of labels on a cell; all arrays (n,).

    rubric: position in 0..J-1. labels: known labels on one cell. cells: how many such cells. agreeing: agreeing pairs
    in all of them; agreeing_squares: sum of the squares of their number on one cell. gap: sum over the pairs of squared
    level differences. total, squares: sums of levels, and of their squares, over all labels.
    """

    rubric: IntArray
    labels: IntArray
    cells: IntArray
    agreeing: FloatArray
    agreeing_squares: FloatArray
    gap: FloatArray
    total: FloatArray
    squares: FloatArray


def pair_counts(sums: CellSums, levels: IntArray) -> PairCounts:
    """The pair counts of J rubrics from the sums; E_j = 2 var(level) / (L - 1)² × pairs. levels: (J,) numbers L."""

    def by_rubric(values: FloatArray | IntArray) -> FloatArray:
        return np.bincount(sums.rubric, values.astype(np.float64), minlength=len(levels)).astype(np.float64)

    pairs = sums.labels * (sums.labels - 1) // 2
    n_pairs, n_labels = by_rubric(pairs * sums.cells), by_rubric(sums.labels * sums.cells)
    unit = np.maximum(levels - 1, 1) ** 2
    known = np.where(n_labels > 0, n_labels, np.nan)
    variance = (n_labels * by_rubric(sums.squares) - by_rubric(sums.total) ** 2) / known**2
    return PairCounts(
        n_pairs=n_pairs.astype(np.int64),
        agree_share=by_rubric(sums.agreeing / np.maximum(pairs, 1)),
        agree_squares=by_rubric(sums.agreeing_squares / np.maximum(pairs, 1) ** 2),
        discordance=by_rubric(sums.gap) / unit,
        chance=2 * variance * n_pairs / unit,
    )
