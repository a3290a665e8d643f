"""A proven lower bound on how good a bank is, without a search for the best bank.

For any set S and the best bank O of at most B rubrics, U(O) ≤ U(S ∪ O) ≤ U(S) + the B largest gains at S, because U is
monotone and submodular. Each prefix S of an order gives such a bound; the least of them is used (docs/method.md §8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import AssemblyError
from ..types import BoolArray, FloatArray, IntArray
from .utility import Utility


def certify(
    utility: Utility,
    order: IntArray,
    budget: int,
    feasible: BoolArray | None = None,
    knapsack: Knapsack | None = None,
) -> float:
    """Certificate of a bank, in (0, 1]: U(bank) / the least upper bound at the prefixes 0 … budget of ``order``.

    It reads "at least this share of the utility of the best possible bank of ``budget`` rubrics", balanced over queries
    or not. order (n,), feasible (J,). The bank is the first ``budget`` of ``order``. It competes with all sets of
    feasible rubrics and its own. NaN if no rubric adds anything. With a ``knapsack`` the best possible bank is one
    within its budget in cost; gains are then bounded by those of the rubrics that fit, the last one cut to fill the
    budget.
    """
    bank = order[: _budget(budget)]
    prefixes = _Prefixes(utility, bank, feasible, knapsack)
    if not prefixes.rivals.size:
        return float("nan")
    achieved = float(utility.value(utility.totals(bank).sum(axis=0)))
    return min(1.0, achieved / _least_bound(prefixes, budget))


def certify_curve(
    utility: Utility,
    order: IntArray,
    budgets: Sequence[int] | IntArray,
    feasible: BoolArray | None = None,
    prefixes: int = 64,
    knapsack: Knapsack | None = None,
) -> FloatArray:
    """Certificates of the banks of the first B rubrics of ``order``, for each B of ``budgets`` (n,) → (n,).

    Computed together, from about ``prefixes`` prefixes, evenly spread on a log scale: each value is valid, and equal to
    or slightly below that of ``certify``.
    """
    sizes = np.array([_budget(budget) for budget in budgets], dtype=np.int64)
    all_prefixes = _Prefixes(utility, order, feasible, knapsack)
    if not all_prefixes.rivals.size or not sizes.size:
        return np.full(sizes.shape, np.nan)
    spread = np.geomspace(1, max(len(order), 1), prefixes).round().astype(np.int64)
    least = np.full(sizes.shape, np.inf)
    for prefix in np.unique(np.append(spread, 0)).tolist():
        bound = all_prefixes.utility[prefix] + all_prefixes.largest_gains(prefix, sizes)
        least = np.where(sizes >= prefix, np.minimum(least, bound), least)
    return np.minimum(1.0, all_prefixes.utility[np.minimum(sizes, len(order))] / least)


@dataclass(frozen=True)
class Knapsack:
    """A budget in cost. cost: (J,) > 0 of every rubric. budget: > 0."""

    cost: FloatArray
    budget: float

    def fill(self, gains: FloatArray, rubrics: IntArray) -> float:
        """Largest sum of gains (n,) of rubrics within the budget, the last of them cut to fit (Dantzig 1957)."""
        cost = self.cost[rubrics]
        by_worth = np.argsort(-gains / cost, kind="stable")
        room = self.budget - np.append(0.0, np.cumsum(cost[by_worth])[:-1])
        return float((gains[by_worth] * np.clip(room / cost[by_worth], 0, 1)).sum())


class _Prefixes:
    """The prefixes 0 … n of an order: covered (n + 1, P) and utility (n + 1,) of each, and the gains after each."""

    def __init__(
        self,
        utility: Utility,
        order: IntArray,
        feasible: BoolArray | None,
        knapsack: Knapsack | None,
    ) -> None:
        allowed = None if feasible is None else feasible.copy()
        if allowed is not None:
            allowed[order] = True
        self.function, self.order, self.knapsack = utility, order, knapsack
        self.rivals = utility.candidates(allowed)
        _, first, self.kind = np.unique(utility.kinds(self.rivals), return_index=True, return_inverse=True)
        self.rows = utility.prepared(self.rivals[first])
        totals = utility.totals(order)
        self.covered = np.vstack([np.zeros(totals.shape[1]), np.cumsum(totals, axis=0)])
        self.utility = utility.value(self.covered)

    def largest_gains(self, prefix: int, budget: IntArray | int) -> FloatArray:
        """Sum of the ``budget`` largest gains after the first ``prefix`` rubrics; with a knapsack, those that fit."""
        gains = self.function.gains(self.rows, self.covered[prefix])[self.kind]
        gains[np.isin(self.rivals, self.order[:prefix])] = 0.0
        sums: FloatArray = np.cumsum(np.sort(gains)[::-1])
        largest: FloatArray = sums[np.minimum(budget, sums.size) - 1]
        return (
            largest if self.knapsack is None else np.minimum(largest, self.knapsack.fill(gains, self.rivals))
        )


def _least_bound(prefixes: _Prefixes, budget: int) -> float:
    """The exact minimum of the bounds over all prefixes, by branch and bound: few of them are evaluated.

    Along the prefixes U rises and the largest gains fall, so no prefix strictly between low and high has a bound below
    U(low + 1) + the largest gains at high.
    """
    utility, last = prefixes.utility, len(prefixes.order)
    gains = float(prefixes.largest_gains(last, budget))
    least = min(float(prefixes.largest_gains(0, budget)), utility[last] + gains)
    intervals = [(0, last, gains)]
    while intervals:
        low, high, gains = intervals.pop()
        if high - low >= 2 and utility[low + 1] + gains < least:
            middle = (low + high) // 2
            inside = float(prefixes.largest_gains(middle, budget))
            least = min(least, utility[middle] + inside)
            intervals += [(low, middle, inside), (middle, high, gains)]
    return float(least)


def _budget(budget: int) -> int:
    if budget < 1:
        raise AssemblyError(f"A bank of {budget} rubrics has no certificate: give a budget of at least 1.")
    return int(budget)
