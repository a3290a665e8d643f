"""The complete report on the judges of one dataset."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..settings import Settings
from .agreement_table import agreement_table
from .anchors import gold_levels, valid_rubrics
from .copies import copies_note
from .independence import ResidualCorrelation
from .opposed import opposed_note
from .reliability import JudgeReliability, judge_reliability, query_clusters

if TYPE_CHECKING:
    from ..labels.store.dataset import Dataset


@dataclass(frozen=True)
class JudgesReport:
    """reliability: of each judge, with human labels where available. agreement: as ``agreement_table``.

    shared_errors: one row a pair: judge, other, correlation, expected, low, high, cells, flagged. copies:
    ``copies_note``. opposed: ``opposed_note``.
    """

    reliability: JudgeReliability
    agreement: pd.DataFrame
    shared_errors: pd.DataFrame
    copies: str
    opposed: str


def judges_report(ds: Dataset, settings: Settings) -> JudgesReport:
    """Reliability, agreement and shared errors of all judges on pass and fail; ordered agreement for graded labels."""
    reduction = ds.reduce("binary")
    panel, names, scale = ds.panel("binary"), ds.judges, ds.scale
    graded = scale is not None and scale.levels > 2
    ordered = ds.panel("ordered") if graded else None
    found = judge_reliability(
        panel,
        names,
        reduction.rubrics,
        gold_levels(ds.gold(), reduction),
        valid_rubrics(ds.anchors(), reduction.rubrics),
        settings.confidence,
        settings.seed,
    )
    table = agreement_table(
        panel,
        names,
        query_clusters(reduction.rubrics),
        settings.confidence,
        ordered,
    )
    copies = copies_note(panel if ordered is None else ordered, names)
    return JudgesReport(found, table, _pairs(found.correlation, names), copies, opposed_note(table, names))


def _pairs(found: ResidualCorrelation, names: tuple[str, ...]) -> pd.DataFrame:
    above = np.array(list(combinations(range(len(names)), 2)), dtype=np.int64).reshape(-1, 2).T
    columns = {
        "correlation": found.correlation,
        "expected": found.expected,
        "low": found.low,
        "high": found.high,
        "cells": found.n_cells,
        "flagged": found.flagged,
    }
    frame = pd.DataFrame({name: values[above[0], above[1]] for name, values in columns.items()})
    frame.insert(0, "judge", [names[k] for k in above[0]])
    frame.insert(1, "other", [names[k] for k in above[1]])
    return frame
