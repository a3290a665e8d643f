"""The gain of one more rubric in the pairs utility, and the greedy choice by it, compiled (docs/method.md §8)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import compiled, compiled_in_any_order
from ..types import BoolArray, FloatArray, IntArray

# A gain or its bound is a sum of some hundred doubles: it errs by less than this share of itself.
_ROUNDING = 1e-12
# Least m at which tangents touch: at 0 the gain of a pair without any distance yet has no finite slope.
LEAST = 1e-9
# Share by which the point where tangents touch moves towards the m of each chosen rubric.
_MOVE = 0.05


def pair_gains(rises: FloatArray, weights: FloatArray, left: FloatArray, root: FloatArray) -> FloatArray:
    """ΔU = Σ_p ½ w_p (√(r + e m) - √r), (n,), of rubrics with m = 1 - e^(-2d/π) in ``rises`` (n, P).

    left: e = e^(-2x/π) at the bank's summed distances x. root: √r = √(1 - e). Both (P,) or (n, P).
    """
    shape = np.broadcast_shapes(left.shape, (1, rises.shape[1]))
    return _gains(rises, weights, np.broadcast_to(left, shape), np.broadcast_to(root, shape))


@compiled
def _gain_of(
    rise: FloatArray, weights: FloatArray, left: FloatArray, root: FloatArray, terms: FloatArray
) -> float:
    """``pair_gains`` of one rubric; all arrays (P,). terms: work space, overwritten.

    Computed as e m / (√(r + e m) + √r), which keeps its digits where r is near 1. Equal rubrics have bit-equal gains.
    """
    for p in range(len(rise)):
        added = left[p] * rise[p]
        both = np.sqrt(added + root[p] * root[p]) + root[p]
        terms[p] = 0.5 * weights[p] * added / both if both > 0 else 0.0
    total = 0.0
    for p in range(len(terms)):
        total += terms[p]
    return total


@compiled
def _gains(rises: FloatArray, weights: FloatArray, left: FloatArray, root: FloatArray) -> FloatArray:
    """See ``pair_gains``. left, root: (1, P) or (n, P)."""
    gains, terms = np.empty(len(rises)), np.empty(len(weights))
    for j in range(len(rises)):
        at = min(j, len(left) - 1)
        gains[j] = _gain_of(rises[j], weights, left[at], root[at], terms)
    return gains


class Search(NamedTuple):
    """One greedy run over n candidates of U kinds: candidates with the same row of distances share one bound.

    by_kind, by_query: the candidates of each kind or query, ascending, and where each begins. bounds: (U,) on the
    gains. left, root: as in ``pair_gains``. touch: (P,) the m at which the tangents touch. slopes: (P,) of the
    tangents. terms: (P,) work space. remaining: (n,) not chosen yet. competing: (n,) the remaining ones whose query is
    used least. rivals: (U,) number of competing candidates of each kind.
    """

    rises: FloatArray
    weights: FloatArray
    kind: IntArray
    query: IntArray
    by_kind: tuple[IntArray, IntArray]
    by_query: tuple[IntArray, IntArray]
    bounds: FloatArray
    left: FloatArray
    root: FloatArray
    touch: FloatArray
    slopes: FloatArray
    terms: FloatArray
    remaining: BoolArray
    competing: BoolArray
    rivals: IntArray


@compiled
def fill(search: Search, order: IntArray, known: int) -> None:
    """Fill the positions of ``order`` (n,) after the first ``known`` ones, which are given, by greedy choice."""
    compete = 0
    for place in range(len(order)):
        if compete == 0:
            compete = _begin_round(search)
        if place >= known:
            order[place] = _best(search)
        compete -= _put(search, order[place])


@compiled
def _begin_round(search: Search) -> int:
    """Let all remaining candidates compete, as all their queries are used equally often; return their number."""
    search.competing[:] = search.remaining
    for rubric in np.flatnonzero(search.remaining):
        search.rivals[search.kind[rubric]] += 1
    return int(search.remaining.sum())


@compiled
def _best(search: Search) -> int:
    """The competing rubric with the largest gain; the lowest index if several have it."""
    likely = -1
    for kind in range(len(search.rivals)):
        if search.rivals[kind] > 0 and (likely < 0 or search.bounds[kind] > search.bounds[likely]):
            likely = kind
    gain, best, constant = _gain(search, likely), _first(search, likely), _tangents(search)
    for kind in range(len(search.rivals)):
        if search.rivals[kind] == 0 or search.bounds[kind] < gain or kind == likely:
            continue
        bound = (_dot(search.rises[kind], search.slopes) + constant) * (1 + _ROUNDING)
        search.bounds[kind] = min(search.bounds[kind], bound)
        if bound >= gain:
            found = _gain(search, kind)
            if found > gain:
                gain, best = found, _first(search, kind)
            elif found == gain:
                best = min(best, _first(search, kind))
    return best


@compiled
def _gain(search: Search, kind: int) -> float:
    """The gain of a kind, which is also stored as its bound."""
    gain = _gain_of(search.rises[kind], search.weights, search.left, search.root, search.terms)
    search.bounds[kind] = gain * (1 + _ROUNDING)
    return gain


@compiled
def _first(search: Search, kind: int) -> int:
    """The first competing rubric of a kind; the kind must have one."""
    members, starts = search.by_kind
    at = starts[kind]
    while not search.competing[members[at]]:
        at += 1
    return int(members[at])


@compiled
def _tangents(search: Search) -> float:
    """Tangents of all gains at m = t, ``touch``: fill ``slopes`` and return the constant of Σ_p slope_p m_p + constant.

    The tangent of √(r + e m) - √r is (e m + (e t / (s + √r))²) / 2s, s = √(r + e t): a sum of terms ≥ 0, which keeps
    its digits where r is near 1.
    """
    constant = 0.0
    for p in range(len(search.slopes)):
        root, reach = search.root[p], search.left[p] * search.touch[p]
        s = np.sqrt(root * root + reach)
        half, rest = search.weights[p] / (4 * s), reach / (s + root)
        search.slopes[p] = half * search.left[p]
        constant += half * rest * rest
    return constant


@compiled_in_any_order
def _dot(rise: FloatArray, slopes: FloatArray) -> float:
    total = 0.0
    for p in range(len(rise)):
        total += rise[p] * slopes[p]
    return total


@compiled
def _put(search: Search, best: int) -> int:
    """Put a candidate into the bank: its query no longer competes. Returns how many candidates stop competing."""
    members, starts = search.by_query
    query, out = search.query[best], 0
    for at in range(starts[query], starts[query + 1]):
        rubric = members[at]
        if search.competing[rubric]:
            search.competing[rubric] = False
            search.rivals[search.kind[rubric]] -= 1
            out += 1
    search.remaining[best] = False
    for p in range(len(search.left)):
        rise = search.rises[search.kind[best], p]
        search.root[p] = np.sqrt(search.root[p] * search.root[p] + search.left[p] * rise)
        search.left[p] *= 1 - rise
        search.touch[p] += _MOVE * (max(rise, LEAST) - search.touch[p])
    return out
