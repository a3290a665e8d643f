"""Claims about M systems: intervals, separated pairs, tiers, ranks (docs/method.md §10).

``infer`` takes estimates with the contributions of their units (``influence``), in closed form; ``from_draws`` takes
bootstrap draws, as the paper does. Both return the same class, and in both "separated" means that the interval of the
difference excludes 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import betaincinv, ndtri

from ..judges.unequal_panels import Allowance
from ..types import BoolArray, FloatArray, IntArray
from .comparisons import Comparisons, Evidence, compare, separated_alone
from .different_units import ROUNDING
from .influence import Influence, Unit, bessel_correction
from .places import rank_shares, ranks_by_counting, tiers_by_first
from .simultaneous import as_student
from .spread import student_scale

SMALL_BOARD = 40  # systems
DRAWS = 4000  # for a small board; the probability beyond the threshold is then known within .007
DRAWS_LARGE = 1000  # else: 400 systems have 80,000 pairs
TIE_BREAK = 1e-9  # sd of the noise that breaks ties between systems in a draw

Method = Literal["units", "bootstrap"]
Normals = Callable[[tuple[int, int]], FloatArray]
"""Gives standard normal numbers of a shape."""

BEYOND = 100  # no difference of abilities is so large


@dataclass(frozen=True)
class Inference:
    """Claims about M systems; floats, NaN for a system that is not ranked (no label).

    estimate, se: (M,) ability or score and its standard error. low, high: (M,) interval of each alone; infinite on the
        side where a system is saturated.
    rank: (M,) from 1. Equal estimates share the better rank, as do neighbours in the order that are saturated on the
        same side. rank_low, rank_high: (M,) interval of the rank.
    tier: (M,) from 1; no system of a tier is separated from the tier's first. Ranks and tiers are within groups.
    difference: (M, M) row minus column. difference_se, difference_low, difference_high: (M, M).
    p_value: (M, M) two-sided, of the pair alone. p_simultaneous: (M, M) adjusted for all pairs; NaN by percentiles.
    separated: (M, M) symmetric; False where not ranked. ahead: (M, M) probability that the row is above the column.
    rank_probability: (M, M) P(rank of row ≤ k) in column k - 1; NaN if there are several groups, or an allowance.
    saturated: (M,) 1 if all labels are the highest, -1 if all are the lowest, else 0.
    critical: multiple of difference_se that a separated pair exceeds; NaN by percentiles.
    design_effect: mean variance over units / mean variance over rubrics within these queries, over the systems with at
        least two units; NaN unknown.
    n_units: number of units of evidence. unit: "query", "rubric" or "domain". lone: number of units that are queries
        without a domain, where the others are domains. n_equal: number of equal units to which those of the median
        system are equivalent; None: as many as n_units.
    confidence: of intervals, tiers and ranks.
    simultaneous: whether these hold for all pairs at once. method: "units" or "bootstrap".
    group: (M,) systems of different groups share too few queries and are not compared; None: unknown, or one group.
    allowance: widening of the intervals because systems were labelled by different judges; None: no widening.
    excused: number of pairs that would be separated without it.
    """

    estimate: FloatArray
    se: FloatArray
    low: FloatArray
    high: FloatArray
    rank: FloatArray
    rank_low: FloatArray
    rank_high: FloatArray
    tier: FloatArray
    difference: FloatArray
    difference_se: FloatArray
    difference_low: FloatArray
    difference_high: FloatArray
    p_value: FloatArray
    p_simultaneous: FloatArray
    separated: BoolArray
    ahead: FloatArray
    rank_probability: FloatArray
    saturated: IntArray
    critical: float
    design_effect: float
    n_units: int
    unit: Unit
    confidence: float
    simultaneous: bool
    method: Method
    group: IntArray | None = None
    allowance: Allowance | None = None
    excused: int = 0
    lone: int = 0
    n_equal: int | None = None

    @property
    def n_groups(self) -> int:
        """Number of groups of ranked systems, between which no pair is compared; at least 1."""
        return 1 if self.group is None else max(1, len(np.unique(self.group[self.ranked])))

    @property
    def group_number(self) -> FloatArray:
        """(M,) group of each ranked system, from 1: by size, the largest first, then by the first system; else NaN."""
        group = np.zeros(len(self.rank)) if self.group is None else self.group
        _, first, at, size = np.unique(
            group[self.ranked], return_index=True, return_inverse=True, return_counts=True
        )
        number = np.argsort(np.lexsort((first, -size))) + 1
        return scatter(number[at].astype(np.float64), np.flatnonzero(self.ranked), len(group))

    @property
    def n_pairs(self) -> int:
        """Number of pairs of ranked systems that are compared: those within groups."""
        sizes = np.unique(self.group_number[self.ranked], return_counts=True)[1]
        return int((sizes * (sizes - 1) // 2).sum())

    @property
    def compared(self) -> FloatArray:
        """(M, M) ``ahead``; NaN for pairs that are not compared: of two groups, or saturated on the same side."""
        open_ = np.isinf(self.difference_low) & np.isinf(
            self.difference_high
        )  # never true for scores, which have limits
        alike = (self.saturated[:, None] == self.saturated) & (self.saturated != 0) & open_
        apart = False if self.group is None else self.group[:, None] != self.group
        return np.where(alike | apart, np.nan, self.ahead)

    @property
    def ranked(self) -> BoolArray:
        """(M,) systems with an estimate."""
        return np.isfinite(self.rank)

    @property
    def p_shown(self) -> FloatArray:
        """(M, M) the p-values that belong to ``separated``: adjusted for all pairs if ``simultaneous``."""
        return self.p_simultaneous if self.simultaneous else self.p_value


@dataclass(frozen=True)
class ComparisonTable:
    """The long table of docs/method.md §10: P pairs of ranked systems, the higher estimate of each pair first.

    system, other: (P,) positions. difference ≥ 0, se, low, high, p_value: (P,). separated: (P,).
    """

    system: IntArray
    other: IntArray
    difference: FloatArray
    se: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray
    separated: BoolArray


def infer(
    influence: Influence,
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    simultaneous: bool = True,
) -> Inference:
    """Intervals, separated pairs, tiers and ranks from estimates and their contributions.

    simultaneous: with probability ``confidence`` no pair at all is separated falsely; else each given pair is falsely
    separated with probability 1 - confidence. Intervals of single estimates are never adjusted. The result is
    reproducible byte for byte from the influence and the state of the generator.
    """
    kept, evidence = np.flatnonzero(influence.ranked), evidence_of(influence)
    shown = (evidence.contributions**2).sum(axis=0)
    se = _standard_errors(evidence)
    draws = _draws(evidence.contributions, rng.standard_normal)
    pairs = compare(evidence, draws, confidence, simultaneous=simultaneous)
    low, high = _intervals(evidence, se, confidence)
    side = evidence.saturated if evidence.limits is None else None  # scores of saturated systems are equal
    rank, rank_low, rank_high = ranks_by_counting(evidence.estimate, pairs.separated, evidence.group, side)
    # Variance beyond that of the units' contributions belongs to one system alone: it is added independently.
    alone = np.sqrt(np.maximum(se**2 - shown, TIE_BREAK**2))
    errors = draws + rng.standard_normal(draws.shape) * alone
    values = pairs.spread.values(evidence.estimate, errors * student_scale(rng, len(errors), evidence.units))
    several = evidence.units > 1
    within = influence.within_variance[kept][several]
    columns = {
        "se": se,
        "low": low,
        "high": high,
        "rank": rank,
        "rank_low": rank_low,
        "rank_high": rank_high,
        "tier": tiers_by_first(evidence.estimate, pairs.separated, evidence.group),
    }
    size = len(influence.estimate)
    all_comparable = evidence.linked.all() and evidence.allowance is None
    return Inference(
        estimate=influence.estimate,
        **{name: scatter(values, kept, size) for name, values in columns.items()},
        **_square(pairs, kept, size),
        separated=scatter(pairs.separated, kept, size) == 1,
        rank_probability=_rank_probability(values if all_comparable else None, kept, size),
        saturated=influence.saturated,
        critical=pairs.critical,
        design_effect=float(shown[several].mean() / within.mean()) if within.sum() > 0 else float("nan"),
        n_units=len(influence.psi),
        unit=influence.unit,
        confidence=confidence,
        simultaneous=simultaneous,
        method="units",
        group=influence.group,
        allowance=influence.allowance,
        excused=pairs.excused,
        lone=influence.lone,
        n_equal=int(np.median(evidence.units)) if len(kept) else None,
    )


def marginal_intervals(influence: Influence, confidence: float) -> tuple[FloatArray, FloatArray]:
    """(M,) low and high ends of each estimate's own interval, as in ``infer``; NaN where not ranked."""
    kept, evidence = np.flatnonzero(influence.ranked), evidence_of(influence)
    low, high = (
        scatter(end, kept, len(influence.estimate))
        for end in _intervals(evidence, _standard_errors(evidence), confidence)
    )
    return low, high


