"""Which differences between systems the bootstrap supports: tiers, rank intervals, separation (docs/method.md §10).

A system is ranked if its ability and all its draws are finite. A system without any label is not: its rank, tier and
intervals are NaN, it is separated from no other, and the others are ranked as if it did not exist.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import pandas as pd

from ..intervals import percentile_interval
from ..settings import TierRule
from ..types import BoolArray, FloatArray, IntArray
from .comparisons import open_towards_zero
from .places import level_where_alike, tiers_by_first
from .separation import PairedDifferences, holm_rejects, separation, with_holm


@dataclass(frozen=True)
class Standing:
    """Tiers, ranks and separation of M systems; floats, NaN for a system that is not ranked.

    theta_low, theta_high: (M,) percentile interval of the ability.
    rank: (M,) from 1, by ability; equal abilities share the better rank.
    rank_low, rank_high: (M,) interval of the rank over the replicates, whole numbers.
    rank_probability: (M, M) P(rank ≤ k) of row i in column k − 1.
    tier: (M,) whole numbers from 1.
    ahead: (M, M) share of the replicates in which the row's system is above the column's.
    p_value: (M, M) of the paired difference, before any correction.
    separated: (M, M) True where the paired difference excludes 0, after Holm's correction if requested.
    """

    theta_low: FloatArray
    theta_high: FloatArray
    rank: FloatArray
    rank_low: FloatArray
    rank_high: FloatArray
    rank_probability: FloatArray
    tier: FloatArray
    ahead: FloatArray
    p_value: FloatArray
    separated: BoolArray


def unranked(standing: Standing) -> Standing:
    """The standing with only its intervals of ability; NaN or False in all fields that compare systems."""
    unknown = ("rank", "rank_low", "rank_high", "rank_probability", "tier", "ahead", "p_value")
    return replace(
        standing,
        **{name: np.full_like(getattr(standing, name), np.nan) for name in unknown},
        separated=np.zeros_like(standing.separated),
    )


def standings(
    theta: FloatArray,
    draws: FloatArray,
    confidence: float = 0.95,
    rule: TierRule = "adjacent",
    holm: bool = False,
    group: IntArray | None = None,
    saturated: IntArray | None = None,
) -> Standing:
    """Tiers, ranks and separation from abilities theta (M,) and their bootstrap draws (R, M).

    Tiers are from 1, best first. ``adjacent``: a tier starts where the paired difference to the next system above
    excludes 0; Holm corrects for these M − 1 tests. ``leader``: where the difference to the tier's first system
    excludes 0; Holm corrects for all pairs, since the outcomes determine which of them are tested. group: (M,) systems
    of different groups are not compared, and each group has its own ranks and tiers; None: one group. saturated: (M,) 1
    if a system passes all, -1 if it fails all, else 0: its interval is open, and two systems saturated on the same side
    are not separated; None: all 0.
    """
    side = np.zeros(len(theta), dtype=np.int64) if saturated is None else saturated
    theta, draws = _ranked_alone(theta, equal_where_alike(draws, side))
    of = np.zeros(len(theta), dtype=np.int64) if group is None else group
    members = [np.where(of == each, 0.0, np.nan) for each in np.unique(of[np.isfinite(theta)])]
    if not members:
        members = [np.full(len(theta), np.nan)]
    return _together(
        [_standing(theta + own, draws + own, side, confidence, rule, holm=holm) for own in members]
    )


def _standing(
    theta: FloatArray, draws: FloatArray, side: IntArray, confidence: float, rule: TierRule, *, holm: bool
) -> Standing:
    """The standing of the systems of one group; the others are NaN. side: (M,) on which each is saturated."""
    theta_low, theta_high = percentile_interval(draws, confidence)
    rank_low, rank_high = rank_intervals(draws, confidence)
    alone, ranked = separation(draws, confidence), np.isfinite(theta)
    reach_zero = open_towards_zero(theta[:, None] - theta, side[:, None], side)
    alone = replace(alone, separated=alone.separated & ~reach_zero)
    tested = with_holm(alone, confidence) if holm else alone
    return Standing(
        theta_low=np.where(ranked & (side < 0), -np.inf, theta_low),
        theta_high=np.where(ranked & (side > 0), np.inf, theta_high),
        rank=_ranks(level_where_alike(theta, side)[None, :])[0][0],
        rank_low=rank_low,
        rank_high=rank_high,
        rank_probability=rank_probabilities(draws),
        tier=_tiers(theta, alone, rule, confidence, holm),
        ahead=tested.ahead,
        p_value=tested.p_value,
        separated=tested.separated,
    )


def _together(groups: list[Standing]) -> Standing:
    """Merge the standings of groups into one; each system is ranked in at most one of them."""
    found = {each.name: [getattr(standing, each.name) for standing in groups] for each in fields(Standing)}
    separated = np.logical_or.reduce(found.pop("separated"))
    return Standing(**{name: np.fmax.reduce(parts) for name, parts in found.items()}, separated=separated)


def equal_where_alike(draws: FloatArray, saturated: IntArray) -> FloatArray:
    """Draws (R, M) with the draws of systems saturated on the same side replaced by their mean.

    Such systems differ only through missing labels.
    """
    draws, ranked = draws.copy(), np.isfinite(draws).all(axis=0)
    for side in (-1, 1):
        if (alike := ranked & (saturated == side)).any():
            draws[:, alike] = draws[:, alike].mean(axis=1, keepdims=True)
    return draws


def _ranked_alone(theta: FloatArray, draws: FloatArray) -> tuple[FloatArray, FloatArray]:
    ranked = np.isfinite(theta) & np.isfinite(draws).all(axis=0)
    return np.where(ranked, theta, np.nan), np.where(ranked, draws, np.nan)


def _tiers(
    theta: FloatArray, tested: PairedDifferences, rule: TierRule, confidence: float, holm: bool
) -> FloatArray:
    order = np.argsort(-theta, kind="stable")[: np.count_nonzero(np.isfinite(theta))]
    tiers = np.full(theta.shape, np.nan)
    if not order.size:
        return tiers
    if rule == "leader":
        tested = with_holm(tested, confidence) if holm else tested
        tiers[order] = tiers_by_first(theta[order], tested.separated[np.ix_(order, order)])
        return tiers
    pairs = order[:-1], order[1:]
    starts = tested.separated[pairs]
    if holm:
        starts &= holm_rejects(tested.p_value[pairs], 1 - confidence)
    tiers[order] = np.cumsum(np.append(True, starts))
    return tiers


def rank_intervals(draws: FloatArray, confidence: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """(M,) low and high of each system's rank in 1 … M: a percentile interval in whole ranks, from draws (R, M).

    Systems tied in a replicate share a range of ranks: low uses the best of these, high the worst.
    """
    tail = (1 - confidence) / 2
    best, worst = _ranks(draws)
    low: FloatArray = np.quantile(best, tail, axis=0, method="lower")
    high: FloatArray = np.quantile(worst, 1 - tail, axis=0, method="higher")
    return low, high


def rank_probabilities(draws: FloatArray) -> FloatArray:
    """(M, M) P(rank of system i ≤ k) in row i, column k − 1, from draws (R, M); NaN rows where not ranked.

    Systems tied in a replicate share its ranks evenly, so that column k sums to k if at least k systems are ranked.
    """
    replicates, systems = draws.shape
    best, worst = _ranks(draws)
    ranked = np.flatnonzero(np.isfinite(best).all(axis=0))
    low, high = best[:, ranked].astype(np.int64), worst[:, ranked].astype(np.int64)
    # Each replicate puts 1 / (high - low + 1) on every rank from low to high: a step up, and a step down after.
    steps = np.zeros((systems, systems + 1))
    rows, share = np.broadcast_to(ranked, low.shape), 1 / (high - low + 1)
    np.add.at(steps, (rows, low - 1), share)
    np.add.at(steps, (rows, high), -share)
    reached = np.full((systems, systems), np.nan)
    reached[ranked] = np.clip(steps.cumsum(axis=1).cumsum(axis=1)[ranked, :-1] / replicates, 0, 1)
    return reached


def _ranks(draws: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Best and worst rank of each system in each replicate, (R, M) each; NaN for systems that are not ranked."""
    ranked = np.isfinite(draws).all(axis=0)
    best, worst = np.full(draws.shape, np.nan), np.full(draws.shape, np.nan)
    drawn = pd.DataFrame(draws[:, ranked])
    best[:, ranked] = drawn.rank(axis=1, method="min", ascending=False)
    worst[:, ranked] = drawn.rank(axis=1, method="max", ascending=False)
    return best, worst
