"""Abilities by dimension on simulated labels: does the interval of their correlation hold, are orders falsely opposed?

Labels of three judges on 2PL rubrics (log a ~ N(0, .4²), b ~ N(0, 1.2²)) of two dimensions, two rubrics of each
in a query, with system × query effects of sd 1 logit that both dimensions of a query share.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from benchmarks.inference_designs import judged
from benchmarks.tables import short
from crubric_core import Settings, fit_irt
from crubric_core.analysis.dimensions import Dimensions, by_dimension, dimension_fits, opposed
from crubric_core.leaderboard.cross_fit import cross_fit
from crubric_core.leaderboard.inference import infer
from crubric_core.leaderboard.influence import ability_influence

NAMES = np.array(["facts", "tone"])
EFFECT = 1.0
# systems, queries, share of labels missing, how much easier the second dimension is in logits, true correlation
DESIGNS = (
    *((systems, 40, 0.0, 0.0, rho) for systems in (8, 15) for rho in (0.0, 0.5, 0.8, 0.95, 1.0)),
    *((40, 40, 0.0, 0.0, rho) for rho in (0.8, 1.0)),
    *((15, 40, 0.3, 0.0, rho) for rho in (0.8, 1.0)),
    *((15, 10, 0.0, 0.0, rho) for rho in (0.8, 1.0)),
    *((15, 10, 0.0, 4.0, rho) for rho in (0.8, 1.0)),
)


def traits(tables: int) -> Iterator[tuple[object, ...]]:
    """Shares of 95% intervals that hold and that exclude 1, their ends, and tables that report an opposed pair."""
    yield (
        *("systems", "queries", "labels missing", "second easier by", "true correlation"),
        *("found", "held", "too low", "too high", "excludes 1", "interval", "opposite ways"),
    )
    for design in DESIGNS:
        yield row(design, tables)


def row(design: tuple[int, int, float, float, float], tables: int) -> tuple[object, ...]:
    """The row of one design; the found correlation and the ends are medians, — if it is unknown in a table."""
    systems, queries, missing, easier, rho = design
    found = np.array([_one(design, seed) for seed in range(tables)])
    value, low, high = np.median(found[:, :3], axis=0)
    too_low, too_high = found[:, 2] < rho - 1e-9, found[:, 1] > rho + 1e-9
    return (
        *(systems, queries, f"{missing:.0%}", f"{easier:.0f}", f"{rho:g}"),
        f"{value:.2f}" if np.isfinite(value) else "—",
        *(
            short(float(share.mean()))
            for share in (~(too_low | too_high), too_low, too_high, found[:, 2] < 1)
        ),
        f"{low:.2f} to {high:.2f}",
        short(found[:, 3].mean(), ".3f"),
    )


def simulated(
    design: tuple[int, int, float, float, float], seed: int
) -> tuple[Any, pd.DataFrame, np.ndarray]:
    """A stand-in for a reduction that ``by_dimension`` can read, its queries, and the query of each rubric."""
    systems, queries, missing, easier, rho = design
    rng, size = np.random.default_rng([21, seed]), 4 * queries
    query, dimension = np.arange(size) // 4, np.arange(size) % 2
    a, b = np.exp(rng.normal(0, 0.4, size)), rng.normal(0, 1.2, size) - easier * dimension
    common, own = rng.normal(size=(systems, 1)), rng.normal(size=(systems, 2))
    theta = (np.sqrt(rho) * common + np.sqrt(1 - rho) * own)[:, dimension]
    mood = EFFECT * rng.normal(size=(systems, queries))[:, query]
    y = judged(rng.random(theta.shape) < expit(a * (theta - b) + mood), "plain", rng)
    y[rng.random(y.shape) < missing] = np.nan
    rubrics = pd.DataFrame({"query": query.astype(str), "dimension": NAMES[dimension]})
    reduction = SimpleNamespace(y=y, levels=np.full(size, 2), rubrics=rubrics)
    return reduction, pd.DataFrame({"query": np.arange(queries).astype(str)}), query


def found_of(reduction: Any, queries: pd.DataFrame, query: np.ndarray) -> tuple[Dimensions | str, Any]:
    """Abilities by dimension, or the reason why there are none, and the pooled fit."""
    fit, settings = fit_irt(reduction.y), Settings()
    fits = dimension_fits(reduction, ~fit.constant, query, settings)
    return by_dimension(reduction, fits, ~fit.constant, ~fit.constant, queries, settings), fit


def _one(design: tuple[int, int, float, float, float], seed: int) -> tuple[float, ...]:
    reduction, queries, query = simulated(design, seed)
    found, fit = found_of(reduction, queries, query)
    if isinstance(found, str):  # too few rubrics that vary
        return float("nan"), -1.0, 1.0, 0.0
    board = infer(
        ability_influence(cross_fit(reduction.y, fit), ~fit.constant, query), np.random.default_rng(1)
    )
    (correlation,) = found.correlations
    return correlation.value, correlation.low, correlation.high, float(opposed(found, board).any())
