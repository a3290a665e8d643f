"""Store the simulated study: in a workspace, or on disk as a small CSV sample."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ..errors import DatasetError
from .study import DemoStudy, simulate

if TYPE_CHECKING:
    from ..labels.readers.columns.specs import Kind
    from ..labels.store.workspace import Workspace

KINDS: tuple[Kind, ...] = ("queries", "rubrics", "labels", "gold", "reference")
SAMPLE_KINDS = KINDS[:3]


def write_demo(workspace: Workspace, seed: int = 0, dataset: str = "demo") -> DemoStudy:
    """Simulate the study and ingest its tables as a new dataset; DatasetError if the name is taken."""
    if dataset in set(workspace.datasets()["name"]):
        raise DatasetError(f"There is a dataset {dataset!r} already: choose another name or delete it.")
    study = simulate(seed)
    for kind in KINDS:
        table: pd.DataFrame = getattr(study, kind)
        workspace.ingest(_csv(table), dataset, kind, format="csv", name=f"simulated {kind}, seed {seed}")
    return study


def write_sample(folder: Path, seed: int = 0) -> list[Path]:
    """Write sample_queries.csv, sample_rubrics.csv and sample_labels.csv (6 systems, 8 queries); return the paths."""
    study = simulate(seed, systems=6, queries=8, pool=(12, 20))
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"sample_{kind}.csv" for kind in SAMPLE_KINDS]
    for kind, path in zip(SAMPLE_KINDS, paths, strict=True):
        path.write_bytes(_csv(getattr(study, kind)))
    return paths


def _csv(table: pd.DataFrame) -> bytes:
    return table.to_csv(index=False, lineterminator="\n").encode()
