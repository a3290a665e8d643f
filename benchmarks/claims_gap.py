"""The gap between the best and the worst system on simulated scores by query: does the ablation's interval hold?

A score is .6 plus effects of its system, sd ``spread``, of its query, sd .15, and of both together, sd .3, all normal.
The truth is the gap between the systems' effects.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.tables import short
from crubric_core.experiments.scoring import gap, gap_draws, gap_interval
from crubric_core.experiments.statistics import query_draws
from crubric_core.intervals import percentile_interval

SYSTEMS, QUERIES, SPREADS = (4, 15, 40), (10, 100), (0.0, 0.02, 0.1)


def gaps(tables: int) -> Iterator[tuple[object, ...]]:
    """True and found gap in points, the shares of its 95% intervals and of quantiles of the draws that hold."""
    yield "systems", "queries", "true gap", "found", "held", "too low", "too high", "quantiles held"
    for systems in SYSTEMS:
        for queries in QUERIES:
            for spread in SPREADS:
                rng = np.random.default_rng([systems, queries, round(100 * spread)])
                rows = np.mean([_one(rng, systems, queries, spread) for _ in range(tables)], axis=0)
                truth, found, low, high, quantiles = (float(value) for value in rows)
                shares = (short(share) for share in (1 - low - high, low, high, quantiles))
                yield systems, queries, f"{truth:.1f}", f"{found:.1f}", *shares


def simulated(
    rng: np.random.Generator, systems: int, queries: int, spread: float
) -> tuple[float, np.ndarray]:
    """The true gap in points, and the scores (M, N) by query."""
    ability = 0.6 + spread * rng.normal(size=systems)
    scores = 0.15 * rng.normal(size=queries) + 0.3 * rng.normal(size=(systems, queries))
    return float(100 * np.ptp(ability)), ability[:, None] + scores


def _one(rng: np.random.Generator, systems: int, queries: int, spread: float) -> tuple[float, ...]:
    truth, scores = simulated(rng, systems, queries, spread)
    weights, draws = np.ones(queries), query_draws(np.arange(queries), 300, rng)
    low, high = gap_interval(scores, weights, draws, 0.95)
    least, most = percentile_interval(gap_draws(scores, weights, draws), 0.95)
    return truth, gap(scores, weights), high < truth, low > truth, bool(least <= truth <= most)
