"""Human labels of cells as levels, and which rubrics people found valid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..types import FloatArray, IntArray
from .consensus import majority, median_low

if TYPE_CHECKING:
    from ..labels.store.reduction import Reduction


@dataclass(frozen=True)
class GoldCells:
    """The C cells that people labelled: positions of system and rubric, and the level; (C,) each. NaN: unknown."""

    system: IntArray
    rubric: IntArray
    level: FloatArray


def gold_cells(gold: pd.DataFrame, reduction: Reduction, *, split: float = np.nan) -> GoldCells:
    """Combine the human labels of ``Dataset.gold()`` for each cell: strict majority, or lower median of ordered levels.

    The levels are on the scale of ``reduction``. Labels of systems and rubrics that no judge has labelled, and labels
    outside the rubric's scale, are skipped. split: level of a cell with an even split between pass and fail; NaN
    unknown.
    """
    rubrics = reduction.rubrics
    i = pd.Index(reduction.systems).get_indexer(pd.Index(gold["system"])).astype(np.int64)
    j = pd.Index(rubrics["rubric"]).get_indexer(pd.Index(gold["rubric"])).astype(np.int64)
    low, high = (rubrics[end].to_numpy(dtype=np.float64)[j] for end in ("scale_min", "scale_max"))
    label = gold["label"].to_numpy(dtype=np.float64)
    bad = rubrics["polarity"].to_numpy()[j] < 0
    level = np.where(bad, high - label, label - low)
    n_levels = rubrics["levels"].to_numpy(dtype=np.int64)[j]
    met = label >= rubrics["pass_mark"].to_numpy(dtype=np.float64)[j]
    read = (met != bad).astype(np.float64) if reduction.response == "binary" else level
    usable = (i >= 0) & (j >= 0) & (level >= 0) & (level < n_levels)
    cell, place = np.unique(i[usable] * len(rubrics) + j[usable], return_inverse=True)
    annotator, names = pd.factorize(gold["annotator"][usable], sort=True, use_na_sentinel=False)
    panel = np.full((len(cell), max(len(names), 1)), np.nan)
    panel[place, annotator] = read[usable]
    if reduction.response == "ordered":
        found = median_low(panel)
    else:
        found = majority(panel)
        found = np.where(np.isnan(found), split, found)
    return GoldCells(cell // len(rubrics), cell % len(rubrics), found)


def gold_levels(gold: pd.DataFrame, reduction: Reduction) -> FloatArray:
    """(M, J) the levels of ``gold_cells``; NaN unknown."""
    cells, levels = gold_cells(gold, reduction), np.full(reduction.y.shape, np.nan)
    levels[cells.system, cells.rubric] = cells.level
    return levels


def valid_rubrics(anchors: pd.DataFrame, rubrics: pd.DataFrame) -> FloatArray:
    """(J,) 1 if most annotators of ``Dataset.anchors()`` found the rubric valid (z_j), 0 if most did not; NaN unknown.

    A tie is unknown; anchors of other rubrics are skipped.
    """
    votes = anchors["valid"].astype(np.float64).groupby(anchors["rubric"].to_numpy()).mean()
    share = votes.reindex(rubrics["rubric"]).to_numpy(dtype=np.float64)
    return np.where(share > 0.5, 1.0, np.where(share < 0.5, 0.0, np.nan))
