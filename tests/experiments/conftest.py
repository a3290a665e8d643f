from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crubric_core import Settings, Workspace

SYSTEMS, QUERIES, PER_QUERY, JUDGES = 7, 12, 4, 3
QUICK = {
    "blocks": {"splits": 2, "repeats": 1},
    "model_check": {"replicates": 5},
    "crossfit": {"splits": 4},
    "new_systems": {"repeats": 1},
    "stability": {"kinds": ("judge", "budget", "tau_c")},
}
"""Parameters with which every experiment ends within seconds."""
TYPES = ("evidence_reasoning", "decision_support", "high_risk_constraint", "creative_divergent")


def small_study(seed=0, systems=SYSTEMS, judges=JUDGES, scale=1):
    """Labels of a graded truth with noisy judges, a few missing; scale 1 is pass or fail."""
    rng = np.random.default_rng(seed)
    n = QUERIES * PER_QUERY
    z = rng.normal(0, 1, systems)[:, None] * np.exp(rng.normal(0, 0.4, n)) - rng.normal(0, 1, n)
    truth = np.clip(np.floor((z + 1.5) / 3 * (scale + 1)), 0, scale)
    noise = rng.random((systems, n, judges)) < rng.choice([0.03, 0.3], n)[:, None]
    label = np.where(noise, rng.integers(0, scale + 1, noise.shape), truth[:, :, None])
    kept = rng.random(noise.shape) > 0.04
    i, j, k = np.nonzero(kept)
    return pd.DataFrame(
        {
            "system": [f"s{a}" for a in i],
            "query": [f"q{b // PER_QUERY:02}" for b in j],
            "rubric": [f"r{b:02}" for b in j],
            "judge": [f"j{c}" for c in k],
            "label": label[i, j, k].astype(int),
        }
    ), truth


def ingest(ws, name, frame, kind="labels"):
    ws.ingest(frame.to_csv(index=False).encode(), name, kind, format="csv")


def rubric_table(scale=1):
    n = QUERIES * PER_QUERY
    return pd.DataFrame(
        {
            "rubric": [f"r{j:02}" for j in range(n)],
            "query": [f"q{j // PER_QUERY:02}" for j in range(n)],
            "scale_min": 0,
            "scale_max": scale,
            "dimension": [("actionability", "creativity", "accuracy", "")[j % 4] for j in range(n)],
            "severity": [("critical", "", "moderate", "")[j % 4] for j in range(n)],
        }
    )


def query_table():
    return pd.DataFrame(
        {
            "query": [f"q{n:02}" for n in range(QUERIES)],
            "domain": ["law" if n % 2 else "health" for n in range(QUERIES)],
            "task_type": [TYPES[n % 4] if n < 10 else "" for n in range(QUERIES)],
            "omega": [1 + n % 3 for n in range(QUERIES)],
        }
    )


@pytest.fixture(scope="session")
def workspace():
    with Workspace() as ws:
        labels, truth = small_study()
        ingest(ws, "small", rubric_table(), "rubrics")
        ingest(ws, "small", query_table(), "queries")
        ingest(ws, "small", labels)
        cells = [(i, j) for i in range(SYSTEMS) for j in range(0, QUERIES * PER_QUERY, 2)]
        gold = pd.DataFrame(
            {
                "system": [f"s{i}" for i, _ in cells],
                "query": [f"q{j // PER_QUERY:02}" for _, j in cells],
                "rubric": [f"r{j:02}" for _, j in cells],
                "annotator": "human",
                "label": [int(truth[i, j]) for i, j in cells],
            }
        )
        reference = pd.DataFrame(
            {"system": [f"s{i}" for i in range(SYSTEMS - 1)], "score": [1.0, 3.0, 2.0, 5.0, 4.0, 6.0]}
        )
        ingest(ws, "gold", rubric_table(), "rubrics")
        ingest(ws, "gold", query_table(), "queries")
        ingest(ws, "gold", labels)
        ingest(ws, "gold", gold, "gold")
        ingest(ws, "gold", reference, "reference")
        for name, judges in (("one judge", 1), ("two judges", 2)):
            ingest(ws, name, small_study(judges=judges)[0])
        ingest(ws, "graded", rubric_table(3), "rubrics")
        ingest(ws, "graded", small_study(scale=3)[0])
        yield ws


@pytest.fixture(scope="session")
def settings():
    return Settings(tau_c=0.6, budget=10, replicates=50)
