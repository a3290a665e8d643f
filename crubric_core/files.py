"""Tables that ``exports`` wrote, read back to the last digit and the last sign."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

TEXTS = frozenset({"rubric", "query", "text", "system"})  # names, even where one looks like a number
_ARMED = re.compile("'+[=+\\-@\t\r]")


def read_csv(path: str | Path) -> pd.DataFrame:
    """A table that ``csv_bytes`` wrote, its texts and numbers as they were; a rubric may be called "NA"."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False, na_filter=False)
    return pd.DataFrame(
        {name: [(_text if name in TEXTS else _value)(cell) for cell in table[name]] for name in table.columns}
    )


def _text(cell: str) -> str:
    """Without the apostrophe that kept a spreadsheet from reading a formula."""
    return cell[1:] if _ARMED.match(cell) else cell


def _value(cell: str) -> bool | float:
    """A flag or a number; NaN for an empty cell."""
    return cell == "True" if cell in ("True", "False") else float(cell or "nan")