def separated_pairs(
    influence: Influence, normals: Normals, *, confidence: float = 0.95, simultaneous: bool = True
) -> BoolArray:
    """(M, M) only the ``separated`` of ``infer``; normals must give the numbers that its generator draws first."""
    evidence = evidence_of(influence)
    draws = _draws(evidence.contributions, normals)
    separated = separated_alone(evidence, draws, confidence, simultaneous=simultaneous)
    kept, size = np.flatnonzero(influence.ranked), len(influence.estimate)
    return np.asarray(scatter(separated, kept, size) == 1)


def evidence_of(influence: Influence) -> Evidence:
    """The evidence of the ranked systems, from the influence of all systems."""
    kept = influence.ranked
    units = influence.n_units[kept]
    return Evidence(
        influence.estimate[kept],
        influence.psi[:, kept] * np.sqrt(bessel_correction(units)),
        influence.floor[kept],
        units,
        influence.saturated[kept],
        None if influence.group is None else influence.group[kept],
        None if influence.allowance is None else influence.allowance.of(kept),
        None if influence.limits is None else (influence.limits[0][kept], influence.limits[1][kept]),
        None if influence.differing is None else influence.differing[np.ix_(kept, kept)],
        influence.unequal,
        None if influence.pair_units is None else influence.pair_units[np.ix_(kept, kept)],
    )


