"""Effects of flipped task types on simulated labels: do the intervals of ``experiment perturbation`` hold?

Queries have 8 rubrics, and most of their types are high-risk. Passes vary by query, and by system and query. In some
designs every second system fails more of the severe rubrics of high-risk queries. The truth is that of 20,000 queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import cast

import numpy as np
import pandas as pd
from scipy.special import expit

from benchmarks.tables import short
from crubric_core import Settings
from crubric_core.experiments.inputs import Inputs
from crubric_core.experiments.perturbation import flip_table, flip_types
from crubric_core.experiments.results import ExperimentWatch
from crubric_core.experiments.scoring import gap, omega, score
from crubric_core.ranks import rank_correlation
from crubric_core.task_types.types import HIGH_RISK, TASK_TYPES, ObjectArray
from crubric_core.types import FloatArray

RUBRICS, FLIPPED, SEEDS, DRAWS = 8, 0.3, 10, 100
SYSTEMS, QUERIES = (5, 15), (6, 10, 20, 60)


@dataclass(frozen=True)
class Design:
    """spread: systems lie evenly within ± spread, in logits. loss: lower logit of every second system on severe rubrics
    of high-risk queries.

    typed: share of the queries that have a type. special: share of the rubrics that a type may act on.
    """

    name: str
    spread: float = 1.0
    loss: float = 0.0
    typed: float = 1.0
    special: float = 0.6


DESIGNS = (
    Design("equal systems", spread=0.0),
    Design("systems differ"),
    Design("some fail what is punished", spread=0.2, loss=2.0),
    Design("the same, 30% of the queries typed", spread=0.2, loss=2.0, typed=0.3),
    Design("the same, types act on 2% of the rubrics", spread=0.2, loss=2.0, special=0.02),
    Design("the same, 30% typed, on 4% of the rubrics", spread=0.2, loss=2.0, typed=0.3, special=0.04),
)


def simulated(
    rng: np.random.Generator, design: Design, systems: int, queries: int
) -> tuple[Inputs, ObjectArray]:
    """The inputs of the experiment, and the type of each query, None if it has none."""
    types = rng.choice(np.array(TASK_TYPES, dtype=object), queries, p=[0.1, 0.1, 0.7, 0.1])
    types[rng.random(queries) >= design.typed] = None
    index = np.repeat(np.arange(queries), RUBRICS)
    share = [design.special / 2, design.special / 2, 1 - design.special]
    dimension, severity = (
        rng.choice(np.array([*names, None], dtype=object), len(index), p=share)
        for names in (("actionability", "creativity"), ("critical", "moderate"))
    )
    ability = 0.7 + design.spread * np.linspace(-1, 1, systems)[:, None]
    ability = ability + 0.7 * rng.normal(size=(systems, queries))
    loss = (
        design.loss * (np.arange(systems) % 2)[:, None] * (pd.notna(severity) & (types[index] == HIGH_RISK))
    )
    chance = expit((ability + 0.7 * rng.normal(size=queries))[:, index] - loss)
    reduction = SimpleNamespace(
        y=(rng.random(chance.shape) < chance).astype(float),
        levels=np.full(len(index), 2),
        rubrics=pd.DataFrame({"dimension": dimension, "severity": severity}),
    )
    inputs = SimpleNamespace(
        reduction=reduction,
        queries=pd.DataFrame({"omega": np.full(queries, np.nan)}),
        query_index=index,
        settings=Settings(replicates=DRAWS, seed=int(rng.integers(2**31))),
    )
    return cast(Inputs, inputs), types


@cache
def truth_of(design: Design, systems: int) -> float:
    """Change of the gap over 20,000 queries, in points."""
    rng = np.random.default_rng(0)
    inputs, types = simulated(rng, design, systems, 20_000)
    flipped = flip_types(types, FLIPPED, rng)
    weights = omega(inputs.queries)
    after, before = (gap(score(inputs, each).by_query, weights) for each in (flipped, types))
    return after - before


def of_change(
    rng: np.random.Generator, design: Design, systems: int, queries: int
) -> tuple[float, float, float]:
    """Whether the 95% interval of the change holds the truth, whether it leaves out 0, its width; NaN without one."""
    row = flip_table(
        *simulated(rng, design, systems, queries), [FLIPPED], SEEDS, ExperimentWatch(None, None)
    ).iloc[0]
    if np.isnan(row["low"]):
        return np.nan, np.nan, np.nan
    truth = truth_of(design, systems)
    return row["low"] <= truth <= row["high"], row["low"] > 0 or row["high"] < 0, row["high"] - row["low"]


def correlation(rng: np.random.Generator, systems: int, queries: int) -> float:
    """Spearman's rho between the adaptive and the binary scores of equal systems."""
    inputs, types = simulated(rng, DESIGNS[0], systems, queries)
    scores: list[FloatArray] = [score(inputs, of).score for of in (types, None)]
    return float(rank_correlation(*scores))


def flips(tables: int) -> Iterator[tuple[object, ...]]:
    """Shares of 95% intervals of the change that hold, leave out 0, and are unknown; then ranks by two scorings.

    The ranks are of equal systems by adaptive and by binary scores.
    """
    yield "labels", "systems", "queries", "true change", "held", "leaves out 0", "width", "unknown"
    for design in DESIGNS:
        for systems in SYSTEMS:
            for queries in QUERIES:
                rng = np.random.default_rng([DESIGNS.index(design), systems, queries])
                found = np.array([of_change(rng, design, systems, queries) for _ in range(tables)])
                known = found[np.isfinite(found).all(axis=1)]
                held, not_0, width = known.mean(axis=0) if len(known) else np.full(3, np.nan)
                shares = short(held), short(not_0), f"{width:.1f}", short(1 - len(known) / tables)
                yield design.name, systems, queries, f"{truth_of(design, systems):.2f}", *shares
    yield ()
    yield "equal systems", "queries", "mean ρ of adaptive and binary", "ρ above .5"
    for systems in SYSTEMS:
        for queries in QUERIES:
            rng = np.random.default_rng([9, systems, queries])
            rho = np.array([correlation(rng, systems, queries) for _ in range(tables)])
            yield systems, queries, short(float(np.nanmean(rho))), short(float(np.mean(rho > 0.5)))
