"""Explain the place of a system: its scores by group, and its labels on single rubrics against the expected ones.

Scores are by query, so the query is the unit here too: a mean over n queries has the standard error of a mean of n
values, whatever the number of rubrics. Expectations are cross-fitted: a system's own labels are not in the model that
predicts them.
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

EQUAL = 1e-9  # smaller differences of scores are rounding errors


@dataclass(frozen=True)
class GroupScores:
    """Mean scores of one system in G groups of queries, with the mean of the other systems on the same queries.

    names: the groups. queries: (G,) number of queries on which the system and at least one other have a score. value,
    others: (G,) means over these queries; NaN if there is none. difference: (G,) value - others. low, high: (G,)
    interval of the difference, each group alone; NaN with fewer than FEWEST_CLUSTERS queries.
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
    """Comparison of a first system with a second one on N queries and J rubrics.

    difference: (N,) query score of the first - that of the second; NaN if one has none. ahead, behind, equal: on how
    many queries the first has the higher, lower or equal score. rubrics: (n,) indices of the rubrics with a pull other
    than 0, the largest first. pull: (n,) a_j (share of the first - share of the second) on these rubrics. favours,
    against: on how many rubrics the first, and the second, does better. compared: on how many both have a label.
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
    """Mean scores by group of one system and of the others, with intervals over the queries' differences.

    scores: (M, N) for each group, NaN outside it. weights: (N,) ≥ 0, of the queries in a mean. system: its position.
    """
    found = [_against_others(each, weights, system, confidence) for each in scores]
    columns = np.array(found, dtype=np.float64).reshape(len(found), 6).T
    return GroupScores(tuple(names), columns[0].astype(np.int64), *columns[1:])


def in_groups(scores: FloatArray, groups: Sequence[object]) -> tuple[tuple[str, ...], list[FloatArray]]:
    """Split query scores (M, N) by the group of each query: sorted names of the groups, and an array (M, N) for each.

    The array has NaN outside its group. A query whose group is unknown (None, NaN or "") belongs to no group.
    """
    named = np.array([group_name(group) for group in groups], dtype=object)
    names = tuple(sorted({name for name in named if name}))
    return names, [np.where(named == name, scores, np.nan) for name in names]


def group_means(scores: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
    """(M, G) weighted mean score of each system in each group; NaN if it has no score there.

    scores: (M, N) for each of G groups, NaN outside it. weights: (N,) of the queries.
    """
    columns = []
    for each in scores:
        known = np.isfinite(each)
        total = known @ weights
        earned = np.where(known, each, 0.0) @ weights
        columns.append(ratio(earned, total))
    return np.stack(columns, axis=1) if columns else np.empty((0, 0))


def surprises(cross: CrossFit, system: int, theta: float, use: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Expected share of the mark of one system at ability ``theta``, and the label's share minus it, (J,) each.

    The parameters are those of the system's fold, fitted without its labels. use: (J,) rubrics that count. NaN if the
    label, the rubric's parameters or the ability is unknown.
    """
    fit = cross.fold_fit(int(cross.fold[system]))
    expected = np.where(use, expected_shares(fit, np.array([theta]))[0], np.nan)
    return expected, cross.y[system] / (cross.pooled.levels - 1) - expected


def extremes(residual: FloatArray, most: int) -> tuple[IntArray, IntArray]:
    """Indices of at most ``most`` residuals (J,) above 0, largest first, and of as many below 0, lowest first."""
    order = np.argsort(-np.nan_to_num(residual), kind="stable")
    strong, weak = order[residual[order] > 0], order[::-1]
    return strong[:most], weak[residual[weak] < 0][:most]


def head_to_head(
    scores: FloatArray, share: FloatArray, slope: FloatArray, use: BoolArray, first: int, second: int
) -> HeadToHead:
    """Compare the systems at the positions ``first`` and ``second``.

    scores: (M, N) query scores. share: (M, J) labels as shares of the mark. slope: (J,) a_j. NaN unknown in each. use:
    (M, J) rubrics that count for each system. Under the 2PL the sum of a_j y_ij is sufficient for an ability, so a_j
    times the difference of two labels is a rubric's part in the difference of two systems. For other models it is
    proportional to that part near the middle of the rubric.
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
    """(M,) systems that no other system beats in value at the same or a lower cost; False if cost or value is NaN.

    Of two systems of equal value, the one that costs more is beaten.
    """
    known = np.isfinite(cost) & np.isfinite(value)
    order = np.lexsort((-value, cost))
    kept, best = np.zeros(len(cost), dtype=bool), (-np.inf, -np.inf)  # the best value so far, and its cost
    for i in order[known[order]]:
        if value[i] > best[0] or (value[i] == best[0] and cost[i] == best[1]):
            kept[i], best = True, (value[i], cost[i])
    return kept


def _against_others(
    scores: FloatArray, weights: FloatArray, system: int, confidence: float
) -> tuple[float, ...]:
    """(queries, value, others, difference, low, high) of one system in one group, as in ``GroupScores``."""
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
    """Interval of the weighted mean of differences (n,); NaN with fewer than FEWEST_CLUSTERS queries.

    w: (n,) weights that sum to 1. The ends are the wider ones of two intervals: Student's t, with variance and degrees
    of freedom for unequal weights, and that of a difference of shares, since the first is too narrow if few queries
    differ.
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
    """A group's name without blanks around it; "" if it is unknown (None, NaN or "")."""
    return "" if group is None or group != group else str(group).strip()
