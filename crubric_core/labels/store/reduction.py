"""The labels of a dataset in reduced form: all that measurability and the model need."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from ...settings import Response
from ...text import count
from ...types import BoolArray, FloatArray, IntArray
from ..ingest.pass_marks import pass_mark_sentences
from ..repeated_systems import distinct_systems
from .pairs import PairCounts


@dataclass(frozen=True)
class Reduction:
    """Consensus labels and agreement counts of M systems on J rubrics (docs/method.md §1–3).

    systems: the M names, sorted.
    rubrics: J rows, as ``Dataset.rubrics``.
    y: (M, J) consensus labels; binary 0/1, ordered 0..L-1; NaN if there is no label or no majority.
    levels: (J,) number of levels that the model reads; 2 if binary.
    n_agree, n_total: (J,) instances on which all labels agree, and all instances (cells with two labels or more).
    pairs: how often pairs of judges disagree on each rubric, and how often they would by chance.
    max_panel: (J,) most labels on one cell.
    n_judges: number of judges of the dataset.
    unanimous: (J,) whether the rubric has no instance with a disagreement.
    n_labels: number of known labels; repeated runs of a judge on a cell count once.
    response: the response as which labels were read.
    split: (2, S) system and rubric of the cells whose labels split evenly, so that they have no consensus.
    """

    systems: tuple[str, ...]
    rubrics: pd.DataFrame
    y: FloatArray
    levels: IntArray
    n_agree: IntArray
    n_total: IntArray
    pairs: PairCounts
    max_panel: IntArray
    n_judges: int
    unanimous: BoolArray
    n_labels: int
    response: Response
    split: IntArray = field(default_factory=lambda: np.empty((2, 0), dtype=np.int64))

    @property
    def n_cells(self) -> int:
        """Number of cells with a label."""
        return int(np.isfinite(self.y).sum()) + self.split.shape[1]

    @property
    def labels_per_cell(self) -> int:
        """Labels of a cell that has any, on average; rounded, and 1 at the least."""
        return max(round(self.n_labels / max(self.n_cells, 1)), 1)

    @property
    def labels_of_each(self) -> str:
        """How many labels a rubric of a new system is counted with, in words."""
        each = self.labels_per_cell
        if each < self.n_judges:
            return f"{count(each, 'label')} each, the rounded mean of a cell ({self.n_judges:,} judges)"
        return "one label of every judge" if each > 1 else "one label each"

    @cached_property
    def judged(self) -> dict[str, int]:
        """Numbers of systems, queries and rubrics that have a label; the dataset may have others without labels."""
        labelled = np.isfinite(self.y)
        labelled[tuple(self.split)] = True
        rubrics = np.flatnonzero(labelled.any(axis=0))
        return {
            "systems": int(labelled.any(axis=1).sum()),
            "queries": int(self.rubrics["query"].iloc[rubrics].nunique()),
            "rubrics": len(rubrics),
        }

    @cached_property
    def n_distinct(self) -> int:
        """Number of systems, where systems whose labels repeat each other's (copies) count once."""
        return len(np.unique(distinct_systems(self.y)))

    @cached_property
    def pass_marks(self) -> tuple[str, ...]:
        """Sentences, one per graded scale and without names, on what counts as met; () if the response is ordered."""
        return pass_mark_sentences(self.rubrics, named=False) if self.response == "binary" else ()
