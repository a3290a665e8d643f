"""Write an experiment's result to files: everything as JSON, and the main table as CSV."""

from __future__ import annotations

from pathlib import Path

from ..files import csv_bytes, json_bytes, write_files
from .results import ExperimentResult


def write_experiment(result: ExperimentResult, folder: str | Path) -> list[Path]:
    """Write NAME.json and NAME.csv into ``folder``, each whole or not at all; return the paths. Raises ExportError."""
    return write_files(
        {
            f"{result.name}.json": json_bytes(result.to_json_dict()),
            f"{result.name}.csv": csv_bytes(result.frame()),
        },
        folder,
    )
