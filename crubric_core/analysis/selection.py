"""The order in which rubrics enter the bank, from all systems or without those to be placed (docs/method.md §8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..bank.assembly import BankOrder, order_bank, pairs_bank
from ..bank.certificate import Knapsack, certify
from ..bank.constraints import Constraints
from ..bank.pairs import PairDistances, PairMoments, pair_moments
from ..bank.utility import Coverage, Utility
from ..errors import DatasetError, NoBankWithoutError
from ..irt.fit import constant_rubrics
from ..irt.information import item_information
from ..irt.person_fit import person_fit
from ..judges.consensus import baseline_mask
from ..judges.nothing_passes import nothing_passes
from ..labels.store.reduction import Reduction
from ..leaderboard.cross_fit import CrossFit, too_few_to_cross_fit
from ..leaderboard.influence import Domains
from ..settings import Settings, Strategy
from ..types import BoolArray, FloatArray, IntArray, Progress, silent
from ..workers import run_threads
from .profile import group_name
from .result import Calibration


def query_positions(queries: pd.DataFrame, reduction: Reduction) -> IntArray:
    """(J,) position of each rubric's query in ``queries``."""
    return pd.Index(queries["query"]).get_indexer(pd.Index(reduction.rubrics["query"])).astype(np.int64)


def ranked_by_score(reduction: Reduction, settings: Settings) -> bool:
    """Whether there are too few systems for claims about abilities."""
    return settings.cross_fitted and too_few_to_cross_fit(reduction.n_distinct)


def placing_rubrics(
    reduction: Reduction, calibration: Calibration, feasible: BoolArray, settings: Settings
) -> BoolArray:
    """(J,) rubrics that pass and place the systems: those that vary; of scores also those on which all are equal.

    Without these an equal query would not count, and of two systems that pass 100 and 97 of 100 only three would be
    compared.
    """
    varying = ~calibration.fit.constant
    if not ranked_by_score(reduction, settings):
        return feasible & varying
    return feasible & (varying | np.isfinite(reduction.y).any(axis=0))


def domains_of(queries: pd.DataFrame, reduction: Reduction, settings: Settings) -> Domains | None:
    """Which queries are one unit of evidence; None where each is one alone.

    By the settings, or for want of two domains with labels: what the claims then rest on is said (``board.rests_on``).
    The units are numbered as they first occur, so that the names of the domains change nothing.
    """
    if settings.population != "domains":
        return None
    names = [group_name(domain) for domain in queries["domain"]]
    labelled = np.isfinite(reduction.y).any(axis=0)
    if len({names[at] for at in query_positions(queries, reduction)[labelled]} - {""}) < 2:
        return None
    unit: dict[str | int, int] = {}
    of = [unit.setdefault(name or at, len(unit)) for at, name in enumerate(names)]
    return Domains(np.array(of, dtype=np.int64), np.array([isinstance(name, str) for name in unit]))


def bank_utility(calibration: Calibration, strategy: Strategy) -> Utility:
    """What the strategy maximises and its certificate speaks of: the modelled separation of pairs, or coverage."""
    if strategy == "pairs":
        return calibration.distances
    return Coverage(calibration.info, calibration.grid.weights)


def strategy_candidates(
    strategy: Strategy, reduction: Reduction, feasible: BoolArray, usable: BoolArray
) -> BoolArray:
    """(J,) the rubrics among which a strategy chooses: draws at random do not heed the gate.

    feasible: (J,) rubrics that pass it. usable: (J,) rubrics that vary.
    """
    if strategy == "random":
        return usable
    return (baseline_mask(reduction) if strategy == "hard_random" else feasible) & usable


def bank_candidates(
    reduction: Reduction,
    calibration: Calibration,
    feasible: BoolArray,
    strategy: Strategy,
    constraints: Constraints | None,
) -> BoolArray:
    """(J,) the rubrics that can enter the bank. feasible: (J,) those that pass the gate."""
    found = strategy_candidates(strategy, reduction, feasible, ~calibration.fit.constant)
    return found if constraints is None else found & ~constraints.excluded | constraints.pinned


