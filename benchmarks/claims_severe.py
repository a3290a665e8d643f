"""How often judges are said to differ in severity, and intervals of all pairs at once hold, by ``many_facet``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import expit

from benchmarks.false_differences import EFFECT
from benchmarks.tables import short
from crubric_core.irt.facets import fit_many_facet
from crubric_core.leaderboard.facets import severities_of
from crubric_core.types import FloatArray, IntArray

PER_QUERY = 4
LOGISTIC = (16 * np.sqrt(3) / (15 * np.pi)) ** 2  # of the normal law that the logistic resembles
DESIGNS = (
    (12, 60, 5, 0.0, 0.0),
    (12, 60, 5, 0.0, 1.0),
    (6, 20, 4, 0.0, 1.0),
    (6, 10, 4, 0.0, 0.0),
    (6, 10, 4, 0.0, 1.0),
    (12, 60, 5, 0.5, 0.5),
    (6, 10, 4, 0.5, 1.0),
)
"""Systems, queries, judges, sd of their severities, and of their strictness over queries (logits)."""


def severe(tables: int) -> Iterator[tuple[object, ...]]:
    """Equal judges, or of severities N(0, .5²), who are stricter on some queries than on others."""
    yield (
        "systems × queries",
        "judges",
        "severities",
        "wander",
        "any pair said to differ",
        "all differences held",
    )
    for systems, queries, judges, spread, wander in DESIGNS:
        found = []
        for seed in range(tables):
            panel, severity, query = labels(seed, systems, queries, judges, spread, wander)
            shown = severities_of(panel, fit_many_facet(panel), query)
            difference, half = shown.differences(0.95)
            off = np.abs(difference - (severity[:, None] - severity))
            found.append(((np.abs(difference) > half).any(), (off <= half).all()))
        size, shares = f"{systems} × {queries}", (short(float(share)) for share in np.mean(found, axis=0))
        yield size, judges, f"N(0, {spread:g}²)" if spread else "equal", wander, *shares


def labels(
    seed: int, systems: int, queries: int, judges: int, spread: float, wander: float
) -> tuple[FloatArray, FloatArray, IntArray]:
    """A panel (M, J, K) with system × query effects, the severities (K,) of mean 0, the query of each rubric.

    Severities are those of the labels over all queries, where effects of queries leave less of a difference in logits.
    """
    rng, size = np.random.default_rng([91, seed, systems, queries]), queries * PER_QUERY
    query, theta = np.repeat(np.arange(queries), PER_QUERY), 0.5 * rng.normal(size=systems)
    severity = spread * rng.normal(size=judges)
    severity -= severity.mean()
    a, b = np.exp(rng.normal(0, 0.4, size)), rng.normal(0, 1.2, size)
    logits = a * (theta[:, None] - b) + EFFECT * rng.normal(size=(systems, queries))[:, query]
    strict = severity + wander * rng.normal(size=(queries, judges))[query]
    chance = expit(logits[:, :, None] - strict)
    over_queries = np.sqrt(1 + LOGISTIC * (EFFECT**2 + wander**2))
    return (rng.random(chance.shape) < chance).astype(float), severity / over_queries, query
