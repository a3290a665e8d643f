"""Tiers and ranks by counting separated systems (docs/method.md §10)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..types import BoolArray, FloatArray

DECIMALS = 9  # to which estimates of alike systems are equal, although other sums led to them


def tiers_by_first(estimate: FloatArray, separated: BoolArray) -> FloatArray:
    """(M,) tier from 1: from the top, one starts at the first system that is separated from the current tier's first.

    No system of a tier is then separated from the tier's first. Equal estimates keep their order.
    """
    order = np.argsort(-estimate, kind="stable")
    tiers, tier = np.ones(len(order)), 1
    first = order[0] if len(order) else -1
    for i in order:
        if separated[first, i]:
            tier, first = tier + 1, i
        tiers[i] = tier
    return tiers


def tiers_by_neighbour(estimate: FloatArray, separated: BoolArray) -> FloatArray:
    """(M,) tier from 1: one starts at each system that is separated from the next one above (the paper's rule).

    NaN where ``estimate`` is. Systems of one tier may be separated from each other where the chain is long.
    """
    order = np.argsort(-estimate, kind="stable")[: np.count_nonzero(np.isfinite(estimate))]
    tiers = np.full(len(estimate), np.nan)
    tiers[order] = np.cumsum(np.append(True, separated[order[:-1], order[1:]])[: len(order)])
    return tiers


def ranks_by_counting(
    estimate: FloatArray, separated: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(M,) rank (estimates equal to 9 decimals share the better), least and greatest rank that separated pairs allow.

    Least: 1 + systems separated above. Greatest: M - systems separated below.
    """
    rank = np.asarray(
        pd.Series(np.round(estimate, DECIMALS)).rank(method="min", ascending=False), dtype=float
    )
    above = separated & (estimate[None, :] > estimate[:, None])
    below = separated & (estimate[None, :] < estimate[:, None])
    return rank, 1.0 + above.sum(axis=1), float(len(estimate)) - below.sum(axis=1)


def rank_shares(draws: FloatArray) -> FloatArray:
    """P(rank of system i ≤ k) in row i, column k - 1, over the draws (R, M), which hold no ties → (M, M)."""
    replicates, size = draws.shape
    order = np.argsort(-draws, axis=1)
    counts = np.bincount((order * size + np.arange(size)).ravel(), minlength=size * size).reshape(size, size)
    return counts.cumsum(axis=1) / replicates