def order_candidates(
    reduction: Reduction,
    calibration: Calibration,
    feasible: BoolArray,
    settings: Settings,
    strategy: Strategy | None = None,
    budget: int | None = None,
    constraints: Constraints | None = None,
) -> BankOrder:
    """The nested order in which rubrics enter the bank, ``budget`` of them or all: a smaller bank is a prefix.

    feasible: (J,) rubrics that pass the gate. constraints: what the bank must hold (``composition.constraints_of``).
    """
    varying = ~calibration.fit.constant
    pinned = constraints is not None and constraints.pinned.any()
    if not (feasible & varying).any() and not pinned:
        raise DatasetError(nothing_passes(reduction, varying, settings))
    strategy = strategy or settings.strategy
    return order_bank(
        strategy,
        calibration.info,
        calibration.grid.weights,
        strategy_candidates(strategy, reduction, feasible, varying),
        np.random.default_rng([settings.seed, 1]),
        distances=calibration.distances,
        query_index=query_index_of(reduction),
        budget=budget,
        constraints=constraints,
    )


@dataclass(frozen=True)
class WithoutFold:
    """What a bank for one fold's systems is chosen by: the fit and the labels of the other systems, whatever the gate.

    usable: (J,) rubrics that vary among the others and have parameters. info: (G, J) information, 0 of the rest.
    pairs: of the others, or what their distances are made of; None for a strategy that needs none.
    """

    usable: BoolArray
    info: FloatArray
    pairs: PairMoments | PairDistances | None

    @property
    def at_hand(self) -> bool:
        """Whether the distances need not be computed."""
        return isinstance(self.pairs, PairDistances)

    @property
    def cells(self) -> int:
        """Numbers that it holds."""
        return self.info.size + (self.pairs.cells if self.pairs else 0)

    @property
    def distances(self) -> PairDistances | None:
        """Distances of all pairs of the other folds' systems on each rubric; None for a strategy that needs none."""
        if not isinstance(self.pairs, PairMoments):
            return self.pairs
        found = self.pairs.distances()
        return replace(found, rows=np.nan_to_num(found.rows))  # of pins without parameters here


def without_fold(
    reduction: Reduction,
    calibration: Calibration,
    cross: CrossFit,
    fold: int,
    strategy: Strategy,
    most_cells: int = 0,
) -> WithoutFold:
    """What the other systems alone say of the rubrics; neither the fit nor the distances read a label of the fold's.

    most_cells: with the distances themselves where these are no more numbers.
    """
    fit, y = cross.fold_fit(fold), reduction.y[cross.fold != fold]
    usable = ~(constant_rubrics(y) | fit.constant)
    pairs = None
    if strategy == "pairs":
        found = cross.others(fold)
        pairs = pair_moments(y, found.theta, found.sd, fit.levels, fit.thresholds)
    info = item_information(fit, calibration.grid.theta)
    info[:, ~usable] = 0.0
    others = WithoutFold(usable, info, pairs)
    if pairs is None or info.size + pairs.pairs * len(pairs.future) > most_cells:
        return others
    return replace(others, pairs=others.distances)


def usable_without_folds(y: FloatArray, cross: CrossFit) -> BoolArray:
    """(F, J) rubrics that vary among the systems of the other folds and have parameters without the fold's."""
    return np.array(
        [~(constant_rubrics(y[cross.fold != f]) | cross.fold_fit(f).constant) for f in range(cross.n_folds)]
        if cross.n_folds > 1
        else [~cross.pooled.constant]
    )


def person_fits(cross: CrossFit, bank: IntArray) -> FloatArray | None:
    """(M,) lz* of each system's labels on the bank, by parameters fitted without it; None where none are.

    On rubrics that vary among the others, as those of a bank do for a new system.
    """
    if cross.n_folds == 1:
        return None
    use = np.isin(np.arange(cross.y.shape[1]), bank) & usable_without_folds(cross.y, cross)
    y, theta = np.where(use[cross.fold], cross.y, np.nan), cross.abilities(use)
    fits = [cross.fold_fit(fold) for fold in range(cross.n_folds)]
    return np.array([person_fit(fits[f], row, at) for f, row, at in zip(cross.fold, y, theta, strict=True)])


