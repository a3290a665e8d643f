"""The greedy order under constraints: pins first, then rubrics for the lower bounds, then others (docs/method.md §8).

A *witness*, initially the smallest set that meets all lower bounds, is kept throughout the second part: a rubric
outside of it may enter if it can replace a rubric of the witness that is not chosen yet. So every bank at least as
large as the witness meets every bound, and orders stay nested.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..errors import AssemblyError
from ..types import BoolArray, FloatArray, IntArray
from .constraints import ROUNDING, Constraints, smallest_set
from .utility import BankOrder, Utility, order_along

BATCH = 32
_ROUNDING = 1e-12


class EntryRule(Protocol):
    """A rule by which rubrics enter a bank."""

    def best(self, open_: BoolArray) -> int:
        """Index of the rubric that enters next, of the ``open_`` rubrics (J,), at least one; ties to the lowest."""

    def take(self, rubric: int) -> None:
        """Record that the rubric is now in the bank."""


class Scores:
    """The rule of the largest score, for fixed scores (J,)."""

    def __init__(self, scores: FloatArray) -> None:
        self.scores = scores

    def best(self, open_: BoolArray) -> int:
        """See EntryRule."""
        rubrics = np.flatnonzero(open_)
        return int(rubrics[self.scores[rubrics].argmax()])

    def take(self, rubric: int) -> None:
        """See EntryRule."""


class Gains:
    """The rule of the largest gain in utility, per unit of ``cost`` (J,) if given, by lazy evaluation (Minoux 1978).

    A gain only falls as the bank grows, so that a gain once computed bounds every later one.
    """

    def __init__(self, utility: Utility, n_rubrics: int, cost: FloatArray | None = None) -> None:
        every = np.arange(n_rubrics)
        self.utility, self.cost = utility, np.ones(n_rubrics) if cost is None else cost
        self.rows, self.added = utility.prepared(every), utility.totals(every)
        self.total = np.zeros(self.added.shape[1])
        self.bounds = np.full(n_rubrics, np.inf)

    def best(self, open_: BoolArray) -> int:
        """See EntryRule."""
        bounds = np.where(open_, self.bounds, -1.0)
        top, winner, size = -1.0, -1, BATCH
        while (rivals := np.flatnonzero(bounds >= max(top, 0.0))).size:
            if rivals.size > size and np.isfinite(bounds[rivals]).all():
                rivals = rivals[np.argpartition(bounds[rivals], -size)[-size:]]
            score = self.utility.gains(self.rows[rivals], self.total) / self.cost[rivals]
            self.bounds[rivals], bounds[rivals] = score * (1 + _ROUNDING), -1.0
            largest = float(score.max())
            first = int(rivals[score == largest].min())
            if largest > top or (largest == top and first < winner):
                top, winner = largest, first
            size *= 2
        return winner

    def take(self, rubric: int) -> None:
        """See EntryRule."""
        self.total = self.total + self.added[rubric]


def composed_order(
    utility: Utility,
    rules: tuple[EntryRule, ...],
    candidates: BoolArray,
    constraints: Constraints,
    budget: int,
    *,
    query: IntArray | None = None,
    relaxed: bool = False,
) -> BankOrder:
    """The order, of at most ``budget`` rubrics, of the rule that reaches the largest utility; it keeps every bound.

    candidates: (J,) rubrics that can be chosen; pins always can. query: (J,) of each rubric; if given, only rubrics of
    the queries used least so far compete. relaxed: meet lower bounds as far as possible instead of raising. ``least``
    of the result: number of its first rubrics that meet all bounds. Raises AssemblyError if a bound cannot be met.

    With a budget in cost, one rule by gain per unit of cost and one by gain alone reach at least ½ (1 - 1/e) of the
    best bank of that cost, if the size does not bind (Leskovec et al. 2007; Krause & Golovin 2014).
    """
    witness = smallest_set(constraints, candidates, relaxed=relaxed)
    open_ = (candidates & ~constraints.excluded) | constraints.pinned
    found = []
    for rule in rules:
        order = _Search(rule, open_, constraints, witness, query).run(max(budget, len(witness)))
        found.append(order_along(utility, np.array(order, dtype=np.int64)))
    reached = [order.utility[-1] if len(order.order) else 0.0 for order in found]
    best = found[int(np.argmax(reached))]
    if not len(best.order):
        raise AssemblyError(
            "The bounds of the bank leave no rubric in it: raise a budget in cost or an upper bound."
        )
    return BankOrder(best.order, best.gains, best.utility, least=len(witness))


class _Search:
    """One greedy run under constraints."""

    def __init__(
        self,
        rule: EntryRule,
        open_: BoolArray,
        constraints: Constraints,
        witness: IntArray,
        query: IntArray | None,
    ) -> None:
        self.rule, self.constraints = rule, constraints
        self.left, self.cost = open_.copy(), constraints.prices
        self.witness = np.zeros(len(open_), dtype=bool)
        self.witness[witness] = True
        self.spent = constraints.total(witness)
        self.counts = [family.counts(witness) for family in constraints.families]
        self.query = np.zeros(len(open_), dtype=np.int64) if query is None else query
        self.used = np.zeros(int(self.query.max(initial=0)) + 1, dtype=np.int64)
        self.order: list[int] = []

    def run(self, most: int) -> list[int]:
        """Pins, then rubrics until the witness is in the bank, then rubrics within the upper bounds."""
        self._enter(self.left & self.constraints.pinned, most, lambda rubric: True)
        self._enter(self.left.copy(), int(self.witness.sum()), self._replaces)
        self._enter(self.left.copy(), most, self._fits)
        return self.order

    def _enter(self, open_: BoolArray, most: int, admit: Callable[[int], bool]) -> None:
        while len(self.order) < most and open_.any():
            rubric = self.rule.best(self._competing(open_))
            if admit(rubric):
                self.rule.take(rubric)
                self.order.append(rubric)
                self.used[self.query[rubric]] += 1
                open_[rubric] = self.left[rubric] = False
            else:
                open_ &= ~self._no_better(rubric)

    def _competing(self, open_: BoolArray) -> BoolArray:
        used = self.used[self.query]
        return open_ & (used == used[open_].min())

    def _no_better(self, rubric: int) -> BoolArray:
        """(J,) rubrics of the same groups that cost at least as much: if ``rubric`` is refused, so are all of them."""
        same = (
            self.cost >= self.cost[rubric] if self.constraints.cost_budget else np.ones(len(self.left), bool)
        )
        for family in self.constraints.families:
            same = same & (family.code == family.code[rubric])
        same[rubric] = True
        return same

    def _replaces(self, rubric: int) -> bool:
        """Whether the rubric is in the witness, or can replace a rubric of the witness that is not in the bank yet.

        If it replaces one, the witness is updated.
        """
        if self.witness[rubric]:
            return True
        spare = np.flatnonzero(self.witness & self.left)
        possible = np.ones(len(spare), dtype=bool)
        same = np.zeros(len(spare), dtype=np.int64)
        for family, counts in zip(self.constraints.families, self.counts, strict=True):
            here, there = int(family.code[rubric]), family.code[spare]
            equal = there == here
            may_go = (there < 0) | (counts[there] > family.least[there])
            may_come = here < 0 or bool(counts[here] < family.most[here])
            possible &= equal | (may_go & may_come)
            same += equal
        if self.constraints.cost_budget is not None:
            spent = self.spent + self.cost[rubric] - self.cost[spare]
            possible &= spent <= self.constraints.cost_budget * (1 + ROUNDING)
        if not possible.any():
            return False
        gone = int(spare[np.lexsort((-self.cost[spare], -np.where(possible, same, -1)))[0]])
        self._move(gone, -1)
        self._move(rubric, 1)
        return True

    def _fits(self, rubric: int) -> bool:
        """Whether the rubric keeps every upper bound; if so it joins the witness, which is now the bank."""
        room = all(
            family.code[rubric] < 0 or counts[family.code[rubric]] < family.most[family.code[rubric]]
            for family, counts in zip(self.constraints.families, self.counts, strict=True)
        )
        if room and self.constraints.affords(self.spent + self.cost[rubric]):
            self._move(rubric, 1)
            return True
        return False

    def _move(self, rubric: int, step: int) -> None:
        """Add the rubric to the witness (step 1) or remove it (step -1)."""
        self.witness[rubric] = step > 0
        self.spent += step * self.cost[rubric]
        for family, counts in zip(self.constraints.families, self.counts, strict=True):
            if family.code[rubric] >= 0:
                counts[family.code[rubric]] += step


def require_room(order: BankOrder, budget: int) -> None:
    """Raise AssemblyError if a bank of ``budget`` rubrics is too small for the pins and lower bounds."""
    if budget < order.least:
        raise AssemblyError(
            f"A bank of B = {budget:,} is too small: pins and lower bounds together need {order.least:,} rubrics. "
            "Raise B, unpin some or lower a bound."
        )
