"""Several orders of the ``pairs`` utility at once, step by step together: the very orders of ``pairs_sequence``.

A step of one search is some thirty operations on arrays of a hundred numbers, most of whose time is the call. Here each
operation serves the searches of all folds. Only upper bounds are in single precision, and say so by their slack; gains
are those of ``pair_gains``, whose bits depend on no batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..types import BoolArray, FloatArray, IntArray
from .pairs import TINY, PairDistances, pair_gains
from .pairs_order import pairs_sequence

Coarse = NDArray[np.float32]
POOL = 256
WORD = 64  # steps between two words of progress
# A gain is a sum of some hundred doubles: it errs by less than this share of itself.
_ROUNDING = 1e-12
_UNIT = 2.0**-23  # twice the unit roundoff of single precision
_ABSENT = -1.0  # stands for the bound of a rubric that does not compete: below every gain
_LEAST = 1e-9  # where tangents touch, m is at least this


def pairs_sequences(
    distances: Sequence[PairDistances],
    query_index: IntArray,
    feasible: BoolArray,
    budget: int,
    begun: Sequence[IntArray] = (),
    tell: Callable[[float], None] = lambda share: None,
) -> list[IntArray]:
    """``pairs_sequence`` of each of F ``distances`` under its own mask ``feasible`` (F, J), with the same bits.

    begun: the first rubrics of each order, where they are known. tell: hears the share that is done.
    """
    candidates = [d.candidates(mask) for d, mask in zip(distances, feasible, strict=True)]
    known = [order[:budget] for order in begun] or [np.empty(0, dtype=np.int64) for _ in distances]
    together = min(budget, min(map(len, candidates), default=0))
    alike = len({len(d.weights) for d in distances}) == 1 and len(set(map(len, known))) == 1
    if alike and together:
        search = _Together(distances, candidates, query_index)
        start = min(len(known[0]), together)
        for place in range(start):
            search.put(np.array([order[place] for order in known]))
        taken = [np.stack([order[:start] for order in known])]
        for step in range(start, together):
            if step % WORD == 0:
                tell(step / budget)
            taken.append(search.take()[:, None])
        known = list(np.concatenate(taken, axis=1)) if len(known[0]) <= together else known
    return [
        order if len(order) == min(budget, len(own)) else pairs_sequence(d, query_index, mask, budget, order)
        for d, mask, own, order in zip(distances, feasible, candidates, known, strict=True)
    ]


class _Together:
    """F greedy runs in step. Rubrics with the same row of distances are of one kind and share one bound."""

    def __init__(
        self, distances: Sequence[PairDistances], candidates: Sequence[IntArray], query: IntArray
    ) -> None:
        count, rubrics, self.query = len(distances), len(query), query
        self.folds = np.arange(count)
        self.rises = [d.rises for d in distances]
        self.coarse = [d.coarse_rises for d in distances]
        self.weights = distances[0].weights
        self.slack = 1 + (len(self.weights) + 8) * _UNIT
        # One rubric more, which never competes, stands in for the ends of short rows of ``members``.
        self.kind = np.zeros((count, rubrics + 1), dtype=np.int64)
        self.remaining = np.zeros((count, rubrics + 1), dtype=bool)
        for fold, (d, own) in enumerate(zip(distances, candidates, strict=True)):
            self.kind[fold, :-1] = d.row
            self.remaining[fold, own] = True
        self.members = _members(query)
        kinds = max(map(len, self.rises))
        self.bounds = np.full((count, kinds), np.inf)
        self.left, self.root = np.ones((count, len(self.weights))), np.zeros((count, len(self.weights)))
        self.touch = np.stack([np.maximum(rises.mean(axis=0), _LEAST) for rises in self.rises])
        self.size = min(POOL, kinds)
        self.pool = np.zeros((count, self.size), dtype=np.int64)
        self.pool_rises = [rises[: self.size] for rises in self.coarse]
        self.ceiling, self.stale = np.full(count, np.inf), np.ones(count, dtype=bool)
        self.open = np.zeros((count, kinds), dtype=np.int64)
        self.competing, self.left_over = self.remaining.copy(), np.zeros(count, dtype=np.int64)

    def take(self) -> IntArray:
        """(F,) the next rubric of each: the one with the largest gain among those that compete."""
        self._begin_rounds()
        chosen = np.full(len(self.folds), -1)
        fresh = self.folds[~self.stale]
        if len(fresh):
            rises = [self.pool_rises[fold] for fold in fresh.tolist()]
            chosen[fresh] = self._settled(fresh, self.pool[fresh], rises, self.ceiling[fresh])
        for fold in np.flatnonzero(chosen < 0).tolist():
            chosen[fold] = self._search(fold)
        self.put(chosen)
        return chosen

    def put(self, best: IntArray) -> None:
        """Put these (F,) into the banks: no other of their queries competes any more in this round."""
        self._begin_rounds()
        rivals = self.members[self.query[best]]
        row = self.folds[:, None]
        were = self.competing[row, rivals]
        self.competing[row, rivals] = False
        np.subtract.at(self.open, (row, self.kind[row, rivals]), were)
        self.left_over -= were.sum(axis=1)
        self.remaining[self.folds, best] = False
        rise = np.stack([r[k] for r, k in zip(self.rises, self.kind[self.folds, best].tolist(), strict=True)])
        self.root = np.sqrt(self.root**2 + self.left * rise)
        self.left = self.left * (1 - rise)

    def _begin_rounds(self) -> None:
        """Where every query that has rubrics left has been used equally often, all of them compete again."""
        for fold in np.flatnonzero(self.left_over == 0).tolist():
            self.competing[fold] = self.remaining[fold]
            kinds = self.kind[fold, self.competing[fold]]
            self.open[fold] = np.bincount(kinds, minlength=self.open.shape[1])
            self.left_over[fold], self.stale[fold] = len(kinds), True

    def _settled(
        self, folds: IntArray, pool: IntArray, rises: Sequence[Coarse], ceiling: FloatArray
    ) -> IntArray:
        """(f,) the best rubric of the pools (f, S) of these folds, or -1 where one outside may have as large a gain."""
        upper = self._tangents(rises, folds)
        bounds = np.where(self.open[folds[:, None], pool] > 0, upper, _ABSENT)
        first, at = bounds.argmax(axis=1), np.arange(len(folds))
        gains = self._gains(folds, pool[at, first])
        may_rival = bounds >= gains[:, None]
        row, place = np.nonzero(may_rival)
        several = may_rival.sum(axis=1) > 1
        of_several = several[row]
        row, place = row[of_several], place[of_several]
        others = self._gains(folds[row], pool[row, place])
        np.maximum.at(gains, row, others)
        certain = (bounds[at, first] > ceiling) & (gains * (1 - _ROUNDING) > ceiling)
        found = np.full(len(folds), -1)
        for f in np.flatnonzero(certain).tolist():
            mine = row == f
            best = pool[f, place[mine][others[mine] == gains[f]]] if several[f] else pool[f, first[f : f + 1]]
            found[f] = self._first_of(int(folds[f]), best)
        unsure = np.flatnonzero(found < 0)
        rows, kinds = folds[unsure, None], pool[unsure]
        self.bounds[rows, kinds] = np.minimum(self.bounds[rows, kinds], upper[unsure])
        return found

    def _search(self, fold: int) -> int:
        """The best rubric of one fold, from pools that grow until nothing outside can have as large a gain."""
        mine, size = self.folds[fold : fold + 1], self.size
        while True:
            pool, ceiling = self._filled(fold, size)
            rises = self.coarse[fold][pool]
            self.touch[fold] = np.maximum(rises.mean(axis=0, dtype=np.float64), _LEAST)
            found = int(self._settled(mine, pool[None], [rises], np.array([ceiling]))[0])
            if found >= 0:
                break
            size *= 2  # a pool whose best ties with the outside: only a larger one can settle it
        self.stale[fold] = len(pool) != self.size
        if not self.stale[fold]:
            self.pool[fold], self.pool_rises[fold], self.ceiling[fold] = pool, rises, ceiling
        return found

    def _filled(self, fold: int, size: int) -> tuple[IntArray, float]:
        """The ``size`` kinds with the largest upper bounds, or all where they are fewer; the bound of the rest."""
        mine, own = self.folds[fold : fold + 1], self.bounds[fold, : len(self.coarse[fold])]
        np.minimum(own, self._tangents([self.coarse[fold]], mine)[0], out=own)
        bounds = np.where(self.open[fold, : len(own)] > 0, own, _ABSENT)
        if size >= len(bounds):
            return np.arange(len(bounds)), _ABSENT
        parted = np.argpartition(bounds, -size)
        return parted[-size:], float(bounds[parted[:-size]].max())

    def _first_of(self, fold: int, kinds: IntArray) -> int:
        """The first competing rubric of these kinds."""
        of_kind = self.kind[fold] == kinds[0]
        for kind in kinds[1:]:
            of_kind |= self.kind[fold] == kind
        return int((of_kind & self.competing[fold]).argmax())

    def _gains(self, folds: IntArray, kinds: IntArray) -> FloatArray:
        """(n,) gains of kinds (n,), each in its fold."""
        rises = np.empty((len(folds), len(self.weights)))
        for n, (fold, kind) in enumerate(zip(folds.tolist(), kinds.tolist(), strict=True)):
            rises[n] = self.rises[fold][kind]
        return pair_gains(rises, self.weights, self.left[folds], self.root[folds])

    def _tangents(self, rises: Sequence[Coarse], folds: IntArray) -> FloatArray:
        """Upper bounds (f, n) of the gains of f rises (n, P): the tangents of ``pairs_order``, in single precision."""
        left, root = self.left[folds], self.root[folds]
        reach = left * self.touch[folds]
        s = np.sqrt(root * root + reach)
        half = self.weights / (4 * s)
        rest = reach / (s + root)
        exact = half * left
        slope = np.where(exact > TINY, exact, 0.0).astype(np.float32)
        lost = TINY * (exact.sum(axis=1) + len(self.weights))
        level = (half * (rest * rest)).sum(axis=1) + lost
        found = np.empty((len(folds), len(rises[0])))
        for row, each, line in zip(found, rises, slope, strict=True):
            row[:] = each @ line
        found += level[:, None]
        found *= self.slack
        return found


def _members(query: IntArray) -> IntArray:
    """(queries, most) the rubrics of each query; the number of all rubrics where a query has fewer than another."""
    size = np.bincount(query)
    order = np.argsort(query, kind="stable")
    place = np.arange(len(query)) - np.repeat(np.cumsum(size) - size, size)
    found = np.full((len(size), int(size.max())), len(query))
    found[query[order], place] = order
    return found
