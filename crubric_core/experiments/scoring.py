"""Scores of a dataset under different task types, weights and rubrics, for the experiments about scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from ..intervals import ratio
from ..leaderboard.different_units import means_beside_units
from ..leaderboard.linked import linked_groups
from ..task_types.scoring import QueryScores, query_weights, score_systems
from ..task_types.types import ObjectArray
from ..types import BoolArray, FloatArray, IntArray
from .inputs import Inputs


def score(
    inputs: Inputs,
    task_type: ObjectArray | None,
    rubrics: IntArray | BoolArray | None = None,
    weights: FloatArray | None = None,
) -> QueryScores:
    """Scores (eq:score) of all systems.

    task_type: (N,); None: plain pass or fail for all queries. rubrics: indices or a mask; None: all. weights: (J,);
    None: equal weights.
    """
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


def gap(by_query: FloatArray, weights: FloatArray) -> float:
    """Best minus worst score in percentage points; NaN if fewer than two systems have one, or they are not linked.

    by_query: (M, N) scores. weights: (N,). See ``score_draws`` for systems that lack queries.
    """
    scores = score_draws(by_query, weights, np.ones((1, len(weights)), dtype=np.int64))[0]
    known = scores[np.isfinite(scores)]
    return float(100 * np.ptp(known)) if len(known) > 1 else float("nan")


def score_draws(by_query: FloatArray, weights: FloatArray, draws: IntArray) -> FloatArray:
    """(R, M) overall scores for each draw of queries. draws: (R, N) how often each query counts.

    by_query: (M, N) scores, NaN unknown. weights: (N,). Systems that lack queries are compared as on the leaderboard
    (docs/method.md §10), so that a system is not ahead because it lacks hard queries. All scores are NaN if too few
    queries link the systems.
    """
    omega, known = query_weights(weights), np.isfinite(by_query)
    scored, counted = known.any(axis=1), known.any(axis=0) & (omega > 0)
    scores = np.full((len(draws), len(by_query)), np.nan)
    if not known[scored][:, counted].all():
        if linked_groups(known[scored][:, counted].T).any():
            return scores
        means, psi, _ = means_beside_units(by_query[scored][:, counted], omega[counted])
        scores[:, scored] = means + (draws[:, counted] - 1) @ psi
        return scores
    shares = draws * omega
    return ratio(shares @ np.where(known, by_query, 0.0).T, shares @ known.T)


def gap_draws(by_query: FloatArray, weights: FloatArray, draws: IntArray) -> FloatArray:
    """(R,) gap in percentage points for each draw of queries, over the systems with a score on any query."""
    drawn = score_draws(by_query, weights, draws)
    return np.asarray(100 * np.ptp(drawn[:, np.isfinite(by_query).any(axis=1)], axis=1))


def gap_interval(
    by_query: FloatArray, weights: FloatArray, draws: IntArray, confidence: float
) -> tuple[float, float]:
    """(low, high) of the gap in points, for queries like these; NaN if fewer than two systems or queries have a score.

    Errors help to decide which systems are best and worst, so the observed gap is too large on average. The lower end
    allows for the range of all systems' errors, the upper end for the pair with the largest error. Errors are from the
    draws of queries, with Student's t. The gap of scores in [0, 1] is at most 100 points.
    """
    scored = np.isfinite(by_query).any(axis=1)
    found = 100 * score_draws(by_query[scored], weights, np.ones((1, by_query.shape[1]), dtype=int))[0]
    error = 100 * score_draws(by_query[scored], weights, draws) - found
    error = error[np.isfinite(error).all(axis=1)]
    n, level = int(np.isfinite(by_query).any(axis=0).sum()), (1 + confidence) / 2
    if min(n, len(found), len(error)) < 2:
        return float("nan"), float("nan")
    few, t = np.sqrt(n / (n - 1)), float(stdtrit(n - 1, level))
    covariance = np.cov(error, rowvar=False)
    variance = np.diag(covariance)
    above = np.sqrt(np.max(variance[:, None] + variance - 2 * covariance))
    below = np.quantile(np.ptp(error, axis=1), level) / float(ndtri(level))
    most = 100.0 if np.nanmin(by_query) >= 0 and np.nanmax(by_query) <= 1 else np.inf
    return float(max(np.ptp(found) - few * t * below, 0.0)), float(min(np.ptp(found) + few * t * above, most))
