"""Scores of one dataset under different task types, weights and rubrics, as the score experiments need them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..task_types.scoring import QueryScores, score_systems
from ..task_types.types import TASK_TYPES, ObjectArray, QueryTypes, resolve_task_types
from ..types import BoolArray, FloatArray, IntArray
from .inputs import Inputs


def query_types(inputs: Inputs) -> QueryTypes:
    """The type that scores each query, before anything is flipped."""
    return resolve_task_types(
        inputs.queries["task_type"].to_numpy(dtype=object),
        inputs.queries[[f"p_{name}" for name in TASK_TYPES]].to_numpy(dtype=float),
        inputs.settings.tau_t,
        len(inputs.queries),
    )


def score(
    inputs: Inputs,
    task_type: ObjectArray | None,
    rubrics: IntArray | BoolArray | None = None,
    weights: FloatArray | None = None,
) -> QueryScores:
    """eq:score with these types (None: pass or fail for all), over some rubrics, with weights (J,) or ones."""
    reduction = inputs.reduction
    chosen: Any = slice(None) if rubrics is None else rubrics
    frame = reduction.rubrics.iloc[chosen]
    return score_systems(
        reduction.y[:, chosen],
        reduction.levels[chosen],
        inputs.query_index[chosen],
        len(inputs.queries),
        task_type=task_type,
        dimension=frame["dimension"].to_numpy(dtype=object),
        severity=frame["severity"].to_numpy(dtype=object),
        weights=None if weights is None else weights[chosen],
        omega=omega(inputs.queries),
        rules=inputs.settings.rules,
        clip=inputs.settings.clip,
    )


def omega(queries: pd.DataFrame) -> FloatArray:
    """(N,) weight of each query; NaN unknown."""
    return queries["omega"].to_numpy(dtype=float)


def gap(scores: FloatArray) -> float:
    """Best less worst score, in percentage points; NaN where fewer than two systems have one."""
    known = scores[np.isfinite(scores)]
    return float(100 * np.ptp(known)) if len(known) > 1 else float("nan")


def score_draws(by_query: FloatArray, weights: FloatArray, draws: IntArray) -> FloatArray:
    """(R, M) overall scores where draws (R, N) says how often each query counts. by_query (M, N), weights (N,)."""
    given, known = np.isfinite(weights), np.isfinite(by_query)
    shares = draws * np.where(given, weights, weights[given].mean() if given.any() else 1.0)
    total, scores = shares @ known.T, np.full((len(draws), len(by_query)), np.nan)
    np.divide(shares @ np.where(known, by_query, 0.0).T, total, out=scores, where=total > 0)
    return scores


def gap_draws(by_query: FloatArray, weights: FloatArray, draws: IntArray) -> FloatArray:
    """(R,) gap in percentage points of each draw of queries, over the systems that have a score at all."""
    drawn = score_draws(by_query, weights, draws)
    return np.asarray(100 * np.ptp(drawn[:, np.isfinite(by_query).any(axis=1)], axis=1))
