"""Shared parts of the exports: a bank's queries with their rubrics, in the order of their choice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ...bank.identity import own_name, token
from ...errors import ExportError
from ...text import count, verb
from ..bank_scale import BankScale


@dataclass(frozen=True)
class Asked:
    """One rubric as exports ask it.

    token: its id and the bank's. name: without the prefix of its query. text: its text, or its name if it has none.
    low, high: ends of its scale. points: None if unknown. dimension: None if unknown.
    """

    token: str
    query: str
    name: str
    text: str
    low: int
    high: int
    pass_mark: int
    polarity: int
    points: float | None
    dimension: str | None

    @property
    def graded(self) -> bool:
        """Whether the rubric has more than two levels."""
        return self.high - self.low > 1

    @property
    def signed_points(self) -> float:
        """The rubric's points, 1 if they are unknown or 0; negative if meeting the rubric is bad."""
        points = 1.0 if not self.points else abs(self.points)
        return points if self.polarity > 0 else -points


def asked(bank_scale: BankScale) -> Iterator[tuple[str, str, list[Asked]]]:
    """Yield (query, its text or name, its rubrics) for each query, in the order of the bank."""
    table = bank_scale.rubrics.sort_values("order", kind="stable")
    texts = dict(zip(bank_scale.queries["query"].map(str), bank_scale.queries["text"], strict=True))
    for query, group in table.groupby("query", sort=False):
        rubrics = [_asked(bank_scale, row) for _, row in group.iterrows()]
        said = texts.get(str(query))
        yield str(query), said if isinstance(said, str) else str(query), rubrics


def _asked(bank_scale: BankScale, row: pd.Series[Any]) -> Asked:
    name = own_name(str(row["rubric"]), str(row["query"]))
    return Asked(
        token=token(str(row["id"]), bank_scale.bank_id),
        query=str(row["query"]),
        name=name,
        text=row["text"] if isinstance(row["text"], str) else name,
        low=int(row["scale_min"]),
        high=int(row["scale_max"]),
        pass_mark=int(row["pass_mark"]),
        polarity=int(row["polarity"]),
        points=None if pd.isna(row["points"]) else float(row["points"]),
        dimension=row["dimension"] if isinstance(row["dimension"], str) else None,
    )


def require_binary(bank_scale: BankScale, tool: str) -> None:
    """Raise ExportError if a rubric has more than two levels, for a tool that has only met and not met."""
    graded = bank_scale.rubrics[bank_scale.rubrics["scale_max"] - bank_scale.rubrics["scale_min"] > 1]
    if len(graded):
        row = graded.iloc[0]
        raise ExportError(
            f"{tool} knows met and not met alone, and {count(len(graded), 'rubric')} of the bank "
            f"{verb(len(graded), 'are')} graded (first: {row['rubric']!r}, {row['scale_min']} to "
            f"{row['scale_max']}): export it as csv, autorubric or inspect."
        )


def json_lines(records: list[dict[str, Any]]) -> bytes:
    """The records as JSON Lines: one record on each line."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()
