"""Boards of identical systems by ordered labels, with different numbers of equal judges, or of runs of one judge.

Eight systems, 60 queries of five rubrics with a scale of 1 to 5, a system × query effect of .7, judges who see the
same within a normal error of sd .7 logits.
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

SYSTEMS, QUERIES, PER_QUERY, JUDGES = 8, 60, 5, 4
STEPS = (-2.5, -1.0, 0.5, 2.0)
DESIGNS = ((3, 3, 0.0), (3, 2, 0.0), (4, 3, 0.0), (2, 1, 0.0), (3, 3, 0.4))
"""Judges of each cell of the first half of the systems, and of the other half; the share of the first half's cells
that lacks the last of its judges."""
RUNS = ((3, 2, 0.0), (2, 1, 0.0), (3, 3, 0.4))
"""The same, where one judge labelled each cell so many times."""


def splits(tables: int) -> Iterator[tuple[object, ...]]:
    """Any pair separated by ability, as if all had the same number of labels, and as the board has it."""
    for kind, designs in (("judges", DESIGNS), ("runs", RUNS)):
        yield f"{kind} of one half", "of the other half", "taken as equal", "as the board has it"
        for first, second, lacking in designs:
            tried = [_false(_labels(first, second, lacking, seed), kind) for seed in range(tables)]
            one = f"{first}, on {lacking:.0%} of the cells {first - 1}" if lacking else first
            yield one, second, *(short(float(rate)) for rate in np.mean(tried, axis=0))
        yield ()


def _false(labels: pd.DataFrame, kind: str) -> tuple[bool, bool]:
    if kind == "runs":
        labels = labels.assign(run=labels["judge"], judge="judge")
    with Workspace() as workspace:
        workspace.ingest(labels.to_csv(index=False).encode(), "study")
        ranking = Analysis.of(workspace.dataset("study"), Settings(model="GRM")).ranking()
    blind = infer(replace(ranking.ability, allowance=None), np.random.default_rng([0, 2]))
    return bool(blind.separated.any()), bool(ranking.standing.separated.any())


def _labels(first: int, second: int, lacking: float, seed: int) -> pd.DataFrame:
    rng, size = np.random.default_rng([35, seed]), QUERIES * PER_QUERY
    a, b = np.exp(rng.normal(0, 0.4, size)), rng.normal(0, 0.8, size)
    mood = 0.7 * rng.normal(size=(SYSTEMS, QUERIES)).repeat(PER_QUERY, axis=1)
    truth = mood - a * b + rng.logistic(size=(SYSTEMS, size))
    seen = truth[:, :, None] + 0.7 * rng.normal(size=(SYSTEMS, size, JUDGES))
    number = np.repeat([first, second], SYSTEMS // 2)[:, None] - (rng.random((SYSTEMS, size)) < lacking)
    number[SYSTEMS // 2 :] = second
    i, j, k = np.nonzero(rng.random(seen.shape).argsort(axis=2).argsort(axis=2) < number[:, :, None])
    columns = {"system": i, "query": j // PER_QUERY, "rubric": j, "judge": k}
    label = 1 + (seen[i, j, k, None] > STEPS).sum(axis=1)
    return pd.DataFrame({name: name + pd.Series(at).astype(str) for name, at in columns.items()}).assign(
        label=label
    )
