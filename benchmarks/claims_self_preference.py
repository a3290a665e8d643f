"""A judge's self-preference with a known truth: do the intervals of ``experiment self_preference`` hold it?

Three judges err with the same probability; it and the pass rate (about two in three answers) may vary by query. The
first judge also passes some labels that it would have failed, of its own family or of all systems, with a probability
that may vary by query. The truth is the preference over all such queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from benchmarks.tables import short
from crubric_core.experiments.self_preference import by_query, leniency, preference
from crubric_core.experiments.statistics import mean_interval
from crubric_core.types import BoolArray, FloatArray, IntArray

JUDGES, PASSES = 3, 0.8
QUERIES = (5, 10, 20, 50, 100)
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)


@dataclass(frozen=True)
class Design:
    """own, others: numbers of systems. rubrics: of each query. uneven: each has 1 to 2 ``rubrics`` - 1 instead."""

    own: int
    others: int
    rubrics: int
    uneven: bool = False


@dataclass(frozen=True)
class Errors:
    """share: mean share of wrong labels of a judge. varies: sd over queries of its logit, and of that of passes."""

    share: float
    varies: float = 0.0


@dataclass(frozen=True)
class Kindness:
    """share: mean share of fails that become a pass, in the own family or ``to_all``. varies: as in ``Errors``."""

    name: str
    share: float
    varies: float = 0.0
    to_all: bool = False


DESIGNS = (Design(2, 4, 8), Design(2, 4, 8, uneven=True), Design(1, 14, 4), Design(1, 6, 1))
ERRORS = (Errors(0.002), Errors(0.02, 1.5), Errors(0.1))
KINDNESS = (
    Kindness("equally kind", 0.0),
    Kindness("10% kinder to all", 0.1, to_all=True),
    Kindness("2% kinder", 0.02),
    Kindness("10% kinder", 0.1),
    Kindness("10%, in few queries", 0.1, varies=3.0),
    Kindness("50% kinder", 0.5, varies=1.0),
)


@cache
def level_of(share: float, varies: float) -> float:
    """The mean of normal logits of sd ``varies`` whose probabilities have the mean ``share``."""
    return -np.inf if share == 0 else float(brentq(lambda level: _mean(level, varies) - share, -40, 40))


def truth_of(errors: Errors, kindness: Kindness) -> float:
    """The true preference: how much more of its own family the first judge passes than the others do."""
    passes = _mean(PASSES, errors.varies)
    fails = (1 - passes) * (1 - errors.share) + passes * errors.share
    return 0.0 if kindness.to_all else kindness.share * fails


def simulated(
    rng: np.random.Generator, design: Design, errors: Errors, kindness: Kindness, queries: int
) -> tuple[FloatArray, BoolArray, IntArray]:
    """Labels (M, J, K), whether a system is of the first judge's family (M,), and the query of each rubric (J,)."""
    size = design.rubrics
    rubrics = rng.integers(1, 2 * size, queries) if design.uneven else np.full(queries, size)
    index = np.repeat(np.arange(queries), rubrics)

    def chances(level: float, varies: float) -> FloatArray:
        return np.asarray(expit(level + varies * rng.normal(size=queries)))[index]

    passes = chances(PASSES, errors.varies)
    wrong = chances(level_of(errors.share, errors.varies), errors.varies)
    kind = chances(level_of(kindness.share, kindness.varies), kindness.varies)
    own = np.arange(design.own + design.others) < design.own
    truth = rng.random((len(own), len(index))) < passes
    panel = truth[..., None] ^ (rng.random((*truth.shape, JUDGES)) < wrong[:, None])
    panel[:, :, 0] |= (rng.random(truth.shape) < kind) & (own[:, None] | kindness.to_all)
    return panel.astype(float), own, index


def of_preference(
    rng: np.random.Generator, design: Design, errors: Errors, kindness: Kindness, queries: int
) -> tuple[bool, bool, float, float]:
    """Whether the 95% interval holds the truth, whether Student's t interval does, and the widths of both."""
    panel, own, index = simulated(rng, design, errors, kindness, queries)
    sides = by_query(leniency(panel)[:, :, 0], own, index)
    truth, (_, low, high, _) = truth_of(errors, kindness), preference(sides, 0.95)
    _, least, most, _ = mean_interval(sides[0, :, 0] - sides[0, :, 1] - sides[1, :, 0] + sides[1, :, 1])
    return low <= truth <= high, least <= truth <= most, high - low, most - least


def self_preferences(tables: int) -> Iterator[tuple[object, ...]]:
    """Shares of 95% intervals that hold the truth, then their mean widths; in brackets for Student's t."""
    head = "own, others, rubrics", "wrong labels", "queries", *(kindness.name for kindness in KINDNESS)
    yield head
    widths: list[tuple[object, ...]] = []
    for design in DESIGNS:
        for errors in ERRORS:
            for queries in QUERIES:
                rng = np.random.default_rng([DESIGNS.index(design), ERRORS.index(errors), queries])
                found = [
                    np.mean(
                        [of_preference(rng, design, errors, kindness, queries) for _ in range(tables)], axis=0
                    )
                    for kindness in KINDNESS
                ]
                row = _named(design), f"{errors.share:.1%}{', varies' * bool(errors.varies)}", queries
                yield *row, *(f"{short(ours)} ({short(t)})" for ours, t, _, _ in found)
                widths.append(
                    (*row, *(f"{short(ours, '.3f')} ({short(t, '.3f')})" for _, _, ours, t in found))
                )
    yield ()
    yield head
    yield from widths


def _named(design: Design) -> str:
    rubrics = f"1 to {2 * design.rubrics - 1}" if design.uneven else design.rubrics
    return f"{design.own}, {design.others}, {rubrics}"


def _mean(level: float, varies: float) -> float:
    return float(WEIGHTS @ expit(level + varies * NODES) / WEIGHTS.sum())
