"""Whether banks of few rubrics reach what their certificate says, of the best one found by trying all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.tables import short
from crubric_core.analysis.selection import bank_certificate
from crubric_core.bank.composed import Gains, composed_order, require_room
from crubric_core.bank.constraints import Constraints, Family
from crubric_core.bank.pairs import pair_distances
from crubric_core.bank.utility import Coverage, Utility
from crubric_core.errors import AssemblyError
from crubric_core.types import BoolArray, FloatArray

RUBRICS = 12
KINDS = ("none", "pins", "exclusions", "bounds", "a budget in cost")


def certificates(tables: int) -> Iterator[tuple[object, ...]]:
    """Certified and reached, of the best bank that could be chosen; how often it is less, of that and of any bank."""
    yield (
        "strategy",
        "composition",
        "banks",
        "certified",
        "reached",
        "reached less",
        "less, of any of its size",
    )
    for strategy in ("pairs", "greedy"):
        for kind in KINDS:
            tried = (one_bank(np.random.default_rng([seed, 71]), strategy, kind) for seed in range(tables))
            found = np.array([bank for bank in tried if bank])
            stated, reached, beside_any = found.T
            shares = (short(x.mean()) for x in (stated, reached))
            less = (short(float((x < stated - 1e-9).mean()), ".3f") for x in (reached, beside_any))
            yield strategy, kind, len(found), *shares, *less


def one_bank(rng: np.random.Generator, strategy: str, kind: str) -> tuple[float, float, float] | None:
    """The certificate; the bank's share of the best one that could be chosen, and of any. None where there is none."""
    utility, asked = _utility(rng, strategy), _asked(rng, kind)
    pool, budget = rng.random(RUBRICS) < 0.9, int(rng.integers(2, 9))
    candidates = np.zeros(RUBRICS, dtype=bool)
    candidates[utility.candidates(pool)] = True
    dear = asked.cost_budget is not None
    rules = (Gains(utility, RUBRICS), Gains(utility, RUBRICS, asked.prices))[: 1 + dear]
    query = rng.integers(4, size=RUBRICS) if strategy == "pairs" else None
    try:
        order = composed_order(utility, rules, candidates, asked, budget, query=query)
        require_room(order, budget)
    except AssemblyError:
        return None
    size = min(budget, len(order.order))
    every = (np.arange(2**RUBRICS)[:, None] >> np.arange(RUBRICS)) % 2 == 1
    values = utility.value(every @ utility.totals(np.arange(RUBRICS)))
    small = every.sum(axis=1) <= (budget if dear else size)
    possible = small & _possible(every, pool, asked)
    reached, stated = order.utility[size - 1], bank_certificate(utility, order, pool, budget, asked)
    best, of_any = (values[banks].max() for banks in (possible, every.sum(axis=1) == size))
    return (stated, reached / best, reached / of_any) if np.isfinite(stated) and best > 0 else None


def _possible(every: BoolArray, pool: BoolArray, asked: Constraints) -> BoolArray:
    """Which banks are of the pool and the pins, without what is excluded, within the budget in cost."""
    closed = ~((pool & ~asked.excluded) | asked.pinned)
    dear = every @ asked.prices > (asked.cost_budget or np.inf)
    return ~(every[:, closed].any(axis=1) | dear)


def _utility(rng: np.random.Generator, strategy: str) -> Utility:
    """Of 12 rubrics, some of them the same."""
    same = np.where(rng.random(RUBRICS) < 0.2, 0, np.arange(RUBRICS))
    if strategy == "greedy":
        info: FloatArray = rng.exponential(1.0, (5, RUBRICS)) * rng.lognormal(0, 1, RUBRICS)
        return Coverage(info[:, same], np.full(5, 0.2))
    theta, b = np.sort(rng.normal(size=6)), rng.normal(size=RUBRICS)
    passed = rng.random((6, RUBRICS)) < 1 / (1 + np.exp(b - theta[:, None]))
    y = np.where(rng.random(passed.shape) < 0.1, np.nan, passed)
    return pair_distances(y[:, same], theta, np.full(6, 0.4))


def _asked(rng: np.random.Generator, kind: str) -> Constraints:
    some = np.isin(np.arange(RUBRICS), rng.choice(RUBRICS, 2, replace=False))
    none, names = np.zeros(RUBRICS, dtype=bool), tuple(map(str, range(RUBRICS)))
    if kind == "a budget in cost":
        cost = np.round(rng.lognormal(0, 0.7, RUBRICS), 1) + 0.1
        return Constraints(names, none, none, cost=cost, cost_budget=float(rng.uniform(1, 6)))
    code = rng.integers(-1, 3, size=RUBRICS)
    bounds = Family("domain", ("a", "b", "c"), code, rng.integers(0, 2, size=3), rng.integers(1, 4, size=3))
    return Constraints(
        names,
        some if kind == "pins" else none,
        some if kind == "exclusions" else none,
        (bounds,) if kind == "bounds" else (),
    )
