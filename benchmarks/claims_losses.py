"""Claims about expected losses, where the true ones are known.

Rubrics of a kind have the same loss. The log odds of a violation vary by rubric (sd 1), and by system and query (sd
``EFFECT``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from benchmarks.false_differences import EFFECT
from benchmarks.tables import short
from crubric_core.leaderboard.inference import infer
from crubric_core.leaderboard.losses import ExpectedLoss, expected_loss

SYSTEMS = 8
SPREAD = 0.5  # sd of the abilities of unequal systems
HARD = 1.0  # sd of the rubrics' log odds
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


@dataclass(frozen=True)
class Kind:
    """Rubrics with one loss. odds: mean log odds of a violation. least, most: numbers of them in a query."""

    loss: float
    odds: float
    least: int
    most: int


@dataclass(frozen=True)
class Design:
    """Queries with rubrics of these kinds. queries: their number. missing: share of the labels that is missing."""

    queries: int
    kinds: tuple[Kind, ...]
    missing: float = 0.0


CRITICAL, MODERATE = 10.0, 1.0
MIXED = (Kind(CRITICAL, -4.0, 0, 1), Kind(MODERATE, -1.7, 0, 4))
DESIGNS: dict[str, Design] = {
    "100 queries, one critical each, very rarely violated": Design(100, (Kind(CRITICAL, -5.2, 1, 1),)),
    "100 queries, one critical each, rarely violated": Design(100, (Kind(CRITICAL, -4.0, 1, 1),)),
    "100 queries, one critical each": Design(100, (Kind(CRITICAL, -2.7, 1, 1),)),
    "30 queries, one critical each": Design(30, (Kind(CRITICAL, -2.7, 1, 1),)),
    "50 queries, 0 to 4 critical, rarely violated": Design(50, (Kind(CRITICAL, -4.0, 0, 4),)),
    "50 queries, 0 or 1 critical, 0 to 4 moderate": Design(50, MIXED),
    "the same, 30% of the labels missing": Design(50, MIXED, 0.3),
    "20 queries, 0 or 1 critical, 0 to 4 moderate": Design(20, MIXED),
    "10 queries, 1 to 5 moderate": Design(10, (Kind(MODERATE, 0.0, 1, 5),)),
    "50 queries, one critical each, mostly violated": Design(50, (Kind(CRITICAL, 3.0, 1, 1),)),
}


def losses(tables: int) -> Iterator[tuple[object, ...]]:
    """Shares of intervals and of differences that hold, and of false separations, for each design.

    Tables of even number have equal systems, those of odd number unequal ones.
    """
    yield (
        "rubrics with a loss",
        "violated",
        "intervals hold",
        "by Student's t alone",
        "width to that",
        "all differences hold",
        "equal systems: any pair separated",
    )
    for name, design in DESIGNS.items():
        rate, held, alone, widths, together, false = [], [], [], [], [], []
        for seed in range(tables):
            theta = seed % 2 * np.random.default_rng([45, seed]).normal(0, SPREAD, SYSTEMS)
            found, truth, violated = table(theta, design, seed)
            standing = infer(found.evidence, np.random.default_rng(seed))
            low, high = found.limits(standing)
            start, end = (np.clip(-x, 0, found.most) for x in (standing.high, standing.low))
            held.append(((low <= truth) & (truth <= high)).mean())
            alone.append(((start <= truth) & (truth <= end)).mean())
            widths.append(np.median((high - low) / (end - start)))
            apart = truth - truth[:, None]
            within = (standing.difference_low <= apart) & (apart <= standing.difference_high)
            together.append(within[~np.eye(SYSTEMS, dtype=bool)].all())
            if seed % 2 == 0:
                false.append(standing.separated.any())
            rate.append(violated)
        columns = (rate, held, alone, widths, together, false)
        yield name, *(short(float(np.mean(column))) for column in columns)


def table(theta: np.ndarray, design: Design, seed: int) -> tuple[ExpectedLoss, np.ndarray, float]:
    """Estimated losses of one table, the true expected loss of each system (M,), and the share of violations."""
    rng = np.random.default_rng([46, seed])
    query, cost, odds, expected = [], [], [], np.zeros(len(theta))
    for kind in design.kinds:
        at = np.repeat(np.arange(design.queries), rng.integers(kind.least, kind.most + 1, design.queries))
        query.append(at)
        cost.append(np.full(len(at), kind.loss))
        odds.append(kind.odds + HARD * rng.normal(size=len(at)))
        expected += kind.loss * len(at) * chance(kind.odds - theta)
    queries, costs, hard = (np.concatenate(parts) for parts in (query, cost, odds))
    mood = EFFECT * rng.normal(size=(len(theta), design.queries))[:, queries]
    lost = (rng.random(mood.shape) < expit(hard - theta[:, None] + mood)).astype(float)
    lost[rng.random(lost.shape) < design.missing] = np.nan
    found = expected_loss(lost, costs, queries, np.ones(design.queries))
    if found is None:
        raise ValueError("every design has rubrics with a loss")
    return found, expected / found.queries, float(np.nanmean(lost))


def chance(odds: np.ndarray) -> np.ndarray:
    """(M,) probability of a violation, averaged over rubrics and queries. odds: (M,) mean log odds."""
    at = expit(odds[:, None] + np.hypot(HARD, EFFECT) * NODES)
    return np.asarray(at @ WEIGHTS / WEIGHTS.sum())
