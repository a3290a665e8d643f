"""Tiers and ranks by counting separated systems (docs/method.md §10)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..ranks import TIE_DIGITS
from ..settings import TierRule
from ..types import BoolArray, FloatArray, IntArray


def tiers_by(rule: TierRule, estimate: FloatArray, separated: BoolArray) -> FloatArray:
    """(M,) tier from 1: by neighbour for the rule "adjacent", else by first; see the functions below."""
    return (tiers_by_neighbour if rule == "adjacent" else tiers_by_first)(estimate, separated)


def tiers_by_first(estimate: FloatArray, separated: BoolArray, group: IntArray | None = None) -> FloatArray:
    """(M,) tier from 1: from the top, a tier starts at the first system separated from the current tier's first.

    So no system of a tier is separated from the tier's first. Equal estimates keep their order. group: (M,) systems of
    different groups are not compared, and each group has its own tiers; None: one group.
    """
    groups = np.zeros(len(estimate), dtype=np.int64) if group is None else group
    tiers = np.ones(len(estimate))
    for each in np.unique(groups):
        members = np.flatnonzero(groups == each)
        order = members[np.argsort(-estimate[members], kind="stable")]
        tier, first = 1, order[0]
        for i in order:
            if separated[first, i]:
                tier, first = tier + 1, i
            tiers[i] = tier
    return tiers


def tiers_by_neighbour(
    estimate: FloatArray, separated: BoolArray, group: IntArray | None = None
) -> FloatArray:
    """(M,) tier from 1: a tier starts at each system that is separated from the next one above (the paper's rule).

    NaN where ``estimate`` is NaN. Systems of one tier may be separated from each other if the tier is long. group: as
    for ``tiers_by_first``.
    """
    groups = np.zeros(len(estimate), dtype=np.int64) if group is None else group
    tiers = np.full(len(estimate), np.nan)
    for each in np.unique(groups):
        members = np.flatnonzero((groups == each) & np.isfinite(estimate))
        order = members[np.argsort(-estimate[members], kind="stable")]
        tiers[order] = np.cumsum(np.append(True, separated[order[:-1], order[1:]])[: len(order)])
    return tiers


def level_where_alike(estimate: FloatArray, saturated: IntArray, group: IntArray | None = None) -> FloatArray:
    """(M,) estimates, made equal for neighbours in the order that are saturated on the same side.

    Their estimates differ only because of the other systems of their folds, and of missing labels. The common value is
    in the middle, where it cannot equal the estimate of another system.
    """
    groups = np.zeros(len(estimate), dtype=np.int64) if group is None else group
    order = np.lexsort((-estimate, groups))
    of, side, value = groups[order], saturated[order], estimate[order]
    alike = (of[1:] == of[:-1]) & (side[1:] == side[:-1]) & (side[1:] != 0) & np.isfinite(value[1:])
    runs = pd.Series(value).groupby(np.cumsum(np.append(True, ~alike))[: len(order)])
    found = np.empty(len(estimate))
    found[order] = (runs.transform("max") + runs.transform("min")) / 2
    return found


def ranks_by_counting(
    estimate: FloatArray,
    separated: BoolArray,
    group: IntArray | None = None,
    saturated: IntArray | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(M,) rank, and the least and greatest rank that the separated pairs allow.

    Estimates equal to 9 decimals share the better rank. Least: 1 + number of systems separated above. Greatest: M -
    number of systems separated below. group: as for ``tiers_by_first``; ranks are then within each, and M is its size.
    saturated: (M,) 1, -1 or 0; neighbours that are saturated on the same side share a rank.
    """
    groups = np.zeros(len(estimate), dtype=np.int64) if group is None else group
    level = estimate if saturated is None else level_where_alike(estimate, saturated, groups)
    within = pd.Series(np.round(level, TIE_DIGITS)).groupby(groups)
    rank, size = (
        np.asarray(found, dtype=float)
        for found in (within.rank(method="min", ascending=False), within.transform("size"))
    )
    above = separated & (estimate[None, :] > estimate[:, None])
    below = separated & (estimate[None, :] < estimate[:, None])
    return rank, 1.0 + above.sum(axis=1), size - below.sum(axis=1)


def rank_shares(draws: FloatArray) -> FloatArray:
    """(M, M) P(rank of system i ≤ k) in row i, column k - 1, from draws (R, M) without ties."""
    replicates, size = draws.shape
    order = np.argsort(-draws, axis=1)
    counts = np.bincount((order * size + np.arange(size)).ravel(), minlength=size * size).reshape(size, size)
    return counts.cumsum(axis=1) / replicates
