"""Pairs of identical systems with different numbers of equal judges, or of runs of one judge.

Eight systems, all identical or four of an ability 2.4 logits above that of the others, queries of five rubrics, a
system × query effect of .7, judges who see the same within a normal error. By ordered labels: 60 queries with a scale
of 1 to 5, errors of sd .7 logits. By passes and fails: 150 queries of which about 75% of the cells pass, of two
abilities half of them, errors of sd 1.5.
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
"""Judges of each cell of the first half of the systems, and of the other half; the share of the first half's cells
that lacks the last of its judges."""
RUNS = ((3, 2, 0.0), (2, 1, 0.0), (3, 3, 0.4))
"""The same, where one judge labelled each cell so many times."""
PASSES = ((3, 3, 0.0), (3, 2, 0.0), (3, 1, 0.0), (2, 1, 0.0))
"""The same, of passes and fails."""


APART = 1.2
"""Of two abilities, how far each is from 0."""


def splits(tables: int) -> Iterator[tuple[object, ...]]:
    """Any identical pair separated by ability, as if all had the same number of labels, and as the board has it."""
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
    """(M,) of which both halves have the same."""
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
