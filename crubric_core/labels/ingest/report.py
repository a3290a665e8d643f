"""The report of an ingest."""

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
    """A label scale. levels: number of levels. source: "given" by a file or user, or "inferred" from the labels."""

    minimum: float
    maximum: float
    levels: int
    source: Literal["given", "inferred"]


@dataclass(frozen=True, repr=False)
class IngestReport:
    """The result of ingesting one file, or several. ``accepted + rejected`` is the number of rows.

    blank: accepted rows whose label is unknown. collapsed: accepted rows that repeat known values.
    replaced: values that were replaced by a contradicting one, by the policy ``on_conflict``.
    rejects: rejected rows with row (as a spreadsheet shows it), column, value, reason.
    changes: of the dataset. applied: policy → number of rows that it decided.
    scale: the dataset's scale after the ingest; None if it has no rubric.
    scales: one row per criterion after the ingest, as ``Dataset.criteria``; None if not computed yet.
    checks: data-quality issues of the rows, and of the dataset after the ingest.
    coverage: the dataset's labels by system and judge (``validation.coverage``); None if not computed yet.
    parts: one report per table if there are several; the figures of the whole are those of the requested kind.
    words: word in place of a label → its level; None for unknown.
    notes: sentences on how the files were read.
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
        """A text for people: changes, accepted and rejected rows of each file, notes and warnings, one per line."""
        files = [
            f"{part.source}: {count(part.accepted, 'row')} of {part.kind} taken, {part.rejected:,} rejected"
            for part in self.parts or (self,)
        ]
        warned = [finding.sentence for finding in self.checks if finding.severity == "warning"]
        return "\n".join([f"{self.dataset}: {self.changes.sentence}", *files, *self.notes, *warned])


def tidy(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy of the frame with None for missing values in columns that are not numeric."""
    text = [c for c in frame.columns if frame[c].dtype.kind not in "iufb"]
    return frame.assign(**{c: frame[c].astype(object).where(frame[c].notna(), None) for c in text})