def open_beyond(ends: FloatArray) -> FloatArray:
    """Replace ends of differences, any shape, that no difference can reach by ±inf. NaN stays."""
    return np.where(np.abs(ends) > BEYOND, np.copysign(np.inf, ends), ends)


def comparison_table(inference: Inference) -> ComparisonTable:
    """All pairs of ranked systems, in the order of the ranking; equal estimates in the order of the systems."""
    order = np.argsort(-np.where(inference.ranked, inference.estimate, -np.inf), kind="stable")
    order = order[: int(inference.ranked.sum())]
    upper, lower = np.triu_indices(len(order), 1)
    at = order[upper], order[lower]
    return ComparisonTable(
        system=at[0],
        other=at[1],
        difference=inference.difference[at],
        se=inference.difference_se[at],
        low=inference.difference_low[at],
        high=inference.difference_high[at],
        p_value=inference.p_shown[at],
        separated=inference.separated[at],
    )


def _draws(contributions: FloatArray, normals: Normals) -> FloatArray:
    """(R, M) draws of the estimates' errors: Z = W psi' sqrt(n / (n - 1)), W standard normal."""
    root = covariance_root(contributions)
    width, size = root.shape
    return normals((DRAWS if size <= SMALL_BOARD else DRAWS_LARGE, width)) @ root


