"""The greedy, query-balanced order of the ``pairs`` utility, by lazy evaluation (docs/method.md §8, step 6).

U is submodular, so a gain seen once bounds every later gain of that rubric, and few need to be computed anew
(Minoux 1978). Where the old bounds are too loose, one matrix-vector product lowers all of them: a gain is concave in
the rubric's m (``pair_gains``), so its tangent at m = 0 bounds it.
"""

from __future__ import annotations

import numpy as np

from ..errors import AssemblyError
from ..types import BoolArray, FloatArray, IntArray
from .pairs import PairDistances, pair_gains
from .utility import BankOrder, order_along

BATCH = 32
# From so many rivals on, lowering all bounds is cheaper than computing the rivals' gains.
MANY = 128
# A bound is a sum of some hundred doubles: it errs by less than this share of itself.
_ROUNDING = 1e-12
# Stands for the bound of a rubric that does not compete: below every gain.
_ABSENT = -1.0


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
    shape = distances.row.shape
    if query_index.shape != shape or (feasible is not None and feasible.shape != shape):
        raise AssemblyError(
            f"query_index and feasible must have one entry for each of the {shape[0]} rubrics."
        )
    candidates = distances.candidates(feasible)
    search = _Search(distances, candidates, query_index[candidates])
    most = len(candidates) if budget is None else min(max(budget, 0), len(candidates))
    return order_along(distances, np.array([search.take() for _ in range(most)], dtype=np.int64))


class _Search:
    """One greedy run. Rubrics with the same row of distances are of one kind and share one bound."""

    def __init__(self, distances: PairDistances, candidates: IntArray, query: IntArray) -> None:
        self.candidates, self.query, self.weights = candidates, query, distances.weights
        _, first, self.kind = np.unique(distances.row[candidates], return_index=True, return_inverse=True)
        self.rises = distances.prepared(candidates[first])
        self.left, self.root = np.ones(len(self.weights)), np.zeros(len(self.weights))
        self.bounds = np.full(len(first), np.inf)
        self.remaining = np.ones(len(candidates), dtype=bool)
        self._new_round()

    def take(self) -> int:
        """The next rubric: the one with the largest gain among those that compete."""
        if not self.competing.any():
            self._new_round()
        chosen = np.zeros(len(self.bounds), dtype=bool)
        chosen[self._best_kinds()] = True
        best = int((chosen[self.kind] & self.competing).argmax())
        rivals = np.flatnonzero((self.query == self.query[best]) & self.competing)
        self.competing[rivals] = False
        np.subtract.at(self.open, self.kind[rivals], 1)
        self.remaining[best] = False
        rise = self.rises[self.kind[best]]
        self.root = np.sqrt(self.root**2 + self.left * rise)
        self.left = self.left * (1 - rise)
        return int(self.candidates[best])

    def _new_round(self) -> None:
        """Every query that has rubrics left has been used equally often: all of them compete."""
        self.competing = self.remaining.copy()
        self.open = np.bincount(self.kind[self.competing], minlength=len(self.bounds))

    def _best_kinds(self) -> IntArray:
        """The kinds of rubric with the largest gain; the bounds of those looked at become their gains."""
        bounds = np.where(self.open > 0, self.bounds, _ABSENT)
        best, winners, size, lowered = 0.0, np.empty(0, dtype=np.int64), BATCH, not self.root.all()
        rivals = _largest(bounds, np.flatnonzero(bounds >= best), size)
        while rivals.size:
            gains = pair_gains(self.rises[rivals], self.weights, self.left, self.root)
            self.bounds[rivals], bounds[rivals] = gains, _ABSENT
            top = float(gains.max())
            if top >= best:
                winners = rivals[gains == top] if top > best else np.append(winners, rivals[gains == top])
                best = top
            rivals = np.flatnonzero(bounds >= best)
            if rivals.size > MANY and not lowered:
                np.minimum(self.bounds, self._tangents(), out=self.bounds)
                np.minimum(bounds, self.bounds, out=bounds)
                rivals, lowered = np.flatnonzero(bounds >= best), True
            size *= 2
            rivals = _largest(bounds, rivals, size)
        return winners

    def _tangents(self) -> FloatArray:
        """Upper bounds of all gains: Σ_p ½ w_p e m / (2 √r)."""
        slopes = self.weights * self.left / (4 * self.root)
        return np.asarray(self.rises @ slopes * (1 + _ROUNDING))


def _largest(bounds: FloatArray, of: IntArray, size: int) -> IntArray:
    """The ``size`` of the indices ``of`` with the largest bounds, in any order."""
    return of if len(of) <= size else of[np.argpartition(bounds[of], -size)[-size:]]
