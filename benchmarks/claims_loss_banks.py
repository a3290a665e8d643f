"""Does a bank chosen by losses order new systems by loss better, and what does that cost for their abilities?

The strategy pairs with each rubric's distances multiplied by its loss, beside pairs as it is, and pairs among rubrics
with a loss only. Simulated tables: 60 queries of eight rubrics, critical (15%, loss 10), moderate (25%, loss 1) and
others (loss 0); rubrics with a loss depend on a second ability, which correlates with that of the others. The simulated
study: banks from half of its queries, compared with the labels on the other half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from scipy.special import expit

from benchmarks.false_differences import EFFECT
from benchmarks.tables import short
from crubric_core import Workspace, fit_irt
from crubric_core.analysis.selection import query_positions
from crubric_core.bank.pairs import PairDistances, pair_distances
from crubric_core.bank.pairs_order import pairs_sequence
from crubric_core.demo import simulate
from crubric_core.irt.abilities import estimate_abilities
from crubric_core.scoring_rules import Loss
from crubric_core.task_types.losses import fitting_loss
from crubric_core.task_types.types import types_of_queries

OLD, NEW, QUERIES, EACH, BANK = 16, 12, 60, 8, 60
STUDY_NEW = 4  # systems of the simulated study that are new
LOSSES, SHARES, ODDS = np.array([10.0, 1, 0]), (0.15, 0.25, 0.6), np.array([1.5, 0.8, 0])
CORRELATIONS = (1.0, 0.6, 0.2)
BANKS = ("pairs", "pairs × loss", "pairs, of rubrics with a loss", "random", "all rubrics")


@dataclass(frozen=True)
class Case:
    """Labels (M, J), of which the last ``new`` systems are new; query and loss of each rubric (J,).

    loss, ability: (M,) true values that order the new systems; a low loss is good, a high ability is good.
    """

    y: np.ndarray
    query: np.ndarray
    losses: np.ndarray
    loss: np.ndarray
    ability: np.ndarray
    new: int


def loss_banks(tables: int) -> Iterator[tuple[object, ...]]:
    """Shares of pairs of new systems that each bank puts in their true order, and its share of critical rubrics."""
    yield (
        "systems",
        "bank of 60",
        "by loss: its own losses",
        "by loss: its θ",
        "by ability: its θ",
        "critical rubrics",
    )
    designs: dict[str, Callable[[int], Case]] = {
        f"losses and abilities correlated {short(r, '.1f')}": partial(simulated, correlation=r)
        for r in CORRELATIONS
    }
    for name, draw in (designs | {"simulated study": of_study}).items():
        found = np.array([compared(draw(seed), seed) for seed in range(tables)])
        for bank, row in zip(BANKS, found.mean(axis=0), strict=True):
            yield name, bank, *map(short, row.tolist())


def compared(case: Case, seed: int) -> np.ndarray:
    """(5, 4) shares of pairs in order of each of BANKS, by three comparisons, and its share of critical rubrics."""
    old, new = case.y[: -case.new], case.y[-case.new :]
    fit = fit_irt(old)
    known, usable = estimate_abilities(fit, old), ~fit.constant
    distances = pair_distances(old, known.theta, known.sd)
    banks = (
        pairs_sequence(distances, case.query, usable, BANK),
        pairs_sequence(weighed(distances, case.losses), case.query, usable, BANK),
        pairs_sequence(distances, case.query, usable & (case.losses > 0), BANK),
        np.random.default_rng([48, seed]).permutation(np.flatnonzero(usable))[:BANK],
        np.arange(len(case.losses)),
    )
    loss, ability = case.loss[-case.new :], case.ability[-case.new :]
    out = []
    for bank in banks:
        theta = estimate_abilities(fit, new, bank).theta
        own = np.isfinite(new[:, bank]) * case.losses[bank]
        lost = (np.nan_to_num(1 - new[:, bank]) * own).sum(axis=1) / np.maximum(own.sum(axis=1), 1e-9)
        critical = (case.losses[bank] == LOSSES[0]).mean()
        out.append((in_order(lost, loss), in_order(-theta, loss), in_order(theta, ability), critical))
    return np.array(out)


def weighed(distances: PairDistances, losses: np.ndarray) -> PairDistances:
    """The distances of each rubric multiplied by its loss, after the losses are divided by their mean."""
    rows = distances.rows[distances.row] * (losses / losses.mean())[:, None]
    return replace(distances, rows=rows, row=np.arange(len(losses)))


def in_order(found: np.ndarray, truth: np.ndarray) -> float:
    """Share of the pairs that both order alike; a tie counts half."""
    i, k = np.triu_indices(len(truth), 1)
    return float((0.5 + 0.5 * np.sign((found[i] - found[k]) * (truth[i] - truth[k]))).mean())


def simulated(seed: int, correlation: float) -> Case:
    """Labels that follow the 2PL with a system × query effect."""
    rng = np.random.default_rng([47, seed])
    theta, other = rng.normal(size=(2, OLD + NEW))
    safe = correlation * theta + np.sqrt(1 - correlation**2) * other
    query, size = np.repeat(np.arange(QUERIES), EACH), QUERIES * EACH
    kind = rng.choice(3, size, p=SHARES)
    a, b = np.exp(rng.normal(0, 0.4, size)), rng.normal(0, 1.2, size) - ODDS[kind]
    level = a * (np.where(kind == 2, theta[:, None], safe[:, None]) - b)
    mood = EFFECT * rng.normal(size=(len(theta), QUERIES))[:, query]
    y = (rng.random(level.shape) < expit(level + mood)).astype(float)
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    violated = sum(w * expit(-level - EFFECT * x) for x, w in zip(nodes, weights, strict=True))
    return Case(y, query, LOSSES[kind], violated @ LOSSES[kind], theta, NEW)


def of_study(seed: int) -> Case:
    """Half of the queries of the simulated study; the truth is the mean loss and the mean label on the other half."""
    y, query, losses = study()
    rng = np.random.default_rng([49, seed])
    y, half = y[rng.permutation(len(y))], rng.permutation(np.unique(query))[::2]
    here = np.isin(query, half)
    there, cost = y[:, ~here], np.isfinite(y[:, ~here]) * losses[~here]
    loss = (np.nan_to_num(1 - there) * cost).sum(axis=1) / cost.sum(axis=1)
    at = np.unique(query[here], return_inverse=True)[1]
    return Case(y[:, here], at, losses[here], loss, np.nanmean(there, axis=1), STUDY_NEW)


@cache
def study() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Consensus labels (M, J) of the simulated study, and query and loss of each rubric (J,)."""
    made = simulate(seed=0)
    with Workspace() as workspace:
        for kind in ("labels", "rubrics", "queries"):
            workspace.ingest(getattr(made, kind).to_csv(index=False).encode(), "study", kind)
        ds = workspace.dataset("study")
        reduction, queries = ds.reduce("binary", "unknown", 0), ds.queries
    query = query_positions(queries, reduction)
    kinds = Loss("high_risk_constraint", "critical", 10), Loss("high_risk_constraint", "moderate", 1)
    types = types_of_queries(queries, 0.5).task_type[query]
    found = fitting_loss(kinds, reduction.rubrics["severity"].tolist(), types)
    return reduction.y, query, LOSSES[found]
