"""Human anchors: the level that people gave each (system, rubric), and which rubrics they found valid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..types import FloatArray
from .consensus import majority, median_low

if TYPE_CHECKING:
    from ..labels.store.reduction import Reduction


def gold_panel(gold: pd.DataFrame, reduction: Reduction) -> FloatArray:
    """(M, J, A) each annotator's levels of ``Dataset.gold()`` on the scale of ``reduction``; NaN unknown.

    Labels of systems and rubrics that no judge has seen, and labels outside the rubric's scale, are skipped.
    """
    rubrics = reduction.rubrics
    annotators = (
        np.unique(gold["annotator"].to_numpy(dtype=object)) if len(gold) else np.empty(0, dtype=object)
    )
    i = pd.Index(reduction.systems).get_indexer(pd.Index(gold["system"]))
    j = pd.Index(rubrics["rubric"]).get_indexer(pd.Index(gold["rubric"]))
    low, high = (rubrics[end].to_numpy(dtype=np.float64)[j] for end in ("scale_min", "scale_max"))
    label = gold["label"].to_numpy(dtype=np.float64)
    bad = rubrics["polarity"].to_numpy()[j] < 0
    level = np.where(bad, high - label, label - low)
    n_levels = rubrics["levels"].to_numpy(dtype=np.int64)[j]
    usable = (i >= 0) & (j >= 0) & (level >= 0) & (level < n_levels)
    panel = np.full((*reduction.y.shape, len(annotators)), np.nan)
    k = pd.Index(annotators).get_indexer(pd.Index(gold["annotator"]))
    met = label >= rubrics["pass_mark"].to_numpy(dtype=np.float64)[j]
    read = (met != bad).astype(np.float64) if reduction.response == "binary" else level
    panel[i[usable], j[usable], k[usable]] = read[usable]
    return panel


def gold_levels(gold: pd.DataFrame, reduction: Reduction, *, split: float = np.nan) -> FloatArray:
    """(M, J) the annotators' strict majority, or the lower median of ordered levels; NaN unknown.

    split: what an even split of a majority is.
    """
    panel = gold_panel(gold, reduction)
    if not panel.shape[2]:
        return np.full(reduction.y.shape, np.nan)
    if reduction.response == "ordered":
        return median_low(panel)
    level = majority(panel)
    return np.where(np.isnan(level) & np.isfinite(panel).any(axis=2), split, level)


def valid_rubrics(anchors: pd.DataFrame, rubrics: pd.DataFrame) -> FloatArray:
    """(J,) 1 where most annotators of ``Dataset.anchors()`` found the rubric valid (z_j), 0 where not; NaN unknown.

    A tie carries no information; anchors of other rubrics are skipped.
    """
    votes = anchors["valid"].astype(np.float64).groupby(anchors["rubric"].to_numpy()).mean()
    share = votes.reindex(rubrics["rubric"]).to_numpy(dtype=np.float64)
    return np.where(share > 0.5, 1.0, np.where(share < 0.5, 0.0, np.nan))
