"""The cross-fit (E2) on simulated tables with the same systems and different rubrics: do its intervals hold?

10 systems N(0, sd²), three judges who are wrong on 5% of the cells. The truth that an interval should hold is the mean
over the tables.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import expit

from benchmarks.tables import short
from crubric_core import Settings, Workspace
from crubric_core.experiments.crossfit import crossfit
from crubric_core.experiments.results import ExperimentResult

SYSTEMS, JUDGES = 10, 3
DESIGNS = ((30, 4, 1.0, 0.0), (30, 4, 1.0, 0.8), (60, 6, 1.5, 0.5))
"""Queries, rubrics of each, sd of the abilities, and of a system's effect on a query in logits."""
SHOWN = ("pairs", "greedy", "random")


def crossfits(tables: int) -> Iterator[tuple[object, ...]]:
    """A row for each design and bank: AUC, its difference from that of ``pairs``, and the smallest bank of rho .95.

    Each with the share of intervals that hold.
    """
    yield (
        *("queries × rubrics", "system × query sd", "bank", "AUC", "held", "ΔAUC of pairs", "held"),
        *("smallest bank of half of the tables", "of 80%", "reached nowhere", "of the mean", "held"),
    )
    for queries, each, spread, effect in DESIGNS:
        found = [result(queries, each, spread, effect, seed) for seed in range(tables)]
        for name in SHOWN:
            rows = pd.DataFrame([made.frame().set_index("strategy").loc[name] for made in found]).astype(
                float
            )
            yield (
                *(f"{queries} × {each}", effect, name, *_held(rows, "auc"), *_held(rows, "delta")),
                *_sizes(rows["smallest_bank"].to_numpy()),
                *_smallest_held(rows, [made.tables["curves"] for made in found], name),
            )


def result(queries: int, each: int, spread: float, effect: float, seed: int) -> ExperimentResult:
    """The cross-fit of one simulated table; the systems are the same for all seeds."""
    theta, rng = np.random.default_rng(7).normal(0, spread, SYSTEMS), np.random.default_rng([3, seed])
    query = np.repeat(np.arange(queries), each)
    a, b = np.exp(rng.normal(0, 0.4, len(query))), rng.normal(0, 1, len(query))
    mood = rng.normal(0, effect, (SYSTEMS, queries))[:, query]
    met = rng.random(mood.shape) < expit(a * (theta[:, None] - b) + mood)
    y = met[:, :, None] ^ (rng.random((*met.shape, JUDGES)) < 0.05)
    i, j, k = (at.ravel().astype(str) for at in np.indices(y.shape))
    labels = {"system": i, "query": query[j.astype(int)].astype(str), "rubric": j, "judge": k}
    with Workspace() as workspace:
        workspace.ingest(pd.DataFrame({**labels, "label": y.ravel().astype(int)}), "t")
        return crossfit(workspace.dataset("t"), Settings())


def _held(rows: pd.DataFrame, name: str) -> tuple[str, str]:
    mean = rows[name].mean()
    if np.isnan(mean):
        return "—", "—"
    return short(mean), short(float(((rows[f"{name}_low"] <= mean) & (mean <= rows[f"{name}_high"])).mean()))


def _sizes(smallest: np.ndarray) -> tuple[str, str, str]:
    """Ranges of the middle half and 80% of the smallest banks, NaN counting as the largest; and the share of NaN."""
    sizes = np.where(np.isnan(smallest), np.inf, smallest)
    if np.isinf(sizes).all():
        return "—", "—", short(1.0)
    ends = np.quantile(sizes, [0.25, 0.75, 0.1, 0.9], method="inverted_cdf")
    low, high, least, most = ("none" if np.isinf(end) else f"{end:.0f}" for end in ends)
    return f"{low} to {high}", f"{least} to {most}", short(float(np.isinf(sizes).mean()))


def _smallest_held(rows: pd.DataFrame, curves: list[pd.DataFrame], name: str) -> tuple[str, str]:
    """The first budget whose mean rho over the tables reaches the target, and the share of intervals that hold it."""
    rho = pd.concat([curve[curve["strategy"] == name] for curve in curves]).groupby("budget")["rho"].mean()
    enough = rho.index[rho >= rows["target"].iloc[0]]
    size = float(enough[0]) if len(enough) else np.inf
    low, high = (rows[f"smallest_{end}"].fillna(np.inf) for end in ("low", "high"))
    return "none" if np.isinf(size) else f"{size:.0f}", short(float(((low <= size) & (size <= high)).mean()))
