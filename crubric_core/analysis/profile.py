"""Why a system stands where it does: its scores by group, and what it does on single rubrics against what is expected.

Scores are those of queries, so the query is the unit here too: a mean over queries has the standard error of a mean of
that many values, whatever the number of rubrics. Expectations are cross-fitted: nobody's labels are in the model that
says what they should be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from ..intervals import FEWEST_CLUSTERS, known_mean, ratio, signed_mean_interval
from ..irt.information import expected_shares
from ..leaderboard.cross_fit import CrossFit
from ..leaderboard.influence import as_equal
from ..types import BoolArray, FloatArray, IntArray

EQUAL = 1e-9  # scores that differ by less are the same sum, added up in another order


@dataclass(frozen=True)
class GroupScores:
    """Mean scores of one system in G groups of queries, with the mean of the other systems on the same queries.

    names: the groups. queries: (G,) on which the system and another one have a score. value, others: (G,) means over
    these; NaN without any. difference: (G,) value less others. low, high: (G,) its interval, each group alone; NaN
    below FEWEST_CLUSTERS queries.
    """

    names: tuple[str, ...]
    queries: IntArray
    value: FloatArray
    others: FloatArray
    difference: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class HeadToHead:
    """Two systems on N queries and J rubrics; all in the direction of the first.

    difference: (N,) of the query scores; NaN where one of them has none. ahead, behind, equal: in how many queries the
    score is higher, lower, the same. rubrics: indices of the rubrics with different labels, and pull: (n,) for each
    a_j (share of the first - share of the second), the rubrics that favour the first most in front. favours, against:
    how many rubrics each of them does better on. compared: rubrics on which both have a label.
    """

    difference: FloatArray
    ahead: int
    behind: int
    equal: int
    rubrics: IntArray
    pull: FloatArray
    favours: int
    against: int
    compared: int


def group_scores(
    names: Sequence[str],
    scores: Sequence[FloatArray],
    weights: FloatArray,
    system: int,
    confidence: float = 0.95,
) -> GroupScores:
    """Scores (M, N) of each group, NaN off it, reduced to those of one system and of the others.

    weights: (N,) ≥ 0, the share of each query in a mean. The interval is over the queries' differences.
    """
    found = [_against_others(each, weights, system, confidence) for each in scores]
    columns = np.array(found, dtype=np.float64).reshape(len(found), 6).T
    return GroupScores(tuple(names), columns[0].astype(np.int64), *columns[1:])


def in_groups(scores: FloatArray, groups: Sequence[object]) -> tuple[tuple[str, ...], list[FloatArray]]:
    """Query scores (M, N) split by the group of each query: sorted names, and for each the scores, NaN off it.

    A query whose group is unknown (None, NaN or "") belongs to none.
    """
    named = np.array([group_name(group) for group in groups], dtype=object)
    names = tuple(sorted({name for name in named if name}))
    return names, [np.where(named == name, scores, np.nan) for name in names]


def group_means(scores: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
    """(M, G) weighted means of scores (M, N) a group; NaN for a system without a score there."""
    columns = []
    for each in scores:
        known = np.isfinite(each)
        total = known @ weights
        earned = np.where(known, each, 0.0) @ weights
        columns.append(ratio(earned, total))
    return np.stack(columns, axis=1) if columns else np.empty((0, 0))


def surprises(cross: CrossFit, system: int, theta: float, use: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Of one system, (J,) each: the expected share of the mark at ability ``theta``, and what its label is above that.

    By the parameters of the system's own fold, which its labels have not touched. use: (J,) rubrics that count. NaN
    where the label, the rubric's parameters or the ability is unknown.
    """
    fit = cross.fold_fit(int(cross.fold[system]))
    expected = np.where(use, expected_shares(fit, np.array([theta]))[0], np.nan)
    return expected, cross.y[system] / (cross.pooled.levels - 1) - expected


