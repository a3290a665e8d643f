"""A new system among the reference systems: by its labels on the bank alone, the query as unit (docs/method.md §13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from ..bank.item_spread import Spread
from ..irt.abilities import estimate_abilities
from ..irt.cells import label_scores
from ..irt.fit import IrtFit
from ..irt.models import ItemParameters
from ..leaderboard.places import tiers_by_first
from ..leaderboard.reference import Reference
from ..leaderboard.simultaneous import as_normal, as_student, largest_differences, threshold
from ..leaderboard.tiers import Standing
from ..types import BoolArray, FloatArray, IntArray

DRAWS = 4000  # of the simultaneous threshold
ITEM_DRAWS = 200  # of the rubrics' parameters


@dataclass(frozen=True)
class Evidence:
    """What a new system's labels say.

    theta: EAP ability; NaN without a label. contributions: (n,) of the reference's units and, last, of all others
    together, psi sqrt(n / (n - 1)). floor: posterior variance. items: variance from the rubrics' parameters. transfer:
    variance of a placement on this bank beyond sampling. units: its number of units. saturated: 1, -1 or 0.
    answered: labels.
    """

    theta: float
    contributions: FloatArray
    floor: float
    items: float
    units: int
    saturated: int
    answered: int
    transfer: float = 0.0

    @property
    def beyond(self) -> float:
        """Variance beyond the sampling of queries: of the rubrics' parameters, and of a chosen bank."""
        return self.items + self.transfer

    @property
    def se(self) -> float:
        """Standard error of theta."""
        return float(np.sqrt(max(float((self.contributions**2).sum()), self.floor) + self.beyond))


def evidence_of(
    fit: IrtFit, spread: Spread, y: FloatArray, bank: IntArray, unit: IntArray, n_units: int, seed: int
) -> Evidence:
    """From labels ``y`` (J,) of one system on ``bank``. unit: (J,) unit of each rubric, 0 … n_units - 1."""
    theta = float(estimate_abilities(fit, y[None], bank).theta[0])
    known = bank[np.isfinite(y[bank]) & ~fit.constant[bank]]
    if not known.size:
        return Evidence(np.nan, np.zeros(n_units), np.nan, np.nan, 0, 0, 0)
    items, at = fit.items.of(known), np.array([theta])
    score, info = label_scores(items, y[known][None], at)
    information = float(info.sum()) + 1
    present, place = np.unique(unit[known], return_inverse=True)
    sums = np.bincount(place, score[0])
    psi = np.zeros(n_units)
    n = len(present)
    psi[present] = (sums - sums.mean()) / information * np.sqrt(n / (n - 1) if n > 1 else 0.0)
    shares = y[known] / (fit.levels[known] - 1)
    return Evidence(
        theta=theta,
        contributions=psi,
        floor=1 / information,
        items=_item_variance(items, spread, known, y, at, seed) / information**2,
        units=n,
        saturated=int((shares == 1).all()) - int((shares == 0).all()),
        answered=len(known),
    )


def _item_variance(
    items: ItemParameters, spread: Spread, known: IntArray, y: FloatArray, theta: FloatArray, seed: int
) -> float:
    """Variance of the score at theta over the rubrics' posterior: a step of Newton turns it into that of theta."""
    rng = np.random.default_rng([seed, 6])
    first, second = rng.standard_normal((2, ITEM_DRAWS, len(known)))
    r = spread.correlation[known]
    slope = items.a * np.exp(spread.log_a[known] * first)
    shift = spread.b[known] * (r * first + np.sqrt(1 - r**2) * second)
    scores = np.empty(ITEM_DRAWS)
    for draw in range(ITEM_DRAWS):
        steps = None if items.thresholds is None else items.thresholds + shift[draw][:, None]
        moved = ItemParameters(slope[draw], items.b + shift[draw], items.c, steps)
        scores[draw] = label_scores(moved, y[known][None], theta)[0].sum()
    return float(scores.var(ddof=1))


