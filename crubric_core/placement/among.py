"""A new system among the reference systems, from its labels on the bank, with queries as units (docs/method.md §13)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

from ..bank.item_spread import Spread
from ..irt.abilities import estimate_abilities, saturation
from ..irt.cells import label_scores
from ..irt.fit import IrtFit
from ..irt.models import ItemParameters
from ..leaderboard.comparisons import Evidence, open_towards_zero, pair_errors
from ..leaderboard.influence import as_equal, bessel_correction
from ..leaderboard.places import ranks_by_counting, tiers_by
from ..leaderboard.reference import Reference
from ..leaderboard.simultaneous import as_normal, as_student, threshold
from ..leaderboard.spread import NORMAL, spread_of, student_scale
from ..leaderboard.tiers import Standing
from ..settings import TierRule
from ..types import BoolArray, FloatArray, IntArray

DRAWS = 4000  # of the simultaneous threshold
ITEM_DRAWS = 200  # of the rubrics' parameters


@dataclass(frozen=True)
class SystemEvidence:
    """Ability of a new system with its evidence, from its labels on a bank.

    theta: EAP ability; NaN without a label. contributions: (n,) psi sqrt(n / (n - 1)) of the reference's units and,
    after them, of the bank's other queries. floor: posterior variance. items: variance from the rubrics' parameters.
    transfer: variance of a placement on this bank beyond sampling, NaN if unknown. units: number of equal units to
    which its units are equivalent. saturated: 1, -1 or 0. answered: number of labels. asked: (n,) whether each of these
    units has a label.
    """

    theta: float
    contributions: FloatArray
    floor: float
    items: float
    units: int
    saturated: int
    answered: int
    asked: BoolArray
    transfer: float = np.nan

    @property
    def beyond(self) -> float:
        """Variance beyond the sampling of queries: from the rubrics' parameters and, if known, the choice of bank."""
        return self.items + (0.0 if np.isnan(self.transfer) else self.transfer)

    @property
    def se(self) -> float:
        """Standard error of theta."""
        return float(np.sqrt(max(float((self.contributions**2).sum()), self.floor) + self.beyond))


def evidence_of_system(
    fit: IrtFit, spread: Spread, y: FloatArray, bank: IntArray, unit: IntArray, n_units: int, seed: int
) -> SystemEvidence:
    """``SystemEvidence`` from labels ``y`` (J,) on ``bank`` (indices).

    unit: (J,) unit of each rubric, 0 … n_units - 1.
    """
    return evidence_of_systems(fit, spread, y[None], bank, unit, n_units, seed)[0]


def evidence_of_systems(
    fit: IrtFit, spread: Spread, y: FloatArray, bank: IntArray, unit: IntArray, n_units: int, seed: int
) -> list[SystemEvidence]:
    """``evidence_of_system`` for labels ``y`` (N, J) of N systems that are labelled on the same rubrics."""
    theta = estimate_abilities(fit, y, bank).theta
    known = bank[np.isfinite(y[0, bank]) & ~fit.constant[bank]]
    if not known.size:
        none = np.zeros(n_units, dtype=bool)
        return [SystemEvidence(np.nan, np.zeros(n_units), np.nan, np.nan, 0, 0, 0, none)] * len(y)
    items, labels = fit.items.of(known), y[:, known]
    score, info = label_scores(items, labels, theta)
    information = info.sum(axis=1) + 1
    present, place = np.unique(unit[known], return_inverse=True)
    sums = score @ (place[:, None] == np.arange(len(present))).astype(float)
    scale, units, _ = as_equal(np.bincount(place).astype(float)[:, None])
    n = int(units[0])
    psi = np.zeros((len(y), n_units))
    centred = (sums - sums.mean(axis=1, keepdims=True)) * scale[:, 0]
    psi[:, present] = centred / information[:, None] * np.sqrt(n / (n - 1) if n > 1 else 0.0)
    items_variance = _item_variance(items, spread, known, labels, theta, seed) / information**2
    saturated = saturation(labels, fit.levels[known])
    return [
        SystemEvidence(
            theta=float(theta[i]),
            contributions=psi[i],
            floor=float(1 / information[i]),
            items=float(items_variance[i]),
            units=n,
            saturated=int(saturated[i]),
            answered=len(known),
            asked=np.isin(np.arange(n_units), present),
        )
        for i in range(len(y))
    ]