def extremes(residual: FloatArray, most: int) -> tuple[IntArray, IntArray]:
    """Indices of the largest residuals (J,) above 0, largest first, and of those below 0, lowest first."""
    order = np.argsort(-np.nan_to_num(residual), kind="stable")
    strong, weak = order[residual[order] > 0], order[::-1]
    return strong[:most], weak[residual[weak] < 0][:most]


def head_to_head(
    scores: FloatArray, share: FloatArray, slope: FloatArray, use: BoolArray, first: int, second: int
) -> HeadToHead:
    """Two systems side by side: query scores (M, N), labels as shares of the mark (M, J), slopes a (J,), NaN unknown.

    use: (M, J) rubrics that count for each system. Under the 2PL the sum of a_j y_ij is all that labels say of an
    ability, so a_j times the difference of two labels is what a rubric adds to that of two systems; for other models it
    is in proportion to that near the middle of the rubric.
    """
    apart = scores[first] - scores[second]
    ahead, behind, equal = apart > EQUAL, apart < -EQUAL, np.abs(apart) <= EQUAL
    both = use[first] & use[second]
    gap = np.where(both, share[first] - share[second], np.nan)
    pull = np.nan_to_num(gap * np.nan_to_num(slope))
    order = np.argsort(-pull, kind="stable")
    rubrics = order[pull[order] != 0].astype(np.int64)
    return HeadToHead(
        difference=apart,
        ahead=int(ahead.sum()),
        behind=int(behind.sum()),
        equal=int(equal.sum()),
        rubrics=rubrics,
        pull=pull[rubrics],
        favours=int((gap > 0).sum()),
        against=int((gap < 0).sum()),
        compared=int(np.isfinite(gap).sum()),
    )


def undominated(cost: FloatArray, value: FloatArray) -> BoolArray:
    """(M,) systems that no other one beats at the same cost or less; False where cost or value is unknown."""
    known = np.isfinite(cost) & np.isfinite(value)
    order = np.lexsort((-value, cost))
    kept, best = np.zeros(len(cost), dtype=bool), (-np.inf, -np.inf)  # value, and its cost
    for i in order[known[order]]:
        if value[i] > best[0] or (value[i] == best[0] and cost[i] == best[1]):
            kept[i], best = True, (value[i], cost[i])
    return kept


def _against_others(
    scores: FloatArray, weights: FloatArray, system: int, confidence: float
) -> tuple[float, ...]:
    """Queries, value, others, difference, low, high."""
    own, mean = scores[system], known_mean(np.delete(scores, system, axis=0))
    known = np.isfinite(own) & np.isfinite(mean) & (weights > 0)
    n, nothing = int(known.sum()), float("nan")
    if n == 0:
        return 0, nothing, nothing, nothing, nothing, nothing
    w = weights[known] / weights[known].sum()
    value, others = float(w @ own[known]), float(w @ mean[known])
    difference = value - others
    return n, value, others, difference, *_interval(own[known] - mean[known], w, confidence)


def _interval(apart: FloatArray, w: FloatArray, confidence: float) -> tuple[float, float]:
    """Of the mean of differences (n,) with weights w summing to 1; NaN below FEWEST_CLUSTERS.

    The wider ends of two: of Student's t, whose variance and degrees of freedom are those of unequal weights, and of a
    difference of shares, for Student's t is too narrow where few queries differ.
    """
    scale, units, _ = as_equal(w[:, None])
    n = int(units[0])
    if n < FEWEST_CLUSTERS:
        return float("nan"), float("nan")
    difference = float(w @ apart)
    spread = w * (apart - difference) * scale[:, 0]
    half = float(stdtrit(n - 1, (1 + confidence) / 2) * np.sqrt(n / (n - 1) * (spread**2).sum()))
    above, below = np.clip(apart, 0, 1), np.clip(-apart, 0, 1)
    (_, low, high), _ = signed_mean_interval(above, below, w, n, confidence)
    return min(low, difference - half), max(high, difference + half)


def group_name(group: object) -> str:
    """A group's name without blanks around it; "" where it is unknown (None, NaN or "")."""
    return "" if group is None or group != group else str(group).strip()
