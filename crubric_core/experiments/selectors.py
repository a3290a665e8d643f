"""Selectors of banks for new systems: ours, the paper's, random, and those of other benchmarks (docs/method.md §11).

A selector reads the labels of the training systems only. For each budget it chooses rubrics, places the new systems on
them, and predicts their scores on the whole pool.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ..bank.greedy import greedy_bank
from ..bank.pairs import pair_distances
from ..bank.pairs_order import pairs_order
from ..bank.peers import (
    Selection,
    anchor_points,
    best_of_random,
    features_of_labels,
    fluid_orders,
    gp_irt_weight,
    p_irt,
)
from ..bank.utility import utility_grid
from ..irt.abilities import log_probabilities
from ..irt.fit import IrtFit
from ..irt.information import item_information
from ..irt.prefixes import PrefixAbilities
from ..types import BoolArray, FloatArray, IntArray

NODES = np.linspace(-5.0, 5.0, 201)


@dataclass(frozen=True)
class Training:
    """The training data of a selector: M' systems and the model fitted to them.

    y, shares: (M', J) labels as levels and as shares of the full mark; NaN unknown. fit: the parameters. theta,
    theta_sd: (M',) abilities of the systems and their posterior sd. query_index: (J,) query of each rubric.
    passing, passing_paper: (J,) rubrics that pass the gate of the settings, and that of the paper.
    """

    y: FloatArray
    shares: FloatArray
    fit: IrtFit
    theta: FloatArray
    theta_sd: FloatArray
    query_index: IntArray
    passing: BoolArray
    passing_paper: BoolArray

    @property
    def varying(self) -> BoolArray:
        """(J,) rubrics with two different labels, and so with parameters."""
        return ~self.fit.constant

    @property
    def pool(self) -> IntArray:
        """Indices of the rubrics that vary: the pool whose score is predicted, and all candidates of the selectors."""
        return np.flatnonzero(self.varying)

    @cached_property
    def curve(self) -> FloatArray:
        """(G,) expected share of the mark over the pool at NODES."""
        return pool_curve(self.chances[:, self.pool])

    @cached_property
    def chances(self) -> FloatArray:
        """(L, J, G) probability of each level at NODES; NaN for a rubric without parameters."""
        return np.exp(self.log_chances)

    @cached_property
    def log_chances(self) -> FloatArray:
        """(L, J, G) logarithms of the probabilities; NaN for a rubric without parameters."""
        pool = self.pool
        known = log_probabilities(self.fit, pool, NODES)
        out = np.full((len(known), len(self.fit.a), len(NODES)), np.nan)
        out[:, pool] = known
        return out


@dataclass(frozen=True)
class Predicted:
    """Results for M new systems, (budgets, M) each. theta: abilities on the banks. score: predicted pool scores."""

    theta: FloatArray
    score: FloatArray


class Selector(Protocol):
    """A function that chooses banks from the training systems and places new systems on them."""

    def __call__(
        self,
        training: Training,
        y: FloatArray,
        shares: FloatArray,
        budgets: IntArray,
        rng: np.random.Generator,
    ) -> Predicted:
        """Place the new systems. y, shares: (M, J) their labels as levels and as shares of the mark, NaN unknown."""


def _by_order(training: Training, y: FloatArray, order: IntArray, budgets: IntArray) -> Predicted:
    theta = PrefixAbilities(training.fit, y)([order], budgets)[0]
    return Predicted(theta, np.interp(theta, NODES, training.curve))


def pairs(
    training: Training, y: FloatArray, shares: FloatArray, budgets: IntArray, rng: np.random.Generator
) -> Predicted:
    """The strategy "pairs" on the rubrics that pass the gate of the settings."""
    levels, thresholds = training.fit.levels, training.fit.thresholds
    distances = pair_distances(training.y, training.theta, training.theta_sd, levels, thresholds)
    found = pairs_order(
        distances, training.query_index, training.varying & training.passing, int(budgets[-1])
    )
    return _by_order(training, y, found.order, budgets)


def greedy(
    training: Training, y: FloatArray, shares: FloatArray, budgets: IntArray, rng: np.random.Generator
) -> Predicted:
    """The paper's greedy choice of the rubrics that pass the paper's gate."""
    grid = utility_grid(difficulty=training.fit.b, theta=training.theta)
    info, feasible = item_information(training.fit, grid.theta), training.varying & training.passing_paper
    order, _ = greedy_bank(info, grid.weights, int(budgets[-1]), feasible)
    return _by_order(training, y, order, budgets)


def chance(
    training: Training, y: FloatArray, shares: FloatArray, budgets: IntArray, rng: np.random.Generator
) -> Predicted:
    """Random rubrics that vary among the training systems."""
    return _by_order(training, y, rng.permutation(training.pool), budgets)


def fluid(
    training: Training, y: FloatArray, shares: FloatArray, budgets: IntArray, rng: np.random.Generator
) -> Predicted:
    """fluid-benchmarking: each new system gets the rubrics that are most informative at its ability so far."""
    info = item_information(training.fit, NODES)
    orders = fluid_orders(y, training.log_chances, info, NODES, int(budgets[-1]))
    theta = PrefixAbilities(training.fit, y)(orders, budgets)
    own = np.stack([theta[i, :, i] for i in range(len(y))], axis=1)
    return Predicted(own, np.interp(own, NODES, training.curve))


def metabench(
    training: Training, y: FloatArray, shares: FloatArray, budgets: IntArray, rng: np.random.Generator
) -> Predicted:
    """metabench: the random subset that predicts the training systems' scores best."""
    candidates = training.pool
    banks = [best_of_random(training.shares, candidates, int(size), rng) for size in budgets]
    scores = np.stack([bank.score(shares) for bank in banks])
    return Predicted(_abilities(training, y, banks), scores)


def tiny_correctness(
    training: Training, y: FloatArray, shares: FloatArray, budgets: IntArray, rng: np.random.Generator
) -> Predicted:
    """TinyBenchmarks' anchor points from the labels, with its gp-IRT score."""
    return _anchored(training, features_of_labels(training.shares), y, shares, budgets, rng)


def tiny_irt(
    training: Training, y: FloatArray, shares: FloatArray, budgets: IntArray, rng: np.random.Generator
) -> Predicted:
    """TinyBenchmarks' anchor points from slopes and intercepts, with its gp-IRT score."""
    a, b = training.fit.a, training.fit.b
    return _anchored(training, np.column_stack([a, -a * b]), y, shares, budgets, rng)


def _anchored(
    training: Training,
    features: FloatArray,
    y: FloatArray,
    shares: FloatArray,
    budgets: IntArray,
    rng: np.random.Generator,
) -> Predicted:
    candidates = training.pool
    banks = [anchor_points(features, candidates, int(size), rng) for size in budgets]
    theta = _abilities(training, y, banks)
    error, variance = _model_error(training), float(np.nanvar(training.shares, axis=1).mean())
    pool = training.pool
    marks = np.arange(len(training.chances)) / (len(training.chances) - 1)
    expected = np.tensordot(marks, training.chances[:, pool], 1)
    scores = []
    for bank, ability in zip(banks, theta, strict=True):
        naive = bank.score(shares)
        node = np.clip(np.searchsorted(NODES, ability), 0, len(NODES) - 1)
        mixed = p_irt(naive, expected[:, node].T, np.flatnonzero(np.isin(pool, bank.rubrics)))
        weight = gp_irt_weight(error, variance, len(bank.rubrics))
        scores.append(weight * naive + (1 - weight) * mixed)
    return Predicted(theta, np.stack(scores))


def _abilities(training: Training, y: FloatArray, banks: list[Selection]) -> FloatArray:
    """(budgets, M) EAP of the new systems on each bank."""
    place = PrefixAbilities(training.fit, y)
    return np.stack([place([bank.rubrics], [len(bank.rubrics)])[0, 0] for bank in banks])


def _model_error(training: Training) -> float:
    """Mean absolute error of a training system's score on every second rubric, predicted from the others."""
    pool = training.pool
    seen, unseen = pool[::2], pool[1::2]
    if not unseen.size:
        return 0.0
    theta = PrefixAbilities(training.fit, training.y)([seen], [len(seen)])[0, 0]
    curve = pool_curve(training.chances[:, unseen])
    actual = np.array(
        [
            row[~np.isnan(row)].mean() if (~np.isnan(row)).any() else np.nan
            for row in training.shares[:, unseen]
        ]
    )
    errors = np.abs(np.interp(theta, NODES, curve) - actual)
    return float(errors[np.isfinite(errors)].mean()) if np.isfinite(errors).any() else 0.0


def pool_curve(chances: FloatArray) -> FloatArray:
    """(G,) pool score at each node: the expected share of the mark, averaged over J rubrics.

    chances: (L, J, G) probability of each level.
    """
    marks = np.arange(len(chances)) / (len(chances) - 1)
    return np.asarray(np.tensordot(marks, chances, 1).mean(axis=0))


SELECTORS: dict[str, Selector] = {
    "pairs": pairs,
    "greedy": greedy,
    "random": chance,
    "tiny_labels": tiny_correctness,
    "tiny_irt": tiny_irt,
    "metabench": metabench,
    "fluid": fluid,
}
"""The selectors in the order of the table; the others are compared with ``random``."""