def _item_variance(
    items: ItemParameters, spread: Spread, known: IntArray, y: FloatArray, theta: FloatArray, seed: int
) -> FloatArray:
    """(N,) variance of the score at theta over the rubrics' posterior; divided by information², that of theta."""
    rng = np.random.default_rng([seed, 6])
    first, second = rng.standard_normal((2, ITEM_DRAWS, len(known)))
    r = spread.correlation[known]
    slope = items.a * np.exp(spread.log_a[known] * first)
    shift = spread.b[known] * (r * first + np.sqrt(1 - r**2) * second)
    scores = np.empty((ITEM_DRAWS, len(theta)))
    for draw in range(ITEM_DRAWS):
        steps = None if items.thresholds is None else items.thresholds + shift[draw][:, None]
        moved = ItemParameters(slope[draw], items.b + shift[draw], items.c, steps)
        scores[draw] = label_scores(moved, y, theta)[0].sum(axis=1)
    return np.asarray(scores.var(axis=0, ddof=1))


def stand_among(
    reference: Reference, new: SystemEvidence, confidence: float, seed: int, rule: TierRule = "leader"
) -> Standing:
    """Rank, tier and separated pairs of the new system, last of M + 1; simultaneous over its M comparisons.

    Systems without a common scale with the new one have no rank. The new one has no rank if it has a common scale with
    none.
    """
    size, reference = len(reference.theta), reference.comparable_with(new.asked)
    theta = np.append(reference.theta, new.theta)
    ranked = np.isfinite(theta)
    ranked[-1] &= reference.group is None or ranked[:-1].any()
    nothing = np.full(size + 1, np.nan)
    square = np.full((size + 1, size + 1), np.nan)
    separated = np.zeros((size + 1, size + 1), dtype=bool)
    separated[:-1, :-1] = reference.separated
    low, high = _interval(new, confidence)
    low, high = low - reference.too_high.max(initial=0.0), high + reference.too_low.max(initial=0.0)
    ahead, p_value, places = square.copy(), square.copy(), square.copy()
    if ranked[-1]:
        among = Among(reference, len(new.contributions), confidence, seed)
        pairs, others = among.compare(new), among.others
        separated[-1, others] = separated[others, -1] = pairs.separated
        p_value[-1, others] = p_value[others, -1] = pairs.p_value
        ahead[-1, others], ahead[others, -1] = pairs.ahead, 1 - pairs.ahead
        places[-1, : len(others) + 1] = pairs.rank_probability
    kept = np.flatnonzero(ranked)
    rank, tier, best, worst = (nothing.copy() for _ in range(4))
    order, apart_here = theta[kept], separated[np.ix_(kept, kept)]
    side = np.append(reference.saturated, new.saturated)[kept]
    rank[kept], best[kept], worst[kept] = ranks_by_counting(order, apart_here, saturated=side)
    tier[kept] = tiers_by(rule, order, apart_here)
    return Standing(
        theta_low=np.append(reference.low, low),
        theta_high=np.append(reference.high, high),
        rank=rank,
        rank_low=best,
        rank_high=worst,
        rank_probability=places,
        tier=tier,
        ahead=ahead,
        p_value=p_value,
        separated=separated,
    )


@dataclass(frozen=True)
class _Pairs:
    """The new system against each of m ranked reference systems, (m,); rank_probability: (m + 1,)."""

    separated: BoolArray
    p_value: FloatArray
    ahead: FloatArray
    rank_probability: FloatArray


@dataclass(frozen=True)
class _Differences:
    """Differences (m,) of a new system from the ranked reference systems, standard errors, degrees of freedom.

    allowed: the part that unequal panels may account for. open: whether the interval is open on the side of 0.
    critical: the simultaneous normal deviate.
    """

    difference: FloatArray
    allowed: FloatArray
    se: FloatArray
    df: IntArray
    open: BoolArray
    critical: float

    @property
    def separated(self) -> BoolArray:
        """(m,) whether the difference exceeds the simultaneous threshold."""
        return ~self.open & (self.beyond > as_student(self.critical, self.df) * self.se)

    @property
    def beyond(self) -> FloatArray:
        """(m,) part of each absolute difference that unequal panels cannot explain, ≥ 0."""
        return np.maximum(np.abs(self.difference) - self.allowed, 0.0)


