"""Claims about M systems from bootstrap draws of their abilities (docs/method.md §10).

Each pair alone by percentiles, as in the paper, or all pairs simultaneously by the draws' largest studentised
difference.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..intervals import percentile_interval
from ..settings import TierRule
from ..types import FloatArray, IntArray
from .comparisons import open_ends, open_towards_zero
from .inference import Inference, scatter
from .places import ranks_by_counting, tiers_by_first
from .simultaneous import adjusted_p, largest_differences, threshold
from .tiers import equal_where_alike, standings


def infer_from_draws(
    estimate: FloatArray,
    draws: FloatArray,
    *,
    confidence: float = 0.95,
    rule: TierRule = "adjacent",
    holm: bool = False,
    simultaneous: bool = False,
    group: IntArray | None = None,
    saturated: IntArray | None = None,
) -> Inference:
    """Claims as by ``infer``, from abilities (M,) and their bootstrap draws (R, M) over rubrics.

    By default each pair alone by percentiles; tiers, ranks and separation are those of ``standings``, as in the paper.
    simultaneous: the draws' own largest studentised difference gives the threshold, and tiers and ranks are counted as
    in ``infer``; rule and holm are then ignored. group: (M,) systems of different groups are not compared; ranks and
    tiers are within groups; None: one group. saturated: (M,) 1, -1 or 0. The interval of a saturated system is open.
    Systems saturated on the same side, whose draws differ only through missing labels, are equal in each draw; None:
    all 0.
    """
    if saturated is None:
        saturated = np.zeros(len(estimate), dtype=np.int64)
    draws = equal_where_alike(draws, saturated)
    if group is not None and len(np.unique(group[np.isfinite(estimate)])) < 2:
        group = None
    standing = standings(estimate, draws, confidence, rule, holm, group, saturated)
    kept, size = np.flatnonzero(np.isfinite(standing.rank)), len(estimate)
    chosen, theta = draws[:, kept], estimate[kept]
    error, low, high = _percentile_differences(chosen, confidence)
    low, high = open_ends(low, high, saturated[kept])
    if group is not None:
        apart = group[kept, None] != group[kept]
        low[apart], high[apart] = -np.inf, np.inf
    found = Inference(
        estimate=estimate,
        se=scatter(chosen.std(axis=0, ddof=1), kept, size),
        low=standing.theta_low,
        high=standing.theta_high,
        rank=standing.rank,
        rank_low=standing.rank_low,
        rank_high=standing.rank_high,
        tier=standing.tier,
        difference=scatter(theta[:, None] - theta, kept, size),
        difference_se=scatter(error, kept, size),
        difference_low=scatter(low, kept, size),
        difference_high=scatter(high, kept, size),
        p_value=standing.p_value,
        p_simultaneous=np.full((size, size), np.nan),
        separated=standing.separated,
        ahead=standing.ahead,
        rank_probability=standing.rank_probability if group is None else np.full((size, size), np.nan),
        saturated=saturated,
        critical=float("nan"),
        design_effect=float("nan"),
        n_units=0,
        unit="rubric",
        confidence=confidence,
        simultaneous=False,
        method="bootstrap",
        group=group,
    )
    return _all_at_once(found, chosen, kept) if simultaneous else found


def _percentile_differences(
    draws: FloatArray, confidence: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(M, M) sd and ends of the percentile interval of row minus column, from draws (R, M)."""
    size = draws.shape[1]
    error, low, high = (np.empty((size, size)) for _ in range(3))
    for i in range(size):
        apart = draws[:, [i]] - draws
        error[i] = apart.std(axis=0, ddof=1)
        low[i], high[i] = percentile_interval(apart, confidence)
    return error, low, high


def _all_at_once(alone: Inference, draws: FloatArray, kept: IntArray) -> Inference:
    """Bootstrap claims that hold simultaneously for all pairs of the ranked systems ``kept``."""
    at, size = np.ix_(kept, kept), len(alone.estimate)
    group = None if alone.group is None else alone.group[kept]
    linked = np.ones_like(alone.separated[at]) if group is None else group[:, None] == group
    difference, error = alone.difference[at], alone.difference_se[at]
    compared = np.where(linked, error, 0.0)
    largest = largest_differences(draws - draws.mean(axis=0), compared)
    critical = threshold(largest, alone.confidence)
    z = np.divide(np.abs(difference), compared, out=np.zeros_like(error), where=compared > 0)
    side = alone.saturated[kept]
    separated = (z > critical) & ~open_towards_zero(difference, side[:, None], side)
    half = np.multiply(critical, error, out=np.where(linked, 0.0, np.inf), where=compared > 0)
    low, high = open_ends(difference - half, difference + half, side)
    _, rank_low, rank_high = ranks_by_counting(alone.estimate[kept], separated, group)
    return replace(
        alone,
        rank_low=scatter(rank_low, kept, size),
        rank_high=scatter(rank_high, kept, size),
        tier=scatter(tiers_by_first(alone.estimate[kept], separated, group), kept, size),
        difference_low=scatter(low, kept, size),
        difference_high=scatter(high, kept, size),
        p_simultaneous=scatter(adjusted_p(z, largest), kept, size),
        separated=scatter(separated, kept, size) == 1,
        critical=critical,
        simultaneous=True,
    )
