"""Kappa of two raters over queries: do the intervals of ``sweep`` and of judges' agreement hold the true kappa?

A query has 8 rubrics, or 1 to 15, each with the answers of 5 systems, of which about three in four pass. Both raters
are wrong with the same probability, which may vary by query and by rubric. The truth is kappa over all such queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from benchmarks.tables import short
from crubric_core.experiments.kappa import HUMAN, KappaComparison
from crubric_core.experiments.statistics import query_draws, sum_by_query
from crubric_core.intervals import coefficient_interval, percentile_interval
from crubric_core.judges.agreement import agreement, cohen_kappa, kappa_of_counts
from crubric_core.types import BoolArray, FloatArray, IntArray

SYSTEMS, RUBRICS, PASSES = 5, 8, 1.3
QUERIES, KAPPAS = (5, 8, 10, 20, 50, 100), (0.3, 0.6, 0.9, 0.99)
CHANGES = (
    (0.6, 0.6, 0.5),
    (0.9, 0.6, 0.5),
    (0.99, 0.9, 0.5),
    (0.99, 0.99, 0.5),
    (0.99, 0.9, 0.9),
    (1.0, 0.9, 0.6),
)
"""Kappa of the rubrics kept, of the others, and the share that is kept."""
RARE = ((20, 0.01), (20, 0.02), (20, 0.1), (100, 0.01), (100, 0.02), (100, 0.1))
"""Queries, and the share of the cells that each of two raters fails."""
CELLS = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)


@dataclass(frozen=True)
class Effects:
    """by_query, by_rubric: sd, in logits, of the raters' errors; by_query also of passes. uneven: queries' sizes."""

    name: str
    by_query: float = 0.0
    by_rubric: float = 0.0
    uneven: bool = False


EFFECTS = (
    Effects("queries alike"),
    Effects("queries differ", by_query=1.0),
    Effects("queries and rubrics differ, uneven", by_query=1.0, by_rubric=1.0, uneven=True),
)


def chances(passes: FloatArray, error: FloatArray) -> FloatArray:
    """(…, 4) probabilities that two raters both pass a cell, only the first does, only the second, both fail it."""
    right, both_wrong, one_wrong = (1 - error) ** 2, error**2, error * (1 - error)
    agree = passes * right + (1 - passes) * both_wrong
    return np.stack([agree, one_wrong, one_wrong, 1 - 2 * one_wrong - agree], axis=-1)


def expected(effects: Effects, level: float) -> FloatArray:
    """(4,) mean of ``chances`` over queries and rubrics. level: mean logit of the errors."""
    passes = WEIGHTS @ expit(PASSES + effects.by_query * NODES) / WEIGHTS.sum()
    error = _error(level + np.hypot(effects.by_query, effects.by_rubric) * NODES)
    return np.asarray(WEIGHTS @ chances(np.full(len(NODES), passes), error) / WEIGHTS.sum())


def level_of(effects: Effects, kappa: float) -> float:
    """The mean logit of the errors that gives this kappa."""
    if kappa == 1:
        return -np.inf
    return float(brentq(lambda level: float(kappa_of_counts(expected(effects, level))) - kappa, -25, 25))


def simulated(
    rng: np.random.Generator, effects: Effects, queries: int, levels: tuple[float, float], share: float
) -> tuple[KappaComparison, IntArray, BoolArray]:
    """Counts of two raters' labels, the query of each rubric (J,), and which rubrics are kept (J,).

    levels: mean logits of errors of the rubrics kept, and of the others. share: of the rubrics that is kept.
    """
    rubrics = rng.integers(1, 2 * RUBRICS, queries) if effects.uneven else np.full(queries, RUBRICS)
    index = np.repeat(np.arange(queries), rubrics)
    kept = rng.random(len(index)) < share
    passes, error = (effects.by_query * rng.normal(size=queries)[index] for _ in range(2))
    error = np.where(kept, *levels) + error + effects.by_rubric * rng.normal(size=len(index))
    counts = rng.multinomial(SYSTEMS, chances(expit(PASSES + passes), _error(error)))
    return KappaComparison(HUMAN, counts[None].astype(float)), index, kept


def _interval_of_draws(draws: np.ndarray, confidence: float) -> tuple[float, float]:
    """Percentile interval of the known draws (R,); NaN where none is known."""
    known = draws[np.isfinite(draws)]
    low, high = percentile_interval(known, confidence) if len(known) else (np.nan, np.nan)
    return float(low), float(high)


def of_kappa(
    rng: np.random.Generator, effects: Effects, queries: int, kappa: float, level: float
) -> tuple[bool, bool]:
    """Whether its 95% interval holds kappa, and whether quantiles of draws of the queries do."""
    comparison, index, kept = simulated(rng, effects, queries, (level, level), 1.0)
    ends = comparison.pooled(kept, index).interval(0.95)
    counts = sum_by_query(comparison.counts[0], index, kept)
    drawn = _interval_of_draws(kappa_of_counts(query_draws(index, 200, rng) @ counts), 0.95)
    return _holds(ends, kappa), _holds(drawn, kappa)


def of_change(
    rng: np.random.Generator,
    effects: Effects,
    queries: int,
    levels: tuple[float, float],
    share: float,
    truth: float,
) -> tuple[bool, bool]:
    """Whether the two intervals of ``of_kappa`` hold the change: kappa of the rubrics kept less kappa of all."""
    comparison, index, kept = simulated(rng, effects, queries, levels, share)
    every, draws = np.ones(len(kept), dtype=bool), query_draws(index, 200, rng)
    _, *ends = comparison.pooled(kept, index).change(comparison.pooled(every, index), 0.95)
    some, all_of_them = (
        kappa_of_counts(draws @ sum_by_query(comparison.counts[0], index, part)) for part in (kept, every)
    )
    return _holds((ends[0], ends[1]), truth), _holds(_interval_of_draws(some - all_of_them, 0.95), truth)


def of_agreement(
    rng: np.random.Generator, effects: Effects, queries: int, kappa: float, level: float
) -> bool:
    """Whether the 95% interval of kappa in a table of judges' agreement holds the true kappa."""
    comparison, index, _ = simulated(rng, effects, queries, (level, level), 1.0)
    times = comparison.counts[0].astype(int).ravel()
    labels = np.repeat(np.tile(CELLS, (len(index), 1)), times, axis=0)
    found = agreement(labels, "cohen", 0.95, np.repeat(np.repeat(index, len(CELLS)), times))
    return _holds((found.low, found.high), kappa)