class Among:
    """The ranked reference systems with the draws of the simultaneous threshold, for any number of new systems.

    n_units: number of units of the new systems' contributions. rule: of the tiers. others: (m,) positions of the ranked
    systems in the reference.
    """

    def __init__(
        self, reference: Reference, n_units: int, confidence: float, seed: int, rule: TierRule = "leader"
    ) -> None:
        self.others = np.flatnonzero(np.isfinite(reference.theta))
        self._reference, self._confidence, self._seed, self._rule = reference, confidence, seed, rule
        self._units = reference.units[self.others]
        psi = reference.psi[:, self.others] * np.sqrt(bessel_correction(self._units))
        rest = n_units - len(psi)  # units of the new system that the reference does not have
        self._psi = np.vstack([psi, np.zeros((rest, len(self.others)))])
        rng = np.random.default_rng([seed, 7])
        self._noise = rng.standard_normal((DRAWS, n_units))
        self._draws = self._noise @ self._psi
        self._alone = rng.standard_normal(DRAWS)

    @cached_property
    def _errors(self) -> FloatArray:
        """(m, m) standard error of each difference between two reference systems."""
        given, others = self._reference, self.others
        return pair_errors(
            Evidence(
                given.theta[others], self._psi, given.floor[others], self._units, given.saturated[others]
            )
        )

    def compare(self, new: SystemEvidence) -> _Pairs:
        """Compare the new system with each ranked reference system."""
        found = self._differences(new)
        z = np.where(found.open, 0.0, as_normal(found.beyond / found.se, found.df))
        theta = np.append(self._reference.theta[self.others], new.theta)
        se = np.block([[self._errors, found.se[:, None]], [found.se, 0.0]])
        spread = spread_of(theta, se, freedom=NORMAL)  # a bank shrinks systems to the middle: cautious enough
        errors = np.column_stack([self._draws, self._own(new)])
        scale = student_scale(
            np.random.default_rng([self._seed, 8]), DRAWS, np.append(self._units, new.units)
        )
        values = spread.values(theta, errors * scale)
        above = (values[:, :-1] > values[:, -1:]).sum(axis=1)
        places = np.array([(above <= k).mean() for k in range(len(self.others) + 1)])
        return _Pairs(
            separated=found.separated,
            p_value=2 * ndtr(-z),
            ahead=spread.ahead(
                np.where(found.difference > 0, z, -z),
                found.se,
                np.full(len(self.others), len(self.others)),
                np.arange(len(self.others)),
            ),
            rank_probability=np.full(len(places), np.nan) if self._reference.unequal else places,
        )

    def tier(self, new: SystemEvidence) -> int:
        """The tier of a new system that has a label, as in ``stand_among``."""
        separated = np.zeros((len(self.others) + 1,) * 2, dtype=bool)
        separated[:-1, :-1] = self._reference.separated[np.ix_(self.others, self.others)]
        separated[-1, :-1] = separated[:-1, -1] = self._differences(new).separated
        theta = np.append(self._reference.theta[self.others], new.theta)
        return int(tiers_by(self._rule, theta, separated)[-1])

    def _own(self, new: SystemEvidence) -> FloatArray:
        """(DRAWS,) draws of the new system's error, correlated with the reference's errors on common units."""
        beyond = np.sqrt(max(new.se**2 - (new.contributions**2).sum(), 0.0))
        return np.asarray(self._noise @ new.contributions + self._alone * beyond)

    def _allowed(self, above: BoolArray) -> FloatArray:
        """(m,) by how much unequal panels may raise the new system over each, or lower it where it is not ``above``.

        Its own judges may be as lenient, or as strict, as those of any reference system.
        """
        high, low = self._reference.too_high, self._reference.too_low
        raised, lowered = high.max(initial=0.0) + low[self.others], low.max(initial=0.0) + high[self.others]
        return np.where(above, raised, lowered)

    def _differences(self, new: SystemEvidence) -> _Differences:
        variance = ((new.contributions[:, None] - self._psi) ** 2).sum(axis=0)
        floor = new.floor + self._reference.floor[self.others]
        se = np.sqrt(np.maximum(variance, floor) + new.beyond)
        largest = (np.abs(self._draws - self._own(new)[:, None]) / se).max(axis=1, initial=0.0)
        side = self._reference.saturated[self.others]
        difference = new.theta - self._reference.theta[self.others]
        return _Differences(
            difference=difference,
            allowed=self._allowed(difference > 0),
            se=se,
            df=np.minimum(self._units, new.units) - 1,
            open=open_towards_zero(difference, np.full(len(side), new.saturated), side),
            critical=max(
                -float(ndtri((1 - self._confidence) / 2)),
                threshold(largest, self._confidence),
            ),
        )


def _interval(new: SystemEvidence, confidence: float) -> tuple[float, float]:
    """Student's t interval of theta, open on the side where the system passes or fails everything."""
    if not np.isfinite(new.theta):
        return float("nan"), float("nan")
    z = -float(ndtri((1 - confidence) / 2))
    half = float(as_student(z, np.array([max(new.units - 1, 1)]))[0]) * new.se
    low = -np.inf if new.saturated < 0 else new.theta - half
    return float(low), float(np.inf if new.saturated > 0 else new.theta + half)
