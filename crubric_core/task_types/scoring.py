"""Query scores and system scores (eq:score) under the rules of each task type (tab:tasktypes, docs/method.md §9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..compiled import compiled
from ..errors import SettingsError
from ..intervals import ratio
from ..scoring_rules import ScoringRules
from ..types import BoolArray, FloatArray, IntArray
from .types import CREATIVE, DECISION, HIGH_RISK, ObjectArray, fold_case, resolve_task_types

Names = Sequence[Any] | ObjectArray


@dataclass(frozen=True)
class QueryScores:
    """Scores of M systems on N queries, and the parts from which they are computed.

    score: (M,) Σ omega_n · by_query over the queries with a score; NaN if a system has none.
    by_query: (M, N) weighted mean of the points of the query's rubrics, in [0, 1] if clipped; NaN unknown.
    points: (M, J) g_j, from the lowest penalty to 1; NaN unknown. lowest: (J,) g_j of the lowest level.
    emphasis: (J,) e_j. weights: (J,) w_j = e_j × the given weight.
    query_index: (J,) position of each rubric's query. task_type: (N,) type whose rules are used; None: plain pass or
    fail. fallback: (N,) True if no type is probable enough. unrecognised: given names that are not task types.
    clip: whether query scores are clipped.
    """

    score: FloatArray
    by_query: FloatArray
    points: FloatArray
    lowest: FloatArray
    emphasis: FloatArray
    weights: FloatArray
    query_index: IntArray
    task_type: ObjectArray
    fallback: BoolArray
    unrecognised: tuple[str, ...]
    clip: bool


@dataclass(frozen=True)
class QueryExplanation:
    """How one system's score on one query is computed from its n rubrics with a known label.

    rubrics: (n,) indices. points, emphasis, weights: (n,) as in QueryScores.
    contribution: (n,) points × weight ÷ sum of weights; NaN if the weights are 0.
    raw: sum of the contributions, before clipping. score: the query score. Both are NaN if no label is known.
    """

    rubrics: IntArray
    points: FloatArray
    emphasis: FloatArray
    weights: FloatArray
    contribution: FloatArray
    raw: float
    score: float


def emphasis(dimension: Names, task_type: Names, rules: ScoringRules) -> FloatArray:
    """(J,) emphasis e_j > 0: the factor of a rubric's weight for its dimension (J,) and its query's task type (J,)."""
    of_interest = {
        (DECISION, "actionability"): rules.actionability,
        (CREATIVE, "creativity"): rules.creativity,
    }
    pairs = zip(task_type, map(fold_case, dimension), strict=True)
    return np.array([of_interest.get(pair, 1.0) for pair in pairs], dtype=float)


def rubric_points(
    y: FloatArray, levels: IntArray, severity: Names, task_type: Names, rules: ScoringRules
) -> FloatArray:
    """(M, J) points g_j = level / (L − 1), or the penalty if a moderate or critical rubric of a high-risk query fails.

    y: (M, J) levels 0 … L−1, NaN unknown. levels, severity, task_type: (J,). An ordered rubric fails below its
    midpoint, as in the scale map of docs/method.md §1.
    """
    penalties = {(HIGH_RISK, "moderate"): rules.moderate, (HIGH_RISK, "critical"): rules.critical}
    pairs = zip(task_type, map(fold_case, severity), strict=True)
    penalty = np.array([penalties.get(pair, np.nan) for pair in pairs], dtype=float)
    share, severe = y / (levels - 1), np.isfinite(penalty)
    share[:, severe] = np.where(share[:, severe] < 0.5, penalty[severe], share[:, severe])
    return share


def query_scores(
    points: FloatArray, weights: FloatArray, query_index: IntArray, n_queries: int, clip: bool = True
) -> FloatArray:
    """(M, N) weighted mean of the known points of each query, in [0, 1] if ``clip``; NaN if no weight is above 0.

    points: (M, J), NaN unknown. weights: (J,) ≥ 0. query_index: (J,) position of each rubric's query.
    """
    earned, possible = _sums_by_query(np.ascontiguousarray(points.T), weights, query_index, n_queries)
    scores = ratio(earned.T, possible.T)
    return np.clip(scores, 0.0, 1.0) if clip else scores


@compiled
def _sums_by_query(
    points: FloatArray, weights: FloatArray, query_index: IntArray, n_queries: int
) -> tuple[FloatArray, FloatArray]:
    """Two arrays (N, M): sums of the weighted known points (J, M) of each query, and sums of their weights."""
    shape = n_queries, points.shape[1]
    earned, possible = np.zeros(shape), np.zeros(shape)
    for rubric in range(len(points)):
        query, weight = query_index[rubric], weights[rubric]
        for system in range(points.shape[1]):
            known = np.isfinite(points[rubric, system])
            earned[query, system] += points[rubric, system] * weight if known else 0.0
            possible[query, system] += weight if known else 0.0
    return earned, possible


def query_weights(omega: FloatArray) -> FloatArray:
    """(N,) weights of eq:score: a missing weight (NaN) is replaced by the mean of the given weights, or by 1."""
    given = np.isfinite(omega)
    return np.where(given, omega, omega[given].mean() if given.any() else 1.0)


def overall_scores(by_query: FloatArray, omega: FloatArray | None = None) -> FloatArray:
    """(M,) S = Σ_n omega_n × query score (M, N) over the queries with a score, omega scaled to sum to 1 over these.

    omega: (N,) ≥ 0, NaN unknown (``query_weights``), or None for equal weights. NaN for a system without a score.
    Raises SettingsError if an omega is below 0.
    """
    shares = np.ones(by_query.shape[1]) if omega is None else query_weights(omega)
    if (shares < 0).any():
        raise SettingsError(f"omega = {shares.min():g} is below 0: give each query a share of at least 0.")
    known = np.isfinite(by_query)
    return ratio(np.where(known, by_query, 0.0) @ shares, known @ shares)


def score_systems(
    y: FloatArray,
    levels: IntArray,
    query_index: IntArray,
    n_queries: int,
    *,
    task_type: Names | None = None,
    probabilities: FloatArray | None = None,
    dimension: Names | None = None,
    severity: Names | None = None,
    weights: FloatArray | None = None,
    omega: FloatArray | None = None,
    rules: ScoringRules | None = None,
    tau_t: float = 0.5,
    clip: bool = True,
) -> QueryScores:
    """Scores of all systems (eq:score) from the labels of the retained rubrics.

    y: (M, J) levels, NaN unknown. levels, query_index, dimension, severity, weights: (J,). task_type, omega: (N,).
    probabilities: (N, 4) of the task types. An unknown column is None. weights: nu_j, or ones by default; measurability
    never enters them. rules: by default those of the paper.
    """
    n_rubrics = y.shape[1]
    rules = rules or ScoringRules()
    types = resolve_task_types(task_type, probabilities, tau_t, n_queries)
    of_rubric = types.task_type[query_index]
    severities = _or_none(severity, n_rubrics)
    points = rubric_points(y, levels, severities, of_rubric, rules)
    stress = emphasis(_or_none(dimension, n_rubrics), of_rubric, rules)
    total = stress if weights is None else stress * weights
    by_query = query_scores(points, total, query_index, n_queries, clip)
    return QueryScores(
        score=overall_scores(by_query, omega),
        by_query=by_query,
        points=points,
        lowest=rubric_points(np.zeros((1, n_rubrics)), levels, severities, of_rubric, rules)[0],
        emphasis=stress,
        weights=total,
        query_index=query_index,
        task_type=types.task_type,
        fallback=types.fallback,
        unrecognised=types.unrecognised,
        clip=clip,
    )


def by_emphasis(scores: QueryScores, omega: FloatArray | None = None) -> QueryScores:
    """Scores of these labels weighted by emphasis alone, w_j = e_j. omega: as in ``overall_scores``."""
    n_queries = scores.by_query.shape[1]
    by_query = query_scores(scores.points, scores.emphasis, scores.query_index, n_queries, scores.clip)
    return replace(scores, score=overall_scores(by_query, omega), by_query=by_query, weights=scores.emphasis)


def score_ranges(scores: QueryScores, omega: FloatArray | None = None) -> FloatArray:
    """(M,) how much S, if not clipped, rises if each known label changes from the lowest to the highest level.

    NaN for a system without a known label.
    """
    rises = np.where(np.isfinite(scores.points), 1 - scores.lowest, np.nan)
    n_queries = scores.by_query.shape[1]
    by_query = query_scores(rises, scores.weights, scores.query_index, n_queries, clip=False)
    return overall_scores(by_query, omega)


def explain_query(scores: QueryScores, system: int, query: int) -> QueryExplanation:
    """Explain ``scores.by_query[system, query]``: the contribution of each rubric."""
    rubrics = np.flatnonzero((scores.query_index == query) & np.isfinite(scores.points[system]))
    points, weights = scores.points[system, rubrics], scores.weights[rubrics]
    total = weights.sum()
    contribution = points * weights / total if total > 0 else np.full(len(rubrics), np.nan)
    return QueryExplanation(
        rubrics=rubrics,
        points=points,
        emphasis=scores.emphasis[rubrics],
        weights=weights,
        contribution=contribution,
        raw=float(contribution.sum()) if total > 0 else float("nan"),
        score=float(scores.by_query[system, query]),
    )


def _or_none(values: Names | None, length: int) -> Names:
    return [None] * length if values is None else values
