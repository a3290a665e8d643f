"""The workspaces on which waits are measured: the demo study, and simulated tables of any size."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.tables import simulate_2pl
from crubric_core import Workspace
from crubric_core.demo import simulate
from crubric_core.demo.writing import KINDS

JUDGES, ERRS, PER_QUERY = 2, 0.1, 10
DATASET = "study"
DENSE = 5_000_000  # most cells with labels; of a larger table a random part has them


def workspace(folder: Path, size: str) -> Path:
    """Path of the workspace of one size ("demo", or "400x5000"), which is made if the folder lacks it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{size}.duckdb"
    if path.exists():
        return path
    half = path.with_suffix(".part")
    half.unlink(missing_ok=True)
    with Workspace(half) as made:
        if size == "demo":
            study = simulate(0)
            for kind in KINDS:
                made.ingest(getattr(study, kind).to_csv(index=False).encode(), DATASET, kind, format="csv")
        else:
            systems, rubrics = (int(part) for part in size.split("x"))
            with tempfile.TemporaryDirectory() as temporary:
                made.ingest(_labels(Path(temporary), systems, rubrics), DATASET)
    half.rename(path)
    return path


def _labels(folder: Path, systems: int, rubrics: int) -> Path:
    """Write a Parquet file of 2PL labels by JUDGES judges, each with a different error rate on each rubric."""
    rng = np.random.default_rng(1)
    share = min(1.0, DENSE / (systems * rubrics))
    truth, _ = simulate_2pl(systems, rubrics)
    i, j = np.nonzero(rng.random(truth.shape) < share)
    met = truth[i, j].astype(bool)
    errs = rng.beta(1, 1 / ERRS - 1, size=(JUDGES, truth.shape[1]))
    names = {
        "system": _named("system", i),
        "query": _named("query", j // PER_QUERY),
        "rubric": _named("rubric", j),
    }
    parts = []
    for k in range(JUDGES):
        label = (met ^ (rng.random(len(i)) < errs[k, j])).astype(np.int8)
        parts.append(pd.DataFrame({**names, "judge": f"judge {k}", "label": label}))
    path = folder / "labels.parquet"
    pd.concat(parts, ignore_index=True).to_parquet(path)
    return path


def _named(what: str, numbers: np.ndarray) -> pd.Categorical:
    """Numbers as names of equal length, such as "system 00012"."""
    found = pd.Categorical(numbers)
    return found.rename_categories(lambda n: f"{what} {n:05d}")
