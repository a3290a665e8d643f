"""Two equal versions of a judge: how often a drift is reported, and how often a tier moves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from crubric_core import Settings, Workspace, run_pipeline
from crubric_core.demo import simulate
from crubric_core.placement.bank_scale import BankScale, bank_scale_of
from crubric_core.placement.drift import judge_drift
from crubric_core.placement.judge_versions import judge_drift_on_bank
from crubric_core.placement.new_labels import labels_on_bank
from crubric_core.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Cells:
    """The cells that both versions labelled. rubrics: of each query.

    error: share of each version's labels that is wrong. varies: sd over queries, in logits, of the new version's extra
    leniency, whose mean is 0. uneven: numbers of rubrics of queries follow Pareto(1.2), at most 20 times ``rubrics``.
    """

    queries: int
    rubrics: int
    systems: int
    error: float
    varies: float = 0.0
    uneven: bool = False


CELLS = (
    Cells(3, 8, 1, 0.05),
    Cells(5, 8, 3, 0.1),
    Cells(24, 2, 1, 0.1),
    Cells(24, 8, 3, 0.1),
    Cells(10, 4, 1, 0.02),
    Cells(100, 1, 1, 0.02),
    Cells(100, 4, 3, 0.002),
    Cells(24, 8, 3, 0.1, varies=1),
    Cells(24, 4, 3, 0.1, uneven=True),
    Cells(24, 4, 3, 0.1, varies=1, uneven=True),
    Cells(50, 4, 3, 0.1, varies=1, uneven=True),
)
BANKS = ((12, 24, 40), (24, 60, 120))
"""Systems and queries of a study, and the size of its bank."""
NEW = 5  # systems that both versions label on the bank


def two_versions(
    rng: np.random.Generator, truth: BoolArray, query: IntArray, error: float, varies: float
) -> tuple[FloatArray, FloatArray]:
    """Labels (M, J) of the old and of the new version."""
    right = np.where(truth, logit(1 - error), logit(error))
    shift = rng.normal(0, varies, query.max() + 1)[query]
    old, new = (rng.random(truth.shape) < expit(right + lenient) for lenient in (0.0, shift))
    return old.astype(float), new.astype(float)


def drifted(cells: Cells, seed: int) -> bool:
    """Whether one of two equal versions is reported as stricter or more lenient than the other."""
    rng = np.random.default_rng([1, seed])
    sizes = np.full(cells.queries, cells.rubrics)
    if cells.uneven:
        sizes = (rng.pareto(1.2, cells.queries) * cells.rubrics).astype(int).clip(1, 20 * cells.rubrics)
    query = np.repeat(np.arange(cells.queries), sizes)
    truth = rng.random((cells.systems, len(query))) < 0.5
    old, new = two_versions(rng, truth, query, cells.error, cells.varies)
    return judge_drift(old.ravel(), new.ravel(), np.broadcast_to(query, truth.shape).ravel(), 0.95).drifted


def bank_of(systems: int, queries: int, budget: int) -> BankScale:
    """A bank of a study that is simulated as that of ``crubric demo``."""
    study = simulate(seed=2, systems=systems, queries=queries, pool=(8, 12))
    with Workspace() as workspace:
        for kind in ("queries", "rubrics", "labels"):
            workspace.ingest(getattr(study, kind).to_csv(index=False).encode(), "study", kind)
        return bank_scale_of(run_pipeline(workspace.dataset("study"), Settings(budget=budget)))


def tiers(bank: BankScale, error: float, varies: float, seed: int) -> tuple[bool, bool, bool]:
    """NEW systems that follow the bank's model: whether drift is reported, a tier moved, an ability beyond chance."""
    rng = np.random.default_rng([2, seed])
    theta, fit = rng.normal(size=(NEW, 1)), bank.fit
    truth = rng.random((NEW, len(fit.a))) < expit(fit.a * (theta - fit.b))
    labels = np.stack(two_versions(rng, truth, bank.query_units[0], error, varies), axis=2)
    names = tuple(f"new {n}" for n in range(NEW))
    found, table = judge_drift_on_bank(
        bank, labels_on_bank(names, labels[:, :, 0], ("a", "b"), labels), "a", "b"
    )
    return found.drifted, bool(table["moved"].any()), bool(table["beyond_chance"].any())


def drift(tables: int) -> Iterator[tuple[object, ...]]:
    """Shares of tables with a reported drift, of ten times as many tables; then on banks also with a moved tier."""
    yield "queries × rubrics × systems", "wrong labels", "shift varies by query (sd)", "drifted"
    for cells in CELLS:
        size = f"{cells.queries} × {cells.rubrics}{' (uneven)' if cells.uneven else ''} × {cells.systems}"
        share = np.mean([drifted(cells, seed) for seed in range(10 * tables)])
        yield size, f"{cells.error:.1%}", cells.varies, f"{share:.1%}"
    yield ()
    yield "bank", "wrong labels", "shift varies by query (sd)", "drifted", "a tier moved", "beyond chance"
    for systems, queries, budget in BANKS:
        bank = bank_of(systems, queries, budget)
        for error, varies in ((0.1, 0.0), (0.1, 1.0)):
            shares = np.mean([tiers(bank, error, varies, seed) for seed in range(tables)], axis=0)
            yield f"{budget} of {queries} queries", f"{error:.0%}", varies, *(f"{s:.0%}" for s in shares)
