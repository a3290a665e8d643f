"""What a reader of a link is shown, and nothing else: no label, no judge, no rubric text unless chosen."""

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
    """Who is ahead of whom, best first.

    systems: the M ranked systems. ahead: (M, M) probability that the row is above the column, in [0, 1]; NaN of pairs
    that are not compared.
    separated: (M, M) True where the interval of the difference excludes 0.
    """

    systems: tuple[str, ...]
    ahead: FloatArray
    separated: BoolArray


@dataclass(frozen=True, eq=False)
class Bank:
    """How much the bank covers.

    size: rubrics in it. candidates: rubrics that pass the gate and vary between systems. rubrics: all of the dataset.
    queries_heard: queries that have a rubric in the bank, of ``queries``.
    coverage: the utility of greedy as a share of that of the whole pool, > 0; above 1 only for banks chosen past the
    gate.
    certificate: the utility of the view's strategy over a proven upper bound for every bank of its size, in (0, 1].
    theta: (G,) nodes. information, information_all: (G,) test information of the bank, and of the whole pool, ≥ 0.
    worth: what it keeps for systems held out, in sentences; none where that was not computed, as of earlier versions.
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
    """All that a published view shows. A part that was not chosen is None, and nowhere in the view's file.

    title, note: the publisher's words, plain text. made_at: when it was made (UTC, whole seconds).
    dataset: the dataset's name, or None where it is not to be known. fingerprint: of its labels.
    counts: systems, queries, rubrics, judges and labels that the result rests on, and the rubrics of the bank.
    settings: as Settings.as_dict. versions: of Python and the libraries that computed it.
    cautions: what must be said of the result. downloads: whether readers are offered files.
    claims: the sentences about who is ahead, where the view has a leaderboard.
    leaderboard: columns LEADERBOARD_SHARED of analysis.columns, best first, unranked systems last; without ``tier``
    where tiers were not chosen.
    rubrics: columns BANK_SHARED, the bank in the order of its choice.
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
        """Plain values for JSON, every part that the view shows; tables as {columns, rows}."""
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
