"""An experiment's result as files: all of it as JSON, the main table as CSV."""

from __future__ import annotations

from pathlib import Path

from ..errors import ExportError
from ..exports import csv_bytes, json_bytes, write_whole
from .results import ExperimentResult


def write_experiment(result: ExperimentResult, folder: str | Path) -> list[Path]:
    """Write NAME.json and NAME.csv into ``folder``, each whole or not at all; raises ExportError."""
    out = Path(folder)
    contents = {"json": json_bytes(result.to_json_dict()), "csv": csv_bytes(result.frame())}
    try:
        out.mkdir(parents=True, exist_ok=True)
        return [write_whole(out / f"{result.name}.{kind}", content) for kind, content in contents.items()]
    except OSError as error:
        raise ExportError(
            f"The result could not be written to {out} ({error.strerror}): name a folder that can be written."
        ) from error
