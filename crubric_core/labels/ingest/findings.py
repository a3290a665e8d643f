"""Findings of checks: what was found, how serious it is, and examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import duckdb
import pandas as pd

from .parsed import execute

Severity = Literal["error", "warning", "note"]
SHOWN = 20  # examples of each finding


@dataclass(frozen=True)
class Finding:
    """What a check has found.

    severity: error: rows were rejected; warning: kept, but look at them; note: good to know.
    code: the check's name, for programs. title: a few words. sentence: what was found and what to do about it.
    count: number of rows, names or pairs concerned. examples: at most 20 of them, or a whole small table.
    """

    severity: Severity
    code: str
    title: str
    sentence: str
    count: int
    examples: pd.DataFrame


def warning(code: str, title: str, sentence: str, found: pd.DataFrame, n: int | None = None) -> Finding:
    """A warning with the first rows of ``found`` as examples. n: its count; None: the number of rows found."""
    examples = found.head(SHOWN).reset_index(drop=True)
    return Finding("warning", code, title, sentence, len(found) if n is None else n, examples)


def select(cursor: duckdb.DuckDBPyConnection, sql: str, dataset_id: int, **params: Any) -> pd.DataFrame:
    """The result of a query about a dataset as a data frame; ``$dataset`` and ``params`` are bound where they occur."""
    own = {"dataset": dataset_id, **params}
    execute(cursor, sql, {k: v for k, v in own.items() if f"${k}" in sql})
    rows = cursor.fetchall()
    return pd.DataFrame(rows, columns=[name for name, *_ in cursor.description or ()])
