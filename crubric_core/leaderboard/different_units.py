"""Scores of systems on different units, compared as if on all units; and the units on which a difference rests.

The score of a system that has only easy queries cannot be compared directly with those of others. Least squares
compares systems on the units that they have in common, directly or through other systems (docs/method.md §10).
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow

from ..compiled import compiled
from ..types import BoolArray, FloatArray, IntArray

ROUNDING = 1e-12  # scores that differ by less are equal
MANY = 64  # differing units; with more, the sign test never matters
MOST_COMPARED = 100  # systems up to which the units of each difference are counted
MOST_WAYS = 40  # systems up to which the ways between each two are counted


@compiled
def differing_units(scores: FloatArray, unit: IntArray) -> IntArray:
    """(M, M) number of units on which two systems both have scores (M, n) that differ; at most MANY.

    NaN: no score, which is no difference either. unit: (n,) of each column, equal units side by side.
    """
    size = len(scores)
    found = np.zeros((size, size), dtype=np.int64)
    for i in range(size):
        for k in range(i + 1, size):
            count, counted = 0, -1
            for q in range(len(unit)):
                if abs(scores[i, q] - scores[k, q]) > ROUNDING and unit[q] != counted:
                    count, counted = count + 1, unit[q]
                    if count == MANY:
                        break
            found[i, k] = found[k, i] = count
    return found


def beside_units(
    scores: FloatArray, omega: FloatArray, of: IntArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Means (M,) and contributions (n, M) of ``means_beside_units``, and (M, M) units on which each difference rests.

    of: (n,) the unit of each column. For more than MOST_COMPARED systems, every difference is taken to rest on all
    units.
    """
    means, contributions, inverse = means_beside_units(scores, omega)
    resting = np.full((len(scores),) * 2, len(np.unique(of)))
    if len(scores) <= MOST_COMPARED:
        resting = _resting(np.isfinite(scores), omega, inverse, of)
    return means, contributions, resting


def means_beside_units(scores: FloatArray, omega: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(M,) mean scores over all units, their contributions (n, M), and the inverse (M, M) of the systems' equations.

    Least squares of scores (M, n), NaN unknown, on one effect of each system and one of each unit (least-squares
    means): a system that was scored on easy units alone is compared with the others on these. If all scores are known
    these are the plain means and their contributions. omega: (n,) > 0.
    """
    known = np.isfinite(scores)
    count = known.sum(axis=0)
    values = np.where(known, scores, 0.0)
    tied = np.diag(known @ omega) - (known * (omega / count)) @ known.T
    inverse = np.linalg.pinv(tied, rcond=1e-10, hermitian=True)
    system = inverse @ (np.where(known, values - values.sum(axis=0) / count, 0.0) @ omega)
    unit = (values - np.where(known, system[:, None], 0.0)).sum(axis=0) / count
    residual = np.where(known, values - system[:, None] - unit, 0.0)
    share = omega / omega.sum()
    level = float(share @ unit)
    moves = (inverse @ (residual * omega)).T
    levels = share * (unit - level) - moves @ ((known / count) @ share)
    return system + level, moves + levels[:, None], inverse


def _resting(known: BoolArray, omega: FloatArray, inverse: FloatArray, of: IntArray) -> IntArray:
    """(M, M) number of units on which the least-squares difference of two systems rests, by Kish: (sum u)² / sum u².

    u_q is the length of the vector of weights that the scores on unit q have in the difference: 0 for a unit that only
    one system has, and equal on all units that both have if no other system links them. With up to MOST_WAYS systems
    the number is at most that of the ways by which units lead from one system to the other: two that share only six
    units rest on six, however well each is compared with others. known: (M, n). inverse: (M, M) of the systems'
    equations.
    """
    size, count = len(known), known.sum(axis=0)
    units, place = np.unique(of, return_inverse=True)
    found = np.zeros((size, size))
    for i in range(size):
        # (K, M) weights of the systems' sums in the difference between i and each other system
        moved = inverse[i] - inverse[i:]
        squares = moved**2 @ known - (moved @ known) ** 2 / count
        length = np.zeros((len(squares), len(units)))
        np.add.at(length.T, place, (omega * np.sqrt(np.maximum(squares, 0.0))).T)
        length[length < 1e-9 * length.max(axis=1, keepdims=True, initial=0.0)] = 0.0
        total, square = length.sum(axis=1), (length**2).sum(axis=1)
        found[i, i:] = found[i:, i] = np.divide(total**2, square, out=np.zeros(len(total)), where=square > 0)
    whole, together = np.floor(found + 1e-9).astype(np.int64), by_unit(known, of)
    np.fill_diagonal(whole, together.sum(axis=1))
    return at_most_ways(whole, together) if size <= MOST_WAYS else whole


def at_most_ways(found: IntArray, known: BoolArray) -> IntArray:
    """(M, M) ``found``, limited to the number of disjoint ways from one system to another.

    A way is a chain of units (M, n), each shared by two consecutive systems; no unit is in two ways, so that their
    number is a maximum flow (Menger). Direct ways and ways through one other system are counted first; the flow is
    computed only where ``found`` exceeds their number.
    """
    size = len(known)
    patterns, units = np.unique(known[:, known.sum(axis=0) > 1], axis=1, return_counts=True)
    having, weighed = patterns.astype(float), patterns * units.astype(float)
    both = weighed @ having.T
    by_one = np.zeros((size, size))
    for k in range(size):
        with_all = (weighed * having[k]) @ having.T  # units of i, k and each other
        by_one = np.maximum(by_one, np.minimum(both[:, [k]], both[k]) - with_all)
    least = np.rint(both + by_one).astype(np.int64)
    np.fill_diagonal(least, found.max(initial=0))
    if (found <= least).all():
        return found
    system, pattern = np.nonzero(patterns)
    enter, leave = size + np.arange(len(units)), size + len(units) + np.arange(len(units))
    ways = [
        (enter, leave, units),
        (system, enter[pattern], units[pattern]),
        (leave[pattern], system, units[pattern]),
    ]
    start, end, capacity = (np.concatenate(part) for part in zip(*ways, strict=True))
    graph = csr_matrix((capacity.astype(np.int32), (start, end)), shape=(size + 2 * len(units),) * 2)
    found = found.copy()
    for i, k in np.argwhere(np.triu(found > least)):
        flow = maximum_flow(graph, int(i), int(k)).flow_value  # type: ignore[arg-type]
        found[i, k] = found[k, i] = min(found[i, k], flow)
    return found


def by_unit(known: BoolArray, of: IntArray) -> BoolArray:
    """(M, U) whether a system is known on any column (M, n) of each unit; of: (n,) the unit of each column."""
    units, place = np.unique(of, return_inverse=True)
    found = np.zeros((len(known), len(units)), dtype=bool)
    np.logical_or.at(found.T, place, known.T)
    return found
