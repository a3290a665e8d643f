"""Stages that choose banks, of all systems and without each, and measure what they are worth.

Orders are nested, so that another bank size orders nothing again.
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

KEPT_CELLS = 2**24  # of all folds' pairs and informations, 128 MiB: more are computed anew at each move
FIRST = 512  # rubrics that are ordered at once: a larger bank orders twice as many, and so on
FEW = 256  # the same for each fold where no curve of sizes is asked for


@dataclass(frozen=True, kw_only=True)
class Banks(Fitted):
    """A dataset under one choice of settings, with its banks: their order, worth and certificate."""

    @stage("composition", after=("calibration", "reduction"), masks=("feasible",))
    def constraints(self) -> Constraints | None:
        """What a composition asks of the bank; None without one."""
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
        """The nested order in which rubrics enter the bank, at least ``budget`` of them: a smaller bank is a prefix.

        Raises AssemblyError where the budget is too small for what a composition asks.
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
        """The most rubrics that a bank can have, told before a model is fitted."""
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
        """The rubrics of the bank that all systems choose together, in the order of their choice."""
        return self.order().order[: self.settings.budget]

    @stage(after=("folds",), title="Comparing pairs without each system", heavy=True)
    def _without_folds(self, strategy: Strategy) -> tuple[selection.WithoutFold, ...]:
        """What no move of the gate changes in the choice of banks; nothing where that is too much to keep."""
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
        """(F, J) the bank of each fold, chosen without its systems: "as if new"."""
        orders = self._fold_orders(self.settings.strategy, self._enough)
        return selection.masks(orders, self.settings.budget, len(self.given().rubrics))

    @property
    def _most(self) -> int:
        return _rounded(self.settings.budget)

    @property
    def _enough(self) -> int:
        """How many rubrics each fold orders for the budget, where no curve of sizes is asked for.

        The order of a composition may depend on where it ends: it is the one of the curve. So is one that cannot go
        on from a shorter one without all distances being computed again.
        """
        strategy = self.settings.strategy
        anew = strategy == "pairs" and self.folds().n_folds > 1 and not self._at_hand(strategy)
        if anew or self.settings.composition is not None:
            return self._of_curve(bank_value.LARGEST)
        return _rounded(self.settings.budget, FEW)

    def _of_curve(self, largest: int) -> int:
        """How many rubrics each fold orders for a curve of sizes up to ``largest``, a grid that no bank size changes.

        As many as the bank has where that is more, and with a composition, whose order may depend on where it ends.
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
        """Where random orders have the rubrics that pass: of one draw, banks of all sizes are nested."""
        return bank_value.random_places(self.feasible & self._usable_without_folds(), self.settings.seed)

    @stage(after=("_random_places", "_placed_on_pool"), lasting=True)
    def _random_worth(self, size: int) -> Worth:
        """The worth of random banks of this size."""
        placed = self._placed(bank_value.random_masks(self._random_places(), size))
        return bank_value.worth_of(self._placed_on_pool(), placed, self.settings.confidence)

    @stage("strategy", after=("_fold_orders", "_placed_on_pool"), lasting=True)
    def _bank_worth(self, size: int, most: int) -> Worth:
        """The worth of the banks of this size, from orders of at least ``most``."""
        orders = self._fold_orders(self.settings.strategy, most)
        placed = self._placed([selection.masks(orders, size, len(self.pool))])
        return bank_value.worth_of(self._placed_on_pool(), placed, self.settings.confidence)

    @stage(after=("_bank_worth", "_random_worth"), title="Placing each system")
    def _worth(self, grid: IntArray, size: int, most: int) -> WorthCurve:
        """Worth of banks of the grid's sizes and one more; each is kept by itself, and only a new one is computed."""
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
        """What banks of several sizes, or that of the budget alone, are worth for systems that they have not seen.

        curve: up to the size ``largest``; bank: that of the budget among them. None where no system can be held out:
        too few of them, or settings that ask for the in-sample bank.
        """
        if self.folds().n_folds == 1:
            return None
        order, composition = self.order(), self.settings.composition
        most = self._of_curve(largest) if curve else self._enough
        lengths = list(map(len, self._fold_orders(self.settings.strategy, most)))
        priced = composition is not None and composition.cost_budget is not None
        # A budget in cost ends each fold's order at another size, and a fold may have fewer candidates than others:
        # each is then its fold's whole bank.
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
        """What the rubrics that pass the gate keep of what all rubrics separate; None where ``worth`` is."""
        return None if self.folds().n_folds == 1 or not self.feasible.any() else self._gate_worth()

    def transfer(self) -> float:
        """Variance of a placement on the bank beyond sampling (``leaderboard.transfer``).

        NaN where no system is held out, or no bank can be chosen without one.
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
        """(M,) lz* of each system's labels on the bank, by parameters fitted without it; None where none are."""
        return selection.person_fits(self.folds(), self.bank())

    def utility(self) -> Utility:
        """What the strategy maximises and its certificate speaks of."""
        return selection.bank_utility(self.calibration(), self.settings.strategy)

    def certificate(self) -> float:
        """Proven share of the best utility of any bank of this size."""
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
        """(n,) proven share of the best utility at every bank size 1, 2, … n that is ordered."""
        return self._certificates(self._most)

    def coverage(self, strategy: Strategy | None = None) -> FloatArray:
        """Utility of the first 1, 2, … rubrics of a strategy's order as a share of that of the whole pool together.

        The utility is that of the settings' own strategy, so that orders can be compared.
        """
        utility, pool = self.utility(), np.flatnonzero(self.pool)
        totals = np.cumsum(utility.totals(self.order(strategy).order), axis=0)
        share: FloatArray = utility.value(totals) / utility.value(utility.totals(pool).sum(axis=0))
        return share


def _rounded(budget: int, first: int = FIRST) -> int:
    """How many rubrics are ordered for a bank of this size: ``first``, doubled until it holds them."""
    return first * 2 ** max(0, int(np.ceil(np.log2(budget / first))))