def order_without_fold(
    others: WithoutFold,
    reduction: Reduction,
    calibration: Calibration,
    feasible: BoolArray,
    settings: Settings,
    *,
    strategy: Strategy,
    budget: int | None,
    constraints: Constraints | None,
    begun: IntArray | None,
) -> IntArray:
    """(n,) the order that the other systems alone would have chosen: a bank "as if new" for those of the fold.

    The gate reads all labels. The ``constraints`` hold here too: pins even where they do not vary among the others,
    lower bounds as far as rubrics that vary go. begun: the first rubrics of the order, where they are known; only the
    strategy pairs without constraints makes use of them.
    """
    if not (feasible & others.usable).any() and (constraints is None or not constraints.pinned.any()):
        raise NoBankWithoutError(
            "Every rubric that passes separates only one system, or one fold of systems, from all others: no bank can "
            "be chosen as if these were new. Add rubrics on which more systems differ."
        )
    if (distances := others.distances) is not None and constraints is None:
        most = len(feasible) if budget is None else budget
        return pairs_bank(distances, query_index_of(reduction), feasible & others.usable, most, begun)
    return order_bank(
        strategy,
        others.info,
        calibration.grid.weights,
        strategy_candidates(strategy, reduction, feasible, others.usable),
        np.random.default_rng([settings.seed, 1]),
        distances=distances,
        query_index=query_index_of(reduction),
        budget=budget,
        constraints=constraints,
        relaxed=True,
    ).order


def orders_without_folds(
    reduction: Reduction,
    calibration: Calibration,
    cross: CrossFit,
    feasible: BoolArray,
    settings: Settings,
    *,
    strategy: Strategy | None = None,
    budget: int | None = None,
    constraints: Constraints | None = None,
    progress: Progress | None = None,
    known: Sequence[WithoutFold] = (),
    begun: Sequence[IntArray] = (),
) -> tuple[IntArray, ...]:
    """``order_without_fold`` of every fold; with one fold of all systems, the order that all of them choose.

    known: ``without_fold`` of each, where it is kept. begun: the first rubrics of each order, where they are known.
    """
    tell = progress or silent
    strategy = strategy or settings.strategy
    if cross.n_folds == 1:
        whole = order_candidates(
            reduction,
            calibration,
            feasible,
            settings,
            strategy=strategy,
            budget=budget,
            constraints=constraints,
        )
        return (whole.order,)

    def order(fold: int) -> IntArray:
        others = known[fold] if known else without_fold(reduction, calibration, cross, fold, strategy)
        return order_without_fold(
            others,
            reduction,
            calibration,
            feasible,
            settings,
            strategy=strategy,
            budget=budget,
            constraints=constraints,
            begun=begun[fold] if begun else None,
        )

    def before(fold: int) -> None:
        tell(fold / cross.n_folds, f"Choosing a bank without fold {fold + 1} of {cross.n_folds}")

    return tuple(run_threads(order, range(cross.n_folds), before, gains=bool(known) or cross.is_large))


def masks(orders: tuple[IntArray, ...], budget: int, n_rubrics: int) -> BoolArray:
    """(F, J) the first ``budget`` rubrics of each fold's order."""
    use = np.zeros((len(orders), n_rubrics), dtype=bool)
    for fold, order in enumerate(orders):
        use[fold, order[:budget]] = True
    return use


def bank_certificate(
    utility: Utility,
    order: BankOrder,
    pool: BoolArray,
    budget: int,
    constraints: Constraints | None,
) -> float:
    """Utility of the bank over a proven upper bound of every bank under the same budgets (docs/method.md §8)."""
    size = budget if knapsack_of(constraints) else min(budget, len(order.order))
    allowed = pool if constraints is None else pool & ~constraints.excluded
    return certify(utility, order.order, size, allowed, knapsack=knapsack_of(constraints))


def knapsack_of(constraints: Constraints | None) -> Knapsack | None:
    """The budget in cost, where there is one."""
    if constraints is None or constraints.cost_budget is None:
        return None
    return Knapsack(constraints.prices, constraints.cost_budget)


def query_index_of(reduction: Reduction) -> IntArray:
    """(J,) which rubrics share a query."""
    return pd.factorize(reduction.rubrics["query"])[0].astype(np.int64)