def stand_among(reference: Reference, new: Evidence, confidence: float, seed: int) -> Standing:
    """Rank, tier and separated pairs of the new system, last of M + 1; simultaneous over its M comparisons."""
    size = len(reference.theta)
    theta = np.append(reference.theta, new.theta)
    ranked = np.isfinite(theta)
    nothing = np.full(size + 1, np.nan)
    square = np.full((size + 1, size + 1), np.nan)
    separated = np.zeros((size + 1, size + 1), dtype=bool)
    separated[:-1, :-1] = reference.separated
    low, high = _interval(new, confidence)
    ahead, p_value, places = square.copy(), square.copy(), square.copy()
    if ranked[-1]:
        pairs = _compare(reference, new, confidence, seed)
        others = np.flatnonzero(ranked[:-1])
        separated[-1, others] = separated[others, -1] = pairs.separated
        p_value[-1, others] = p_value[others, -1] = pairs.p_value
        ahead[-1, others], ahead[others, -1] = pairs.ahead, 1 - pairs.ahead
        places[-1, : len(others) + 1] = pairs.rank_probability
    kept = np.flatnonzero(ranked)
    rank, tier, best, worst = (nothing.copy() for _ in range(4))
    order, told = theta[kept], separated[np.ix_(kept, kept)]
    rank[kept] = 1 + (order[None, :] > order[:, None]).sum(axis=1)
    best[kept] = 1 + (told & (order[None, :] > order[:, None])).sum(axis=1)
    worst[kept] = len(kept) - (told & (order[None, :] < order[:, None])).sum(axis=1)
    tier[kept] = tiers_by_first(order, told)
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
    """The new system against each ranked reference system, (m,); rank_probability: (m + 1,)."""

    separated: BoolArray
    p_value: FloatArray
    ahead: FloatArray
    rank_probability: FloatArray


def _compare(reference: Reference, new: Evidence, confidence: float, seed: int) -> _Pairs:
    known = np.flatnonzero(np.isfinite(reference.theta))
    units = reference.units[known]
    factor = np.sqrt(np.divide(units, units - 1, out=np.zeros(len(units)), where=units > 1))
    psi = reference.psi[:, known] * factor
    rest = len(new.contributions) - len(psi)  # units of the new system that the reference has not
    psi = np.vstack([psi, np.zeros((rest, len(known)))])
    difference = new.theta - reference.theta[known]
    variance = ((new.contributions[:, None] - psi) ** 2).sum(axis=0)
    se = np.sqrt(np.maximum(variance, new.floor + reference.floor[known]) + new.beyond)
    df = np.minimum(units, new.units) - 1
    rng = np.random.default_rng([seed, 7])
    noise = rng.standard_normal((DRAWS, len(psi)))
    draws = np.column_stack([noise @ psi, noise @ new.contributions])
    draws[:, -1] += rng.standard_normal(DRAWS) * np.sqrt(max(new.se**2 - (new.contributions**2).sum(), 0.0))
    spread = np.zeros((len(known) + 1, len(known) + 1))  # pairs of sd 0 do not count
    spread[-1, :-1] = spread[:-1, -1] = se
    critical = max(
        -float(ndtri((1 - confidence) / 2)), threshold(largest_differences(draws, spread), confidence)
    )
    side = reference.saturated[known]
    open_ = (side == new.saturated) & (side != 0)
    z = np.where(open_, 0.0, as_normal(np.abs(difference) / se, df))
    upper = ndtr(-z)
    own = draws[:, -1] + new.theta
    above = (draws[:, :-1] + reference.theta[known] > own[:, None]).sum(axis=1)
    return _Pairs(
        separated=~open_ & (np.abs(difference) > as_student(critical, df) * se),
        p_value=2 * upper,
        ahead=np.where(difference > 0, 1 - upper, upper),
        rank_probability=np.array([(above <= k).mean() for k in range(len(known) + 1)]),
    )


def _interval(new: Evidence, confidence: float) -> tuple[float, float]:
    """T interval of theta, open on the side where the system passes or fails everything."""
    if not np.isfinite(new.theta):
        return float("nan"), float("nan")
    z = -float(ndtri((1 - confidence) / 2))
    half = float(as_student(z, np.array([max(new.units - 1, 1)]))[0]) * new.se
    low = -np.inf if new.saturated < 0 else new.theta - half
    return float(low), float(np.inf if new.saturated > 0 else new.theta + half)
