"""Identical systems labelled by different numbers of equal judges, or by different numbers of runs of one judge.

How often is a pair of them separated? Eight systems, all identical, or four of them with an ability 2.4 logits above
that of the others; queries of five rubrics, a system × query effect of .7, judges who see the true quality with normal
errors. Ordered labels: 60 queries with a scale of 1 to 5, errors of sd .7 logits. Pass or fail: 150 queries, errors of
sd 1.5; about 75% of the cells pass, or half of them with two abilities.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmarks.tables import short
from crubric_core import Settings, Workspace
from crubric_core.analysis.stages import Analysis
from crubric_core.leaderboard.inference import infer
from crubric_core.types import FloatArray

SYSTEMS, PER_QUERY, JUDGES = 8, 5, 4
STEPS = (-2.5, -1.0, 0.5, 2.0)
DESIGNS = ((3, 3, 0.0), (3, 2, 0.0), (4, 3, 0.0), (2, 1, 0.0), (3, 3, 0.4))
"""Judges of a cell in the first half of the systems, and in the other half; the share of the first half's cells with
one judge less."""
RUNS = ((3, 2, 0.0), (2, 1, 0.0), (3, 3, 0.4))
"""As DESIGNS, with numbers of runs of one judge in place of judges."""
PASSES = ((3, 3, 0.0), (3, 2, 0.0), (3, 1, 0.0), (2, 1, 0.0))
"""As DESIGNS, for labels of pass or fail."""


APART = 1.2
"""Distance of each of the two abilities from 0, in logits."""


def splits(tables: int) -> Iterator[tuple[object, ...]]:
    """Shares of tables that separate an identical pair by ability: without the allowance, and as on the board."""
    for kind, designs, settings, apart in (
        ("judges", DESIGNS, Settings(model="GRM"), 0.0),
        ("runs", RUNS, Settings(model="GRM"), 0.0),
        ("judges", PASSES, Settings(), 0.0),
        ("runs", PASSES[1:], Settings(), 0.0),
        ("judges", DESIGNS[1:4], Settings(model="GRM"), APART),
        ("judges", PASSES[1:], Settings(), APART),
    ):
        said = f"{kind}, {'1 to 5' if settings.model == 'GRM' else 'pass or fail'}"
        said += f"{', two abilities' if apart else ''}, of one half"
        yield said, "of the other half", "taken as equal", "as the board has it"
        for first, second, lacking in designs:
            make = _graded if settings.model == "GRM" else _passes
            tried = [
                _false(_labels(make(seed, apart), first, second, lacking, seed), kind, settings, apart)
                for seed in range(tables)
            ]
            one = f"{first}, on {lacking:.0%} of the cells {first - 1}" if lacking else first
            yield one, second, *(short(float(rate)) for rate in np.mean(tried, axis=0))
        yield ()


def _abilities(apart: float) -> FloatArray:
    """(M,) abilities, ± ``apart``; both halves of the systems have the same ones."""
    return np.tile(np.repeat([apart, -apart], SYSTEMS // 4), 2)


def _false(labels: pd.DataFrame, kind: str, settings: Settings, apart: float) -> tuple[bool, bool]:
    if kind == "runs":
        labels = labels.assign(run=labels["judge"], judge="judge")
    with Workspace() as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "study")
        ranking = Analysis.of(workspace.dataset("study"), settings).ranking()
    blind = infer(replace(ranking.ability, allowance=None), np.random.default_rng([0, 2]))
    same = np.equal.outer(_abilities(apart), _abilities(apart))
    return bool(blind.separated[same].any()), bool(ranking.standing.separated[same].any())


def _graded(seed: int, apart: float) -> FloatArray:
    """(M, J, K) labels 1 to 5."""
    return 1 + (_seen(seed, 60, 0.0, 0.7, apart)[..., None] > STEPS).sum(axis=-1)


def _passes(seed: int, apart: float) -> FloatArray:
    """(M, J, K) passes and fails."""
    return (_seen(seed, 150, 0.0 if apart else 1.5, 1.5, apart) > 0).astype(np.float64)


def _seen(seed: int, queries: int, easy: float, error: float, apart: float) -> FloatArray:
    rng, size = np.random.default_rng([35, seed]), queries * PER_QUERY
    a, b = np.exp(rng.normal(0, 0.4, size)), rng.normal(-easy, 0.8, size)
    mood = 0.7 * rng.normal(size=(SYSTEMS, queries)).repeat(PER_QUERY, axis=1)
    truth = a * (_abilities(apart)[:, None] - b) + mood + rng.logistic(size=(SYSTEMS, size))
    seen: FloatArray = truth[:, :, None] + error * rng.normal(size=(SYSTEMS, size, JUDGES))
    return seen


def _labels(given: FloatArray, first: int, second: int, lacking: float, seed: int) -> pd.DataFrame:
    rng, size = np.random.default_rng([36, seed]), given.shape[1]
    number = np.repeat([first, second], SYSTEMS // 2)[:, None] - (rng.random((SYSTEMS, size)) < lacking)
    number[SYSTEMS // 2 :] = second
    i, j, k = np.nonzero(rng.random(given.shape).argsort(axis=2).argsort(axis=2) < number[:, :, None])
    columns = {"system": i, "query": j // PER_QUERY, "rubric": j, "judge": k}
    return pd.DataFrame({name: name + pd.Series(at).astype(str) for name, at in columns.items()}).assign(
        label=given[i, j, k].astype(int)
    )
