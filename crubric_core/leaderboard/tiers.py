"""Which differences between systems the bootstrap bears out: tiers, rank intervals, separation (METHOD §10).

A system is ranked if its ability and all its draws are finite. One without any label is not: its rank, tier and
intervals are NaN, it is separated from none, and it takes no place from the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from ..arrays import BoolArray, FloatArray, IntArray
from ..settings import TierRule
from .bootstrap import percentile_interval
from .separation import holm_rejects, separation


@dataclass(frozen=True)
class Standing:
    """Where M systems stand and how sure that is; floats, NaN for a system that is not ranked.

    theta_low, theta_high: (M,) percentile interval of the ability.
    rank: (M,) from 1, by ability; equal abilities share the better rank.
    rank_low, rank_high: (M,) interval of the rank over the replicates, whole numbers.
    rank_probability: (M, M) P(rank ≤ k) of row i in column k − 1.
    tier: (M,) whole numbers from 1.
    ahead: (M, M) share of the replicates in which the row's system is above the column's.
    p_value: (M, M) of the paired difference, before any correction.
    separated: (M, M) True where the paired difference excludes 0, after Holm's correction if asked for.
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


def standings(
    theta: FloatArray,
    draws: FloatArray,
    confidence: float = 0.95,
    rule: TierRule = "adjacent",
    holm: bool = False,
) -> Standing:
    """Tiers, ranks and separation from abilities theta (M,) and their bootstrap draws (R, M)."""
    draws = np.where(np.isfinite(theta), draws, np.nan)
    theta = np.where(np.isfinite(draws).all(axis=0), theta, np.nan)
    theta_low, theta_high = percentile_interval(draws, confidence)
    rank_low, rank_high = rank_intervals(draws, confidence)
    apart = separation(draws, confidence, holm)
    return Standing(
        theta_low=theta_low,
        theta_high=theta_high,
        rank=_ranks(theta[None, :])[0][0],
        rank_low=rank_low,
        rank_high=rank_high,
        rank_probability=rank_probabilities(draws),
        tier=assign_tiers(theta, draws, rule, confidence, holm),
        ahead=apart.ahead,
        p_value=apart.p_value,
        separated=apart.separated,
    )


def assign_tiers(
    theta: FloatArray,
    draws: FloatArray,
    rule: TierRule = "adjacent",
    confidence: float = 0.95,
    holm: bool = False,
) -> FloatArray:
    """Tier of each system, from 1, best first; NaN where theta is. theta (M,), draws (R, M) → (M,).

    ``adjacent``: a tier starts where the paired difference to the next system above excludes 0; Holm corrects for
    these M − 1 tests. ``leader``: where that to the tier's first system does; Holm corrects for all pairs, since
    the tests depend on each other's outcome.
    """
    order = np.argsort(-theta, kind="stable")[: np.count_nonzero(np.isfinite(theta))]
    apart = separation(draws, confidence, holm and rule == "leader")
    tiers = np.full(theta.shape, np.nan)
    if rule == "leader":
        tiers[order] = _tiers_by_leader(order, apart.separated)
        return tiers
    above, below = order[:-1], order[1:]
    starts = apart.separated[above, below]
    if holm:
        starts &= holm_rejects(apart.p_value[above, below], 1 - confidence)
    tiers[order] = 1 + np.cumsum(np.append(np.zeros(min(1, order.size), dtype=bool), starts))
    return tiers


def _tiers_by_leader(order: IntArray, separated: BoolArray) -> IntArray:
    tiers = np.ones(order.size, dtype=np.int64)
    leader = 0
    for k in range(1, order.size):
        starts = separated[order[leader], order[k]]
        leader = k if starts else leader
        tiers[k] = tiers[k - 1] + starts
    return tiers


def rank_intervals(draws: FloatArray, confidence: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Percentile interval of each system's rank, in whole ranks. draws (R, M) → low, high (M,) in 1 … M.

    Systems tied in a replicate may hold any of their ranks: low counts the best of these, high the worst.
    """
    tail = (1 - confidence) / 2
    best, worst = _ranks(draws)
    low: FloatArray = np.quantile(best, tail, axis=0, method="lower")
    high: FloatArray = np.quantile(worst, 1 - tail, axis=0, method="higher")
    return low, high


def rank_probabilities(draws: FloatArray) -> FloatArray:
    """P(rank of system i ≤ k) in row i, column k − 1. draws (R, M) → (M, M), NaN rows where not ranked.

    Systems tied in a replicate share its ranks evenly, so that column k sums to k while at least k are ranked.
    """
    best, worst = _ranks(draws)
    ranks = np.arange(1, draws.shape[1] + 1)
    reached = [
        np.clip((ranks - low[:, None] + 1) / (high - low + 1)[:, None], 0, 1).mean(axis=0)
        for low, high in zip(best.T, worst.T, strict=True)
    ]
    return np.array(reached)


def _ranks(draws: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Best and worst rank of each system in each replicate, (R, M) each; NaN for systems that are not ranked."""
    ranked = np.isfinite(draws).all(axis=0)
    best, worst = np.full(draws.shape, np.nan), np.full(draws.shape, np.nan)
    best[:, ranked] = rankdata(-draws[:, ranked], method="min", axis=1)
    worst[:, ranked] = rankdata(-draws[:, ranked], method="max", axis=1)
    return best, worst
