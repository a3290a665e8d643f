"""Stages that choose banks, from all systems and without each fold, and measure what the banks are worth.

Orders are nested: a smaller bank is a prefix of the order, so that another bank size needs no new order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..bank.assembly import BankOrder
from ..bank.certificate import certify_curve
from ..bank.composed import require_room
from ..bank.constraints import Constraints
from ..bank.utility import Utility
from ..bank.worth import Worth
from ..errors import NoBankWithoutError
from ..irt.fit import constant_rubrics
from ..leaderboard.transfer import transfer_excess, transfer_variance
from ..settings import Strategy
from ..types import BoolArray, FloatArray, IntArray, silent
from . import bank_value, selection
from .bank_value import WorthCurve
from .composition import constraints_of
from .fitted import Fitted
from .stage import stage

KEPT_CELLS = 2**24  # numbers kept of pairs and information of all folds, 128 MiB; more are recomputed
FIRST = 512  # rubrics that are ordered first; doubled until the bank fits
FEW = 256  # as FIRST, for the order of each fold if no curve of sizes is needed


@dataclass(frozen=True, kw_only=True)
class Banks(Fitted):
    """A dataset under one choice of settings, with the order, the worth and the certificate of its banks."""

    @stage("composition", after=("calibration", "reduction"), masks=("feasible",))
    def constraints(self) -> Constraints | None:
        """The constraints that the composition puts on the bank; None if the settings have no composition."""
        if self.settings.composition is None:
            return None
        varying = ~self.calibration().fit.constant
        return constraints_of(
            self.settings.composition, self.reduction(), self.queries(), self.feasible & varying, varying
        )

    @stage("seed", after=("constraints",), title="Ordering the rubrics")
    def _order(self, strategy: Strategy, most: int) -> BankOrder:
        return selection.order_candidates(
            self.given(),
            self.calibration(),
            self.feasible,
            self.settings,
            strategy=strategy,
            budget=most,
            constraints=self.constraints(),
        )

    def order(self, strategy: Strategy | None = None) -> BankOrder:
        """The order in which rubrics enter the bank, as far as the budget or further: a smaller bank is a prefix of it.

        strategy: by default that of the settings. Raises AssemblyError if the budget is too small for the composition.
        """
        found = self._order(strategy or self.settings.strategy, self._most)
        require_room(found, self.settings.budget)
        return found

    @property
    def candidates(self) -> BoolArray:
        """(J,) the rubrics among which the strategy of the settings chooses the bank."""
        return selection.bank_candidates(
            self.given(), self.calibration(), self.feasible, self.settings.strategy, self.constraints()
        )

    def largest_bank(self) -> int:
        """The most rubrics that a bank can have, computed without a fitted model."""
        found = selection.strategy_candidates(
            self.settings.strategy, self.given(), self.feasible, ~self._constant()
        )
        if (asked := self.settings.composition) is not None:
            called = pd.DataFrame(
                {"id": self.ids(), "name": self.given().rubrics["rubric"].map(str).tolist()}
            )
            pinned, excluded = (called.isin(names).any(axis=1) for names in (asked.always, asked.never))
            found = found & ~excluded.to_numpy() | pinned.to_numpy()
        return int(found.sum())

    @stage(after=("given",))
    def _constant(self) -> BoolArray:
        return constant_rubrics(self.given().y)

    def bank(self) -> IntArray:
        """Indices of the rubrics of the bank chosen from the labels of all systems, in the order of their choice."""
        return self.order().order[: self.settings.budget]

    @stage(after=("folds",), title="Comparing pairs without each system", heavy=True)
    def _without_folds(self, strategy: Strategy) -> tuple[selection.WithoutFold, ...]:
        """What the choice of each fold's bank reads and the gate does not change; () if it is too large to keep."""
        cross, given, found = self.folds(), self.given(), []
        tell, most = self.progress or silent, KEPT_CELLS // cross.n_folds
        for fold in range(cross.n_folds if cross.n_folds > 1 else 0):
            tell(fold / cross.n_folds, f"Comparing pairs without fold {fold + 1} of {cross.n_folds}")
            found.append(selection.without_fold(given, self.calibration(), cross, fold, strategy, most))
            if found[-1].cells > most:
                return ()
        return tuple(found)

    def _at_hand(self, strategy: Strategy) -> bool:
        """Whether the distances without each fold are kept."""
        return bool(known := self._without_folds(strategy)) and known[0].at_hand

    @stage(after=("folds",))
    def _usable_without_folds(self) -> BoolArray:
        return selection.usable_without_folds(self.given().y, self.folds())

    @stage(
        "seed",
        after=("constraints", "folds"),
        title="Choosing a bank without each system",
        heavy=True,
        lasting=True,
    )
    def _fold_orders(self, strategy: Strategy, most: int) -> tuple[IntArray, ...]:
        begun: tuple[IntArray, ...] = ()
        if most > FEW and self.settings.composition is None and self._at_hand(strategy):
            begun = self._fold_orders(strategy, most // 2)
        return selection.orders_without_folds(
            self.given(),
            self.calibration(),
            self.folds(),
            self.feasible,
            self.settings,
            strategy=strategy,
            budget=most,
            constraints=self.constraints(),
            progress=self.progress,
            known=self._without_folds(strategy),
            begun=begun,
        )

    def bank_masks(self) -> BoolArray:
        """(F, J) mask of the bank of each fold, chosen without the fold's systems: "as if new"."""
        orders = self._fold_orders(self.settings.strategy, self._enough)
        return selection.masks(orders, self.settings.budget, len(self.given().rubrics))

    @property
    def _most(self) -> int:
        return _rounded(self.settings.budget)

    @property
    def _enough(self) -> int:
        """How many rubrics each fold orders for the budget, if no curve of sizes is needed.

        As many as for the curve with a composition, whose order may depend on where it ends, and also if extending a
        shorter order would compute all distances again.
        """
        strategy = self.settings.strategy
        anew = strategy == "pairs" and self.folds().n_folds > 1 and not self._at_hand(strategy)
        if anew or self.settings.composition is not None:
            return self._of_curve(bank_value.LARGEST)
        return _rounded(self.settings.budget, FEW)

    def _of_curve(self, largest: int) -> int:
        """How many rubrics each fold orders for a curve of sizes up to ``largest``.

        As many as for the bank if that is more, or if there is a composition, whose order may depend on where it ends.
        """
        if self.settings.composition is not None:
            return self._most
        return max(self._most, _rounded(min(int(self.pool.sum()), largest)))

    def _placed(self, masks: list[BoolArray]) -> list[bank_value.Placing]:
        query_index = selection.query_positions(self.queries(), self.given())
        return bank_value.place_on(
            self.folds(), masks, query_index, self.settings, self.panels(), self._domains()
        )

    @stage("population", "seed", "simultaneous", "confidence", after=("folds", "panels"), masks=("feasible",))
    def _placed_on_pool(self) -> bank_value.Placing:
        return self._placed([self.pool])[0]

    @stage("seed", after=("folds",), masks=("feasible",), heavy=True)
    def _random_places(self) -> IntArray:
        """Places of the rubrics that pass in random orders (``random_places``); banks from one order are nested."""
        return bank_value.random_places(self.feasible & self._usable_without_folds(), self.settings.seed)

    @stage(after=("_random_places", "_placed_on_pool"), lasting=True)
    def _random_worth(self, size: int) -> Worth:
        """The mean worth of random banks of this size."""
        placed = self._placed(bank_value.random_masks(self._random_places(), size))
        return bank_value.worth_of(self._placed_on_pool(), placed, self.settings.confidence)

    @stage("strategy", after=("_fold_orders", "_placed_on_pool"), lasting=True)
    def _bank_worth(self, size: int, most: int) -> Worth:
        """The worth of the banks of this size; most: how many rubrics each fold orders at least."""
        orders = self._fold_orders(self.settings.strategy, most)
        placed = self._placed([selection.masks(orders, size, len(self.pool))])
        return bank_value.worth_of(self._placed_on_pool(), placed, self.settings.confidence)

    @stage(after=("_bank_worth", "_random_worth"), title="Placing each system")
    def _worth(self, grid: IntArray, size: int, most: int) -> WorthCurve:
        """Worth of banks of the grid's sizes and of ``size``; each size is cached alone, so only new ones are computed.

        most: how many rubrics each fold orders at least.
        """
        sizes, chosen, random = np.union1d(grid, size), [], []
        for at, each in enumerate(sizes.tolist()):
            if self.progress is not None:
                self.progress(at / len(sizes), f"Placing each system on banks of {each:,}")
            chosen.append(self._bank_worth(each, most))
            random.append(self._random_worth(each))
        pool, systems = int(self.pool.sum()), len(self._placed_on_pool().ability)
        return WorthCurve(sizes, tuple(chosen), tuple(random), pool, systems, grid)

    def worth(
        self, *, curve: bool = True, bank: bool = True, largest: int = bank_value.LARGEST
    ) -> WorthCurve | None:
        """Worth of banks of several sizes, or of the budget's size alone, for systems that they have not seen.

        curve: whether to include a grid of sizes up to ``largest``. bank: whether to include the size of the budget.
        None if no system can be held out: there are too few, or the settings ask for the in-sample bank.
        """
        if self.folds().n_folds == 1:
            return None
        order, composition = self.order(), self.settings.composition
        most = self._of_curve(largest) if curve else self._enough
        lengths = list(map(len, self._fold_orders(self.settings.strategy, most)))
        priced = composition is not None and composition.cost_budget is not None
        # With a budget in cost the orders of the folds end at different sizes, and a fold may have few candidates:
        # a fold whose order is shorter than a size uses its whole order.
        ordered = min(most, len(order.order) if priced else max(lengths))
        size = min(self.settings.budget, ordered)
        grid = bank_value.grid_sizes(ordered, order.least, largest) if curve else np.array([size])
        return self._worth(grid, size if bank else int(grid[0]), most)

    @stage("population", "seed", "simultaneous", "confidence", after=("folds", "panels"))
    def _placed_on_all(self) -> bank_value.Placing:
        return self._placed([~self.calibration().fit.constant])[0]

    @stage(after=("_placed_on_pool", "_placed_on_all"))
    def _gate_worth(self) -> Worth:
        every = self._placed_on_all()
        return bank_value.worth_of(every, [self._placed_on_pool()], self.settings.confidence)

    def gate_worth(self) -> Worth | None:
        """What the pool keeps of the pairs that all rubrics separate; None if nothing is held out or no rubric passes.

        In the form of a bank's worth, with the pool as the bank.
        """
        return None if self.folds().n_folds == 1 or not self.feasible.any() else self._gate_worth()

    def transfer(self) -> float:
        """Variance of an ability on the bank beyond its sampling variance (``leaderboard.transfer``).

        NaN if no system is held out, or no bank can be chosen without a fold.
        """
        if self.folds().n_folds == 1:
            return np.nan
        try:
            banks = self.bank_masks()
        except NoBankWithoutError:
            return np.nan
        query_index = selection.query_positions(self.queries(), self.reduction())
        excess = transfer_excess(self.folds(), self.pool, banks, query_index)
        return transfer_variance(excess)

    @stage("budget", "strategy", after=("_order", "folds"))
    def person_fit(self) -> FloatArray | None:
        """(M,) person fit lz* of each system on the bank, by parameters fitted without it; None if none is held out."""
        return selection.person_fits(self.folds(), self.bank())

    def utility(self) -> Utility:
        """The utility that the strategy maximises and that the certificate bounds."""
        return selection.bank_utility(self.calibration(), self.settings.strategy)

    def certificate(self) -> float:
        """Utility of the bank divided by a proven upper bound for every bank of its size, in (0, 1]."""
        return selection.bank_certificate(
            self.utility(), self.order(), self.pool, self.settings.budget, self.constraints()
        )

    @stage("strategy", "seed", after=("constraints",))
    def _certificates(self, most: int) -> FloatArray:
        order, asked = self._order(self.settings.strategy, most).order, self.constraints()
        allowed = self.pool if asked is None else self.pool & ~asked.excluded
        sizes = np.arange(1, len(order) + 1)
        return certify_curve(self.utility(), order, sizes, allowed, knapsack=selection.knapsack_of(asked))

    def certificates(self) -> FloatArray:
        """(n,) the certificate at each bank size 1, 2, …, n of the order."""
        return self._certificates(self._most)

    def coverage(self, strategy: Strategy | None = None) -> FloatArray:
        """Utility of the first 1, 2, … rubrics of a strategy's order, as a share of the utility of the whole pool.

        The utility is always that of the settings' strategy, so that orders of different strategies can be compared.
        """
        utility, pool = self.utility(), np.flatnonzero(self.pool)
        totals = np.cumsum(utility.totals(self.order(strategy).order), axis=0)
        share: FloatArray = utility.value(totals) / utility.value(utility.totals(pool).sum(axis=0))
        return share


def _rounded(budget: int, first: int = FIRST) -> int:
    """How many rubrics to order for a bank of this size: ``first``, doubled until it is at least ``budget``."""
    return first * 2 ** max(0, int(np.ceil(np.log2(budget / first))))
