"""Small label tables with what reductions must get right: missing cells, ties, repeats, runs, ordered scales."""

from __future__ import annotations

import numpy as np
import pandas as pd

KINDS = ("plain", "graded", "runs", "repeats")


def simulate(
    kind: str, systems: int = 8, queries: int = 4, rubrics: int = 6, judges: int = 4, seed: int = 0
) -> pd.DataFrame:
    """Labels in long form: system, query, rubric, judge, label, and run where draws are repeated.

    plain: 0 and 1, an even panel, so that votes tie. graded: 1 to 5, with blanks. runs: 0 to 4 in three draws a judge.
    repeats: rows twice, some of which contradict the first. Each lacks a fifth of its cells and some more rows.
    """
    rng = np.random.default_rng(seed)
    shape = (systems, queries, rubrics, judges, 3 if kind == "runs" else 1)
    at = np.indices(shape).reshape(5, -1)
    ability = rng.normal(size=systems)[at[0]] + rng.normal(size=(queries, rubrics))[at[1], at[2]]
    noisy = ability + rng.normal(scale=0.8, size=at.shape[1])
    levels = {"plain": 2, "repeats": 2, "graded": 5, "runs": 5}[kind]
    label = np.clip(np.floor(levels / 2 + noisy), 0, levels - 1) + (kind == "graded")
    table = pd.DataFrame(
        {
            "system": [f"s{i}" for i in at[0]],
            "query": [f"q{i}" for i in at[1]],
            "rubric": [f"r{i}" for i in at[2]],
            "judge": [f"j{i}" for i in at[3]],
            "label": pd.array(label, dtype="Int64"),
        }
    )
    if kind == "runs":
        table["run"] = [str(i) for i in at[4]]
    cell = rng.random((systems, queries, rubrics))[at[0], at[1], at[2]]
    table = table[(cell > 0.2) & (rng.random(len(table)) > 0.1)]
    if kind == "graded":
        table.loc[table.sample(frac=0.05, random_state=seed).index, "label"] = pd.NA
    if kind == "repeats":
        again = table.sample(frac=0.2, random_state=seed)
        flip = again.sample(frac=0.3, random_state=seed).index
        again.loc[flip, "label"] = 1 - again.loc[flip, "label"]
        table = pd.concat([table, again])
    return table.sample(frac=1, random_state=seed).reset_index(drop=True)
