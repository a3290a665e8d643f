"""The data of a published view: all that its readers can see. No labels, no judges, and rubric texts only if chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pandas as pd

from ..analysis.claims import Claims
from ..types import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Separation:
    """Comparison of all pairs of systems.

    systems: the M ranked systems, best first. ahead: (M, M) probability that the system of the row is above the system
    of the column, in [0, 1]; NaN for pairs that are not compared.
    separated: (M, M) True if the interval of the difference excludes 0.
    """

    systems: tuple[str, ...]
    ahead: FloatArray
    separated: BoolArray


@dataclass(frozen=True, eq=False)
class Bank:
    """Size, coverage and information of the bank.

    size: rubrics in the bank. candidates: rubrics that pass the gate and vary between systems (the pool). rubrics:
    all rubrics of the dataset. queries_heard: queries that have a rubric in the bank, out of ``queries``.
    coverage: the bank's coverage utility as a share of the whole pool's, > 0; above 1 only for banks with rubrics
    that fail the gate.
    certificate: the utility of the view's strategy over a proven upper bound for every bank of its size, in (0, 1].
    theta: (G,) nodes. information, information_all: (G,) test information of the bank, and of the whole pool, ≥ 0.
    worth: sentences about what the bank keeps for held-out systems; () if not computed, as in views of earlier
    versions.
    """

    size: int
    candidates: int
    rubrics: int
    queries_heard: int
    queries: int
    coverage: float
    certificate: float
    theta: FloatArray
    information: FloatArray
    information_all: FloatArray
    worth: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class SharedView:
    """All that a published view shows. A part that was not chosen is None, and the view's file does not contain it.

    title, note: text by the publisher, plain. made_at: when the view was made (UTC, whole seconds).
    dataset: the dataset's name, or None if it is withheld. fingerprint: of the dataset.
    counts: systems, queries, rubrics, judges and labels on which the result rests, and the rubrics of the bank.
    settings: as Settings.as_dict, without names of the dataset. versions: of Python and the libraries that computed it.
    cautions: warnings about the result. downloads: whether readers are offered files.
    claims: sentences about the order of the systems; None without a leaderboard.
    leaderboard: columns LEADERBOARD_SHARED of analysis.columns, best first, unranked systems last; without ``tier``
    if tiers were not chosen.
    rubrics: columns BANK_SHARED, the rubrics of the bank in the order in which they were chosen.
    """

    title: str
    note: str
    made_at: datetime
    dataset: str | None
    fingerprint: str
    counts: Mapping[str, int]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    cautions: tuple[str, ...]
    downloads: bool
    claims: Claims | None = None
    leaderboard: pd.DataFrame | None = None
    separation: Separation | None = None
    bank: Bank | None = None
    rubrics: pd.DataFrame | None = None

    def as_dict(self) -> dict[str, Any]:
        """All parts of the view as plain values for JSON, None for a part not chosen; tables as {columns, rows}."""
        parts: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("title", "note", "dataset", "fingerprint", "cautions", "downloads")
        }
        parts |= {"made_at": self.made_at.isoformat()}
        parts |= {name: dict(getattr(self, name)) for name in ("counts", "settings", "versions")}
        for name in ("leaderboard", "rubrics"):
            table = getattr(self, name)
            parts[name] = None if table is None else _table(table)
        for name in ("claims", "separation", "bank"):
            part = getattr(self, name)
            parts[name] = None if part is None else {k: _listed(v) for k, v in vars(part).items()}
        return parts


def _table(table: pd.DataFrame) -> dict[str, Any]:
    cells = table.astype(object).where(table.notna(), None)
    return {"columns": list(table.columns), "rows": [list(row) for row in cells.itertuples(index=False)]}


def _listed(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else list(value) if isinstance(value, tuple) else value
