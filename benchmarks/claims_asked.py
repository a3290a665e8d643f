"""Equal judges who labelled different cells: is one of them reported to err most, or to prefer its own family?

First table: equal judges, 12 systems, 40 queries of five rubrics, errors on 25% of the cells of half of the queries and
on 3% of the others. Second table: three families of three systems, all of one ability, on 60 queries of four rubrics.
Each family has a judge, and the third judge is strict by 2 logits.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import expit

from benchmarks.tables import short
from crubric_core.experiments.self_preference import by_query, leniency, preference
from crubric_core.judges.rates import judge_rates
from crubric_core.judges.unequal_panels import leniencies
from crubric_core.types import FloatArray, IntArray

LABELS = ("all", "a random half", "the easier half", "the harder half")  # queries that the last judge labels
OWN = np.arange(9) < 3


def asked(tables: int) -> Iterator[tuple[object, ...]]:
    """How often the last judge is named as the worst; how often the first seems kinder or stricter to its family."""
    yield "judges", "queries that the last one labels", "it is named without gold", "with gold"
    for judges in (3, 4):
        for which in LABELS:
            named = np.mean([_named(judges, which, seed) for seed in range(tables)], axis=0)
            yield judges, which, *(short(float(share)) for share in named)
    yield ()
    yield (
        "the strict judge labels its own family",
        "another is named, marks as given",
        "marks of equally lenient judges",
    )
    for own in (True, False):
        named = np.mean([_preferring(seed, own) for seed in range(tables)], axis=0)
        yield "yes" if own else "no", *(short(float(share)) for share in named)


def _named(judges: int, which: str, seed: int) -> tuple[bool, bool]:
    rng, query = np.random.default_rng([61, seed]), np.repeat(np.arange(40), 5)
    truth = rng.random((12, 200)) < rng.beta(1, 1, 200)
    hard = query % 2 == 0
    error = np.where(hard, 0.25, 0.03)
    panel = (truth[..., None] ^ (rng.random((12, 200, judges)) < error[:, None])).astype(float)
    half = {"all": query >= 0, "a random half": rng.permutation(40)[query] < 20, "the easier half": ~hard}
    panel[:, ~half.get(which, hard), -1] = np.nan
    votes, units = panel.reshape(-1, judges), np.tile(query, 12)
    first, second = (
        judge_rates(votes, gold, units).worst == judges - 1
        for gold in (None, truth.reshape(-1).astype(float))
    )
    return first, second


def _preferring(seed: int, own: bool) -> tuple[bool, bool]:
    rng, query = np.random.default_rng([62, seed]), np.arange(240) // 4
    odds = 2 * rng.normal(size=(9, 240, 1)) + np.array([0.0, 0.0, -2.0])
    panel = (rng.random((9, 240, 3)) < expit(odds)).astype(float)
    if not own:
        panel[6:, :, 2] = np.nan
    return _apart(panel, query), _apart(panel - leniencies(panel, query, np.full(240, 2)), query)


def _apart(panel: FloatArray, query: IntArray) -> bool:
    """Whether the 95% interval of the first judge's preference for its own family leaves out 0."""
    _, low, high, _ = preference(by_query(leniency(panel)[:, :, 0], OWN, query), 0.95)
    return bool(low > 0 or high < 0)
