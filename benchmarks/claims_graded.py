"""Claims about abilities by the graded response model from labels of 1 to 5, checked as in ``benchmarks.inference``.

15 systems, 60 queries of 3 rubrics, and three judges, who see the true quality with normal errors of sd .7 logits. A
cell has the median of their labels.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.inference import coverage, rates
from benchmarks.inference_designs import Table, abilities
from benchmarks.tables import short
from crubric_core.irt.fit import fit_irt
from crubric_core.leaderboard.cross_fit import cross_fit
from crubric_core.leaderboard.inference import Inference, infer
from crubric_core.leaderboard.influence import ability_influence

QUERIES, PER_QUERY, JUDGES, LEVELS = 60, 3, 3, 5
STEPS = np.array([-1.5, -0.5, 0.5, 1.5])
DESIGNS = (
    (0.0, 0.0, 0.0),
    (1.0, 0.0, 0.0),
    (0.0, -1.5, 0.0),
    (1.0, -1.5, 0.0),
    (1.0, 0.0, 0.3),
)
"""Sd of each system's effect on each query, in logits; mean difficulty; share of cells missing."""


def graded(tables: int) -> Iterator[tuple[object, ...]]:
    """Shares of false claims among systems of one ability, and of intervals that hold the truth."""
    yield (
        *("effect of queries", "middle of the scale", "missing"),
        *("identical pairs separated", "any of all at once", "theta", "differences", "ranks"),
    )
    for effect, middle, missing in DESIGNS:
        wrong, held = [], []
        for seed in range(tables):
            table, rule = _claims("identical", effect, middle, missing, seed)
            wrong.append(rates(table, rule))
            table, rule = _claims("clones", effect, middle, missing, seed)
            held.append(coverage(table, rule, np.random.default_rng([38, seed])))
        means = [np.mean([found[name] for found in wrong]) for name in ("apart", "border")]
        means += [np.mean([found[name] for found in held]) for name in ("theta", "difference", "rank")]
        yield effect, middle, f"{missing:.0%}", *(short(float(mean)) for mean in means)


def _claims(systems: str, effect: float, middle: float, missing: float, seed: int) -> tuple[Table, Inference]:
    table = _simulated(systems, effect, middle, missing, seed)
    levels = np.full(table.y.shape[1], LEVELS)
    fit = fit_irt(table.y, "GRM", levels=levels)
    influence = ability_influence(cross_fit(table.y, fit), ~fit.constant, table.query)
    return table, infer(influence, np.random.default_rng([8, seed]))


def _simulated(systems: str, effect: float, middle: float, missing: float, seed: int) -> Table:
    rng = np.random.default_rng([37, seed])
    theta, size = abilities(systems, rng), QUERIES * PER_QUERY
    a, b = np.exp(rng.normal(0, 0.4, size)), rng.normal(middle, 0.8, size)
    mood = effect * rng.normal(size=(len(theta), QUERIES)).repeat(PER_QUERY, axis=1)
    truth = a * (theta[:, None] - b) + mood + rng.logistic(size=(len(theta), size))
    seen = truth[..., None] + 0.7 * rng.normal(size=(*truth.shape, JUDGES))
    y = np.median((seen[..., None] > STEPS).sum(axis=-1), axis=2)
    y[rng.random(y.shape) < missing] = np.nan
    return Table(y, np.arange(QUERIES).repeat(PER_QUERY), theta)