def kappas(tables: int) -> Iterator[tuple[object, ...]]:
    """Shares of 95% intervals that hold kappa, its change, and kappa in judges' agreement.

    In brackets the share for quantiles of the draws. Last, raters who fail few cells.
    """
    yield "", "queries", *(f"κ = {short(kappa)}" for kappa in KAPPAS)
    for effects in EFFECTS:
        levels = [level_of(effects, kappa) for kappa in KAPPAS]
        for queries in QUERIES:
            rng = np.random.default_rng([EFFECTS.index(effects), queries])
            cells = [
                [of_kappa(rng, effects, queries, kappa, level) for _ in range(tables)]
                for kappa, level in zip(KAPPAS, levels, strict=True)
            ]
            yield effects.name, queries, *map(_shown, cells)
    yield ()
    yield "", "queries", *(f"{kept:g} of {share:.0%}, else {rest:g}" for kept, rest, share in CHANGES)
    for effects in EFFECTS:
        designs = [change_of(effects, *change) for change in CHANGES]
        for queries in QUERIES:
            rng = np.random.default_rng([9, EFFECTS.index(effects), queries])
            cells = [[of_change(rng, effects, queries, *design) for _ in range(tables)] for design in designs]
            yield effects.name, queries, *map(_shown, cells)
    yield ()
    yield "judges' agreement", "queries", *(f"κ = {short(kappa)}" for kappa in KAPPAS)
    for effects in EFFECTS:
        levels = [level_of(effects, kappa) for kappa in KAPPAS]
        for queries in QUERIES:
            rng = np.random.default_rng([8, EFFECTS.index(effects), queries])
            held = [
                float(np.mean([of_agreement(rng, effects, queries, kappa, level) for _ in range(tables)]))
                for kappa, level in zip(KAPPAS, levels, strict=True)
            ]
            yield effects.name, queries, *map(short, held)
    yield ()
    yield (
        "queries of two rubrics",
        "failed",
        "jackknife alone below 0",
        "interval below 0",
        "above 0",
        "width",
    )
    for queries, fails in RARE:
        rng = np.random.default_rng([7, queries])
        yield queries, f"{fails:.0%}", *by_chance(rng, queries, fails, tables)


def by_chance(rng: np.random.Generator, queries: int, fails: float, tables: int) -> Iterator[str]:
    """How often 95% intervals of kappa leave out 0 if two raters fail cells independently, and their mean width."""
    group, found = np.tile(np.repeat(np.arange(queries), 2), SYSTEMS + 1), []
    for _ in range(tables):
        labels = (rng.random((len(group), 2)) >= fails).astype(float)
        both = agreement(labels, "cohen", 0.95, group)
        left = np.array([cohen_kappa(*labels[group != q].T) for q in range(queries)])
        alone = coefficient_interval(both.value, left, queries, 0.95, queries)
        found.append((alone[1] < 0, both.high < 0, both.low > 0, both.high - both.low))
    return map(short, np.nanmean(found, axis=0).tolist())


def change_of(
    effects: Effects, kept: float, rest: float, share: float
) -> tuple[tuple[float, float], float, float]:
    """Mean logits of errors of the rubrics kept and of the others, the share kept, and the true change of kappa."""
    levels = level_of(effects, kept), level_of(effects, rest)
    first, other = (expected(effects, level) for level in levels)
    change = kept - float(kappa_of_counts(share * first + (1 - share) * other))
    return levels, share, change if kept != rest else 0.0


def _error(logit: FloatArray) -> FloatArray:
    return np.asarray(expit(logit) / 2)


def _holds(ends: tuple[float, float], truth: float) -> bool:
    return bool(ends[0] <= truth <= ends[1])


def _shown(cells: list[tuple[bool, bool]]) -> str:
    ours, quantiles = np.mean(cells, axis=0)
    return f"{short(ours)} ({short(quantiles)})"
