"""The report of an ingest: numbers of rows, rejected rows, changes, scales and findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

from ...text import count
from ..readers.columns.specs import Kind
from ..readers.policies import Policies
from .changes import Changes
from .findings import Finding


@dataclass(frozen=True)
class Scale:
    """A label scale: its ends, its number of levels, and whether it was given or inferred from the labels."""

    minimum: float
    maximum: float
    levels: int
    source: Literal["given", "inferred"]


@dataclass(frozen=True, repr=False)
class IngestReport:
    """The result of the ingest of one file. ``accepted + rejected`` is its number of rows.

    blank: accepted rows whose label is unknown. collapsed: accepted rows that repeat what was known.
    replaced: values that gave way to a contradicting one, as the policy ``on_conflict`` says.
    rejects: row (as a spreadsheet shows it), column, value, reason.
    changes: how the dataset changed. applied: policy → number of rows that it decided.
    scale: the dataset's scale afterwards; None while it has no rubric.
    scales: one row for each criterion, as ``Dataset.criteria``, after the ingest; None before it is known.
    checks: data-quality issues of its rows, and of the dataset now.
    coverage: the dataset's labels by system and judge now (``validation.coverage``); None before it is known.
    parts: one report for each table, if there were several; the figures of the whole are those of the requested kind.
    words: word in place of a label → the level as which it was understood; None: unknown.
    notes: sentences on what was understood beyond the names of columns.
    """

    dataset: str
    kind: Kind
    source: str
    accepted: int
    rejected: int
    blank: int
    collapsed: int
    replaced: int
    rejects: pd.DataFrame
    fingerprint: str
    columns: Mapping[str, str]
    changes: Changes
    policies: Policies
    applied: Mapping[str, int]
    scale: Scale | None = None
    scales: pd.DataFrame | None = None
    checks: tuple[Finding, ...] = ()
    coverage: pd.DataFrame | None = None
    parts: tuple[IngestReport, ...] = ()
    words: Mapping[str, float | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """One sentence on each line: the changes, the rows taken from each table, the notes and the warnings."""
        files = [
            f"{part.source}: {count(part.accepted, 'row')} of {part.kind} taken, {part.rejected:,} rejected"
            for part in self.parts or (self,)
        ]
        warned = [finding.sentence for finding in self.checks if finding.severity == "warning"]
        return "\n".join([f"{self.dataset}: {self.changes.sentence}", *files, *self.notes, *warned])


def tidy(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy of a frame with None for missing values, except in columns of numbers and truth values."""
    text = [c for c in frame.columns if frame[c].dtype.kind not in "iufb"]
    return frame.assign(**{c: frame[c].astype(object).where(frame[c].notna(), None) for c in text})