def covariance_root(contributions: FloatArray) -> FloatArray:
    """(min(n, M), M) root of the covariance of ``contributions`` (n, M), so that a draw takes few normals.

    With more units than systems it is the symmetric root, which does not depend on an arbitrary choice.
    """
    n_units, size = contributions.shape
    if n_units <= size:
        return contributions
    values, vectors = np.linalg.eigh(contributions.T @ contributions)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def _standard_errors(evidence: Evidence) -> FloatArray:
    return np.asarray(np.sqrt(np.maximum((evidence.contributions**2).sum(axis=0), evidence.floor)))


def _intervals(evidence: Evidence, se: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """(M,) low and high ends of each estimate's own interval, by Student's t with units - 1 degrees of freedom.

    Scores with limits: see ``_between_limits``. Without limits, the interval is open on the side where a system is
    saturated.
    """
    multiple = as_student(-float(ndtri((1 - confidence) / 2)), evidence.units - 1)
    if evidence.limits is not None:
        low, high = _between_limits(evidence, evidence.limits, se, multiple, confidence)
    else:
        half = np.multiply(multiple, se, out=np.full_like(se, np.inf), where=se > 0)
        low = np.where(evidence.saturated == -1, -np.inf, evidence.estimate - half)
        high = np.where(evidence.saturated == 1, np.inf, evidence.estimate + half)
    if evidence.allowance is not None:
        low, high = low - evidence.allowance.high, high + evidence.allowance.low
    if evidence.limits is not None:
        low, high = (np.clip(end, *evidence.limits) for end in (low, high))
    return low, high


def _between_limits(
    evidence: Evidence,
    limits: tuple[FloatArray, FloatArray],
    se: FloatArray,
    multiple: FloatArray,
    confidence: float,
) -> tuple[FloatArray, FloatArray]:
    """Clopper-Pearson interval of as many binary answers as would vary like the score, scaled to its limits.

    Korn & Graubard (1998), Survey Methodology 24, 193-201: n = p (1 - p) / variance, times the square of the normal
    over Student's deviate. For a score that does not vary, n is its number of units.
    """
    (least, most), tail = limits, (1 - confidence) / 2
    width = np.maximum(most - least, ROUNDING)
    share = np.clip((evidence.estimate - least) / width, 0.0, 1.0)
    fixed = (se == 0) | (evidence.saturated != 0)
    n = np.divide(share * (1 - share) * width**2, se**2, out=evidence.units.astype(np.float64), where=~fixed)
    n = np.where(fixed, n, n * (ndtri(tail) / multiple) ** 2)
    n = np.where(evidence.units > 1, n, 0.0)  # one unit does not show how it varies
    yes, no = n * share, n * (1 - share)
    with np.errstate(invalid="ignore"):
        low = np.where(yes > 0, betaincinv(yes, no + 1, tail), 0.0)
        high = np.where(no > 0, betaincinv(yes + 1, no, 1 - tail), 1.0)
    return least + width * low, least + width * high


def scatter(values: FloatArray | BoolArray, kept: IntArray, size: int) -> FloatArray:
    """Values of the ranked systems, (m,) or (m, m), at their positions among all systems; NaN elsewhere."""
    full = np.full((size,) * values.ndim, np.nan)
    full[np.ix_(*[kept] * values.ndim)] = values
    return full


def _square(pairs: Comparisons, kept: IntArray, size: int) -> dict[str, FloatArray]:
    names = {
        "difference": pairs.difference,
        "difference_se": pairs.se,
        "difference_low": pairs.low,
        "difference_high": pairs.high,
        "p_value": pairs.p_value,
        "p_simultaneous": pairs.p_simultaneous,
        "ahead": pairs.ahead,
    }
    return {name: scatter(values, kept, size) for name, values in names.items()}


def _rank_probability(draws: FloatArray | None, kept: IntArray, size: int) -> FloatArray:
    """(M, M) P(rank ≤ k) in column k - 1; 1 from the number of ranked systems on. NaN without ``draws``."""
    full = np.full((size, size), np.nan)
    if len(kept) and draws is not None:
        full[kept] = 1.0
        full[np.ix_(kept, np.arange(len(kept)))] = rank_shares(draws)
    return full
