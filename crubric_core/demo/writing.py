"""The simulated study on disk: into a workspace, or as a small CSV sample."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pandas as pd

from .study import DemoStudy, simulate

if TYPE_CHECKING:
    from ..labels.workspace import Workspace

KINDS = ("queries", "rubrics", "labels", "gold", "reference")
SAMPLE_KINDS = ("queries", "rubrics", "labels")


def write_demo(workspace: Workspace, seed: int = 0, dataset: str = "demo") -> DemoStudy:
    """Simulate the study and ingest its tables under the name ``dataset``."""
    study = simulate(seed)
    with TemporaryDirectory() as folder:
        for kind in KINDS:
            path = _write_csv(getattr(study, kind), Path(folder) / f"{kind}.csv")
            workspace.ingest(path, dataset=dataset, kind=kind)
    return study


def write_sample(folder: Path, seed: int = 0) -> list[Path]:
    """Write sample_queries.csv, sample_rubrics.csv and sample_labels.csv: 6 systems on 8 queries."""
    study = simulate(seed, systems=6, queries=8, pool=(12, 20))
    folder.mkdir(parents=True, exist_ok=True)
    return [_write_csv(getattr(study, kind), folder / f"sample_{kind}.csv") for kind in SAMPLE_KINDS]


def _write_csv(table: pd.DataFrame, path: Path) -> Path:
    table.to_csv(path, index=False, lineterminator="\n")
    return path
