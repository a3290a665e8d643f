"""Model checks where all models predict equally well: how often is one model reported to be ahead?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import expit

from crubric_core.irt.comparison import (
    ALPHA,
    FOLDS,
    behind_the_best,
    cell_folds,
    clustered_standard_errors,
    held_out_loglik,
)
from crubric_core.settings import Model
from crubric_core.types import FloatArray

MODELS: tuple[Model, ...] = ("1PL", "2PL", "3PL")
PAIRS = len(MODELS) * (len(MODELS) - 1) // 2


@dataclass(frozen=True)
class Design:
    """Tables of M systems and J rubrics, theta ~ N(0, 1), b ~ N(0, 1.2²).

    log_a: sd of the log slopes. guessing: lower asymptotes ~ Beta(4, 16). effect: sd of a system's effect on a query of
    five rubrics.
    """

    systems: int
    rubrics: int
    log_a: float = 0.0
    guessing: bool = False
    effect: float = 0.0


DESIGNS = {
    "1PL": Design(12, 200),
    "2PL, queries have effects": Design(12, 200, log_a=0.4, effect=1.0),
    "3PL": Design(12, 200, log_a=0.4, guessing=True),
    "1PL, 6 systems": Design(6, 300),
    "2PL, 6 systems": Design(6, 300, log_a=0.4),
    "1PL, 40 systems": Design(40, 60),
    "2PL, 40 systems": Design(40, 60, log_a=0.4),
    "2PL, slopes nearly equal, 40 systems": Design(40, 60, log_a=0.15),
}


def table(design: Design, seed: int) -> tuple[FloatArray, FloatArray]:
    """Labels (M, J), and the probability of a pass in each cell (M, J)."""
    m, j = design.systems, design.rubrics
    rng = np.random.default_rng([seed, m, j])
    theta, b = rng.normal(size=(m, 1)), rng.normal(0, 1.2, j)
    a = np.exp(rng.normal(0, design.log_a, j))
    c = rng.beta(4, 16, j) if design.guessing else 0.0
    effect = np.repeat(rng.normal(0, design.effect, (m, j // 5)), 5, axis=1)
    chance = c + (1 - c) * expit(a * (theta + effect - b))
    return (rng.random((m, j)) < chance).astype(float), chance


def check(design: Design, seed: int) -> tuple[str, bool, bool, bool]:
    """One model check: the model that predicts best, and three results at 5% after expected differences are removed.

    The expectation of a prediction is over labels with their true probabilities. The results: whether 1PL and 2PL
    differ, clustered by system alone; whether the best is ahead of another model, clustered by system and rubric,
    without and with Bonferroni's correction.
    """
    y, chance = table(design, seed)
    folds = cell_folds(y, FOLDS, np.random.default_rng([0, 5]))
    scored = np.stack([held_out_loglik(y, folds, model) for model in MODELS])
    known = np.isfinite(scored).all(axis=0)
    system, rubric = np.nonzero(known)
    said = np.exp(scored[:, known])
    passes = np.where(y[known] == 1, said, 1 - said)
    expected = chance[known] * np.log(passes) + (1 - chance[known]) * np.log1p(-passes)
    equal = scored[:, known] - expected.mean(axis=1, keepdims=True)
    best = int(equal.mean(axis=1).argmax())
    bounded = np.delete(behind_the_best(equal, best, system, rubric)[1], best)  # times the number of pairs
    apart = equal[:1] - equal[1:2]
    alone = abs(apart.mean()) / clustered_standard_errors(apart, system).item()
    first = MODELS[int(scored[:, known].mean(axis=1).argmax())]
    return (
        first,
        bool(2 * stats.t.sf(alone, design.systems - 1) <= ALPHA),
        bool((bounded <= PAIRS * ALPHA).any()),
        bool((bounded <= ALPHA).any()),
    )


def models(tables: int) -> Iterator[tuple[object, ...]]:
    """Shares of the tables with a false claim, and the number of tables that each model predicts best."""
    yield (
        "tables that follow",
        "systems × rubrics",
        "1PL and 2PL differ, by system alone",
        "the best is ahead",
        "the same × pairs of models, as said",
        "predicts best: " + ", ".join(MODELS),
    )
    for name, design in DESIGNS.items():
        found = [check(design, seed) for seed in range(tables)]
        best = Counter(f[0] for f in found)
        rates = np.mean([f[1:] for f in found], axis=0)
        size = f"{design.systems} × {design.rubrics}"
        yield name, size, *(f"{rate:.0%}" for rate in rates), ", ".join(str(best[model]) for model in MODELS)
