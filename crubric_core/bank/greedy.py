"""IIF-Greedy (eq:submod-greedy): exactly the order of the naive algorithm, without its J·B·G logarithms.

A step needs the exact gain Σ_g π_g log(1 + x_g), x = I_j / (1 + I_S), only of rubrics that may have the largest. For 0
≤ x ≤ r, log(1 + x) ≤ x − x² / (2 + 4r/3): for a whole pool of rubrics that is one matrix-vector product, and so tight
that a step seldom has to compare two rubrics. x only falls as the bank grows, so r is computed once for each pool.
Pools are refilled by upper bounds of all rubrics, which stay valid because U is submodular.
"""

from __future__ import annotations

import numpy as np

from ..arguments import as_numbers, require_count
from ..errors import AssemblyError
from ..types import BoolArray, FloatArray, IntArray
from .utility import Coverage, row_gains

# A bound is a sum of some hundred doubles: it errs by less than this share of itself.
_ROUNDING = 1e-12
# Stands for the gain of a rubric that is in the bank already: below every real gain.
_TAKEN = -1.0
# So small that BLAS keeps the product of pool and slopes (112 × 82 at 41 nodes) in one thread.
_POOL = 112


def greedy_bank(
    info: FloatArray, weights: FloatArray, budget: int, feasible: BoolArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Choose a bank greedily by coverage of the ability scale (the paper's Algorithm 1, lines 4-9).

    Parameters
    ----------
    info : float array (G, J)
        Item information ≥ 0 at G nodes, as by ``item_information``.
    weights : float array (G,)
        Weights of the nodes, ≥ 0.
    budget : int
        Most rubrics to choose, ≥ 0.
    feasible : bool array (J,), optional
        Rubrics that may be chosen; by default all.

    Returns
    -------
    order : int array (B,)
        Rubric indices in the order of their choice; B is the budget, or the number of candidates where that is less.
        The bank of a smaller budget is a prefix.
    gains : float array (B,)
        What each adds to the utility of those before it, ≥ 0 and never rising.

    Raises
    ------
    AssemblyError
        Shapes do not fit, information or weights are negative or not finite, or the budget is no size.

    Notes
    -----
    Maximises U(S) = Σ_g π_g log(1 + Σ_{j in S} I_j(θ_g)) (eq:submod-utility, docs/method.md §8), which is monotone and
    submodular: U of the result is at least 1 - 1/e of the best. Ties go to the lowest index.

    References
    ----------
    Nemhauser, G. L., Wolsey, L. A. & Fisher, M. L. (1978), Mathematical Programming 14, 265-294. Minoux, M. (1978),
    Lecture Notes in Control and Information Sciences 7, 234-243.

    """
    info, weights = (as_numbers(name, v, AssemblyError) for name, v in (("info", info), ("weights", weights)))
    require_count("budget", budget, 0, AssemblyError)
    candidates = candidate_rubrics(info, weights, None if feasible is None else np.asarray(feasible))
    rows = np.ascontiguousarray(info.T[candidates], dtype=float)
    order = np.array(_Search(rows, weights).run(min(budget, len(rows))), dtype=np.int64)
    return candidates[order], gains_along(rows[order], weights)


def candidate_rubrics(info: FloatArray, weights: FloatArray, feasible: BoolArray | None = None) -> IntArray:
    """Indices, ascending, of the feasible rubrics whose information is not identically zero (the set F)."""
    return Coverage(info, weights).candidates(feasible)


def gains_along(rows: FloatArray, weights: FloatArray) -> FloatArray:
    """ΔU of each row, (B,), as the rows (B, G) join an empty bank in this order."""
    before = np.zeros_like(rows)
    np.cumsum(rows[:-1], axis=0, out=before[1:])
    return row_gains(rows, weights, 1 + before)


def _identical_rows(rows: FloatArray) -> list[list[int]]:
    """Groups of bit-equal rows; each lists its indices in descending order."""
    groups: dict[bytes, list[int]] = {}
    for j in range(len(rows) - 1, -1, -1):
        groups.setdefault(rows[j].tobytes(), []).append(j)
    return list(groups.values())


class _Search:
    """One greedy run.

    Equal rubrics share one row; when one of them is taken, the group's next index takes its place.
    """

    def __init__(self, rows: FloatArray, weights: FloatArray) -> None:
        self.groups = _identical_rows(rows)
        self.lowest = np.array([group[-1] for group in self.groups], dtype=np.int64)
        self.rows = rows[self.lowest]
        self.weights = weights
        self.covered = np.zeros(rows.shape[1])
        self.base = 1 + self.covered
        self.bounds = row_gains(self.rows, weights, self.base)
        self.slopes = np.empty(2 * rows.shape[1])

    def run(self, most: int) -> list[int]:
        order: list[int] = []
        usual = size = max(_POOL, len(self.rows) // 100)
        while len(order) < most:
            self._fill_pool(size)
            before = len(order)
            while len(order) < most and (best := self._best()) is not None:
                order.append(self._take(best))
            self.bounds[self.pool] = np.minimum(self.bounds[self.pool], self.upper * (1 + _ROUNDING))
            # A pool without a pick ended in a tie with the outside: only a larger one can settle it.
            size = usual if len(order) > before else 2 * size
        return order

    def _fill_pool(self, size: int) -> None:
        """Fill the pool with the ``size`` rubrics with the largest upper bounds; ``ceiling`` bounds all other gains."""
        linear = self.rows @ (self.weights / self.base) * (1 + _ROUNDING)
        np.minimum(self.bounds, linear, out=self.bounds)
        size = min(size, int(np.count_nonzero(self.bounds >= 0)))
        inside = self.bounds >= np.partition(self.bounds, -size)[-size]
        self.pool = np.flatnonzero(inside)
        self.ceiling = float(self.bounds.max(where=~inside, initial=_TAKEN))
        self.pool_rows = rows = self.rows[self.pool]
        r = (rows / self.base).max(axis=1, keepdims=True)
        self.expansion = np.hstack([rows, -rows * (rows / (2 + 4 / 3 * r))])

    def _best(self) -> int | None:
        """The pool's rubric with the largest gain, or None if a rubric outside the pool may have as large a gain."""
        weights, base = self.weights, self.base
        linear, quadratic = self.slopes[: base.size], self.slopes[base.size :]
        np.divide(weights, base, out=linear)
        np.divide(linear, base, out=quadratic)
        self.upper = upper = self.expansion.dot(self.slopes)
        best = int(upper.argmax())
        gain = float(np.log1p(self.pool_rows[best] / base).dot(weights)) * (1 - _ROUNDING)
        rivals = (upper >= gain).nonzero()[0]
        if rivals.size > 1:
            gains = row_gains(self.pool_rows[rivals], weights, base)
            gain = float(gains.max())
            winners = rivals[gains == gain]
            best = int(winners[self.lowest[self.pool[winners]].argmin()])
        return best if gain * (1 - _ROUNDING) > self.ceiling and upper[best] >= 0 else None

    def _take(self, best: int) -> int:
        """Move one rubric of the pool into the bank and return its index."""
        self.covered += self.pool_rows[best]
        np.add(self.covered, 1.0, out=self.base)
        row = self.pool[best]
        group = self.groups[row]
        taken = group.pop()
        if group:
            self.lowest[row] = group[-1]
        else:
            self.bounds[row] = self.expansion[best] = _TAKEN
        return taken
