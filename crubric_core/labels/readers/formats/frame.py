"""Read a table that is one JSON object, with the column names beside the rows.

``{"columns": ["model", "score"], "data": [["a", 1], ["b", 2]]}``, from pandas (``orient="split"``) or a logger.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from ....errors import IngestError
from .records import as_text, read_records

_COLUMNS, _ROWS = "columns", ("data", "rows")
_BESIDE = {_COLUMNS, "index", "ncols", "nrows", "column_types", "_type"}  # the last four: Weights & Biases


def is_frame(keys: Sequence[str]) -> bool:
    """Whether the keys of an object are those of such a table."""
    return _COLUMNS in keys and len(set(keys) - _BESIDE) == 1 and (set(keys) - _BESIDE) <= set(_ROWS)


def as_table(path: Path, name: str, scratch: Path) -> Path:
    """The table as a CSV file in ``scratch``; raises IngestError if its rows do not fit its columns."""
    records = [record for _, record in read_records(path, name)]
    frame = records[0] if len(records) == 1 and isinstance(records[0], dict) else {}
    columns = frame.get(_COLUMNS)
    rows = next((frame[key] for key in _ROWS if key in frame), None)
    if not (isinstance(columns, list) and isinstance(rows, list)):
        raise IngestError(
            f"{name} has columns and rows, but they are not lists: write it again as CSV or JSON Lines."
        )
    target = scratch / "frame.csv"
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([as_text(column) for column in columns])
        for at, row in enumerate(rows, 1):
            if not isinstance(row, list) or len(row) != len(columns):
                raise IngestError(
                    f"Row {at:,} of {name} does not have one cell for each of its {len(columns):,} columns: correct "
                    "it."
                )
            writer.writerow(["" if cell is None else as_text(cell) for cell in row])
    return target
