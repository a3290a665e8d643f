"""The greedy, query-balanced order of the ``pairs`` utility, by lazy evaluation (docs/method.md §8, step 6).

A gain is concave in the rubric's m (``pair_gains``), so its tangent at any m bounds it from above; at the mean of the
best rubrics it is within some percent. One matrix-vector product so bounds the gains of a small pool, and few of them
are computed. U is submodular: what a gain was at most once, it is at most ever after (Minoux 1978), and one number
bounds all rubrics outside the pool until the best inside falls to it. The pool is then filled again. Where all rubrics'
distances do not fit into the processor's cache, only those are bounded anew whose old bounds are above the best gain.
"""

from __future__ import annotations

import numpy as np

from ..errors import AssemblyError
from ..types import BoolArray, FloatArray, IntArray
from .pairs import PairDistances, pair_gains
from .utility import BankOrder, order_along

POOL = 128
CACHED = 2**19  # numbers, 4 MiB: of a table no larger than that, all rubrics are bounded anew where any are
AT_ONCE = 512  # rubrics that are bounded together otherwise
# A bound is a sum of some hundred doubles: it errs by less than this share of itself.
_ROUNDING = 1e-12
# Stands for the bound of a rubric that does not compete: below every gain.
_ABSENT = -1.0
# Where tangents touch, m is at least this: at 0 the gain of a pair without any distance yet has no finite slope.
_LEAST = 1e-9


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
    search = _Search(distances, candidates, query_index[candidates])
    known = np.empty(0, dtype=np.int64) if begun is None else begun[:most]
    for place in np.searchsorted(candidates, known).tolist():
        search.put(place)
    rest = [search.take() for _ in range(most - len(known))]
    return np.concatenate([known, np.array(rest, dtype=np.int64)])


class _Search:
    """One greedy run. Rubrics with the same row of distances are of one kind and share one bound."""

    def __init__(self, distances: PairDistances, candidates: IntArray, query: IntArray) -> None:
        self.candidates, self.query, self.kind = candidates, query, distances.row[candidates]
        self.weights, self.rises = distances.weights, distances.rises
        self.left, self.root = np.ones(len(self.weights)), np.zeros(len(self.weights))
        self.touch = np.maximum(self.rises.mean(axis=0), _LEAST)
        self.bounds = np.full(len(self.rises), np.inf)
        self.remaining = np.ones(len(candidates), dtype=bool)
        self._new_round()

    def take(self) -> int:
        """The next rubric: the one with the largest gain among those that compete."""
        if not self.competing.any():
            self._new_round()
        size = POOL
        while (kinds := self._best_kinds()) is None:
            self._fill_pool(size)
            size *= 2  # a pool whose best ties with the outside: only a larger one can settle it
        best = self._first_of(kinds)
        self.put(best)
        return int(self.candidates[best])

    def put(self, best: int) -> None:
        """Put this candidate into the bank: no other of its query competes any more in this round."""
        if not self.competing.any():
            self._new_round()
        rivals = np.flatnonzero((self.query == self.query[best]) & self.competing)
        self.competing[rivals] = False
        np.subtract.at(self.open, self.kind[rivals], 1)
        self.remaining[best] = False
        rise = self.rises[self.kind[best]]
        self.root = np.sqrt(self.root**2 + self.left * rise)
        self.left = self.left * (1 - rise)

    def _new_round(self) -> None:
        """Every query that has rubrics left has been used equally often: all of them compete."""
        self.competing = self.remaining.copy()
        self.open = np.bincount(self.kind[self.competing], minlength=len(self.bounds))
        self.pool = np.empty(0, dtype=np.int64)

    def _first_of(self, kinds: IntArray) -> int:
        """The first competing rubric of these kinds."""
        of_kind = self.kind == kinds[0]
        for kind in kinds[1:]:
            of_kind |= self.kind == kind
        return int((of_kind & self.competing).argmax())

    def _fill_pool(self, size: int) -> None:
        """Take in the ``size`` kinds with the largest upper bounds; ``ceiling`` bounds all the others that compete."""
        self._bound_anew()
        self.pool = np.flatnonzero(_largest(self._competing_bounds(), size))
        self.pool_rises = self.rises[self.pool]
        self.ceiling = self._outside()
        self.touch = np.maximum(self.pool_rises.mean(axis=0), _LEAST)

    def _bound_anew(self) -> None:
        """New bounds of all kinds whose gain may be the largest; of a small table, of all kinds."""
        if self.rises.size <= CACHED:
            np.minimum(self.bounds, self._tangents(self.rises), out=self.bounds)
            return
        old, gain = self.open > 0, 0.0
        while (stale := np.where(old, self.bounds, _ABSENT)).max() >= gain:
            some = np.argpartition(-stale, min(AT_ONCE, len(stale)) - 1)[:AT_ONCE]
            self.bounds[some] = np.minimum(self.bounds[some], self._tangents(self.rises[some]))
            old[some] = False
            best = np.where(old, _ABSENT, self._competing_bounds()).argmax()
            gain = float(self._gains(self.rises[[best]])[0])

    def _competing_bounds(self) -> FloatArray:
        """The least upper bounds known of all gains; _ABSENT of kinds that do not compete."""
        return np.where(self.open > 0, self.bounds, _ABSENT)

    def _outside(self) -> float:
        """The largest of them outside the pool."""
        bounds = self._competing_bounds()
        bounds[self.pool] = _ABSENT
        return float(bounds.max())

    def _best_kinds(self) -> IntArray | None:
        """The kinds of rubric with the largest gain, or None if one outside the pool may have as large a gain."""
        if not self.pool.size:
            return None
        upper = self._tangents(self.pool_rises)
        bounds = np.where(self.open[self.pool] > 0, upper, _ABSENT)
        first = int(bounds.argmax())
        if bounds[first] == _ABSENT:
            return None
        gains = self._gains(self.pool_rises[[first]])
        rivals = np.flatnonzero(bounds >= gains[0])
        if rivals.size > 1:
            gains = self._gains(self.pool_rises[rivals])
        top = float(gains.max()) * (1 - _ROUNDING)
        if top <= self.ceiling:
            self.ceiling = self._outside()  # lower, where queries have had their turn since
        if top > self.ceiling:
            return self.pool[rivals[gains == gains.max()]]
        self.bounds[self.pool] = np.minimum(self.bounds[self.pool], upper)
        return None

    def _gains(self, rises: FloatArray) -> FloatArray:
        return pair_gains(rises, self.weights, self.left, self.root)

    def _tangents(self, rises: FloatArray) -> FloatArray:
        """Upper bounds of gains: Σ_p ½ w_p (e m + (e t / (s + √r))²) / 2s, t = touch, s = √(r + e t).

        The tangent of √(r + e m) - √r at m = t, as a sum of terms ≥ 0, which keeps its digits where r is near 1.
        """
        reach = self.left * self.touch
        s = np.sqrt(self.root * self.root + reach)
        half = self.weights / (4 * s)
        rest = reach / (s + self.root)
        return np.asarray((rises @ (half * self.left) + half @ (rest * rest)) * (1 + _ROUNDING))


def _largest(bounds: FloatArray, size: int) -> BoolArray:
    """Which are the ``size`` largest and at least 0; more where some are equal."""
    size = min(size, int(np.count_nonzero(bounds >= 0)))
    return np.asarray(bounds >= max(np.partition(bounds, -size)[-size], 0.0))
