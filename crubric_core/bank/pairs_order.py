"""The greedy, query-balanced order of the ``pairs`` utility, by lazy evaluation (docs/method.md §8, step 6).

U is submodular: what a gain was at most once, it is at most ever after (Minoux 1978). So only rubrics whose old bound
reaches the best gain found are looked at again. A gain is concave in the rubric's m (``gain_of``), so its tangent at
any m bounds it from above at the price of a dot product; at about the m of the rubrics chosen last it is within some
percent. Few gains are then computed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import compiled, compiled_in_any_order
from ..errors import AssemblyError
from ..types import BoolArray, FloatArray, IntArray
from .pair_gains import gain_of
from .pairs import PairDistances
from .utility import BankOrder, order_along

# A gain or its bound is a sum of some hundred doubles: it errs by less than this share of itself.
_ROUNDING = 1e-12
# Where tangents touch, m is at least this: at 0 the gain of a pair without any distance yet has no finite slope.
_LEAST = 1e-9
# How far the point where tangents touch moves to the m of each rubric that is chosen.
_MOVE = 0.05


def pairs_order(
    distances: PairDistances,
    query_index: IntArray,
    feasible: BoolArray | None = None,
    budget: int | None = None,
) -> BankOrder:
    """Greedy maximisation of U over the feasible rubrics, ``budget`` of them or all.

    At each step only rubrics of the queries used least so far compete; queries without rubrics left drop out. Ties
    go to the lowest index, and the bank of a smaller budget is a prefix. query_index: (J,) query of each rubric.
    """
    return order_along(distances, pairs_sequence(distances, query_index, feasible, budget))


def pairs_sequence(
    distances: PairDistances,
    query_index: IntArray,
    feasible: BoolArray | None = None,
    budget: int | None = None,
    begun: IntArray | None = None,
) -> IntArray:
    """(n,) the order of ``pairs_order`` alone. begun: its first rubrics, where they are known; the rest is searched."""
    shape = distances.row.shape
    if query_index.shape != shape or (feasible is not None and feasible.shape != shape):
        raise AssemblyError(
            f"query_index and feasible must have one entry for each of the {shape[0]} rubrics."
        )
    candidates = distances.candidates(feasible)
    most = len(candidates) if budget is None else min(max(budget, 0), len(candidates))
    if not most:
        return np.empty(0, dtype=np.int64)
    order, known = np.empty(most, dtype=np.int64), 0 if begun is None else min(len(begun), most)
    if begun is not None:
        order[:known] = np.searchsorted(candidates, begun[:known])
    _fill(_search(distances, distances.row[candidates], query_index[candidates]), order, known)
    return candidates[order]


class _Search(NamedTuple):
    """One greedy run over n candidates of U kinds: those with the same row of distances share one bound.

    by_kind, by_query: the candidates of each, ascending, and where each begins. bounds: (U,) on the gains. left, root:
    as in ``pair_gains``. touch: (P,) the m where tangents touch; slopes: theirs. terms: (P,) to be overwritten.
    remaining: (n,) not chosen yet; competing: of them, those whose query is used least. rivals: (U,) how many compete.
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


def _search(distances: PairDistances, kind: IntArray, query: IntArray) -> _Search:
    """At the empty bank."""
    rises, (kinds, pairs) = distances.rises, distances.rises.shape
    return _Search(
        rises,
        distances.weights,
        kind,
        query,
        _members(kind, kinds),
        _members(query, int(query.max()) + 1),
        bounds=np.full(kinds, np.inf),
        left=np.ones(pairs),
        root=np.zeros(pairs),
        touch=np.maximum(rises.mean(axis=0), _LEAST),
        slopes=np.empty(pairs),
        terms=np.empty(pairs),
        remaining=np.ones(len(kind), dtype=bool),
        competing=np.zeros(len(kind), dtype=bool),
        rivals=np.zeros(kinds, dtype=np.int64),
    )


def _members(group: IntArray, groups: int) -> tuple[IntArray, IntArray]:
    """The members of all groups, one group after the other, and (groups + 1,) where each begins."""
    members = np.argsort(group, kind="stable")
    return members, np.searchsorted(group[members], np.arange(groups + 1))


@compiled
def _fill(search: _Search, order: IntArray, known: int) -> None:
    """Choose every place of ``order`` (n,) after the first ``known``, which are given."""
    compete = 0
    for place in range(len(order)):
        if compete == 0:
            compete = _begin_round(search)
        if place >= known:
            order[place] = _best(search)
        compete -= _put(search, order[place])


@compiled
def _begin_round(search: _Search) -> int:
    """Every query that has rubrics left has been used equally often: all of them compete. How many these are."""
    search.competing[:] = search.remaining
    for rubric in np.flatnonzero(search.remaining):
        search.rivals[search.kind[rubric]] += 1
    return int(search.remaining.sum())


@compiled
def _best(search: _Search) -> int:
    """The competing rubric with the largest gain, the first of several."""
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
def _gain(search: _Search, kind: int) -> float:
    """The gain of a kind, which bounds it from now on."""
    gain = gain_of(search.rises[kind], search.weights, search.left, search.root, search.terms)
    search.bounds[kind] = gain * (1 + _ROUNDING)
    return gain


@compiled
def _first(search: _Search, kind: int) -> int:
    """The first competing rubric of a kind that has any."""
    members, starts = search.by_kind
    at = starts[kind]
    while not search.competing[members[at]]:
        at += 1
    return int(members[at])


@compiled
def _tangents(search: _Search) -> float:
    """The tangents of all gains at m = t, ``touch``: Σ_p slope_p m_p + the constant that is returned.

    That of √(r + e m) - √r is (e m + (e t / (s + √r))²) / 2s, s = √(r + e t): a sum of terms ≥ 0, which keeps its
    digits where r is near 1.
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
def _put(search: _Search, best: int) -> int:
    """Put this candidate into the bank: no other of its query competes any more. How many drop out."""
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
        search.touch[p] += _MOVE * (max(rise, _LEAST) - search.touch[p])
    return out
