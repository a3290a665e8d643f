"""The order in which rubrics enter the bank, chosen from all systems or without one fold (docs/method.md §8)."""

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
    """(J,) rubrics that pass the gate and place the systems: those that vary, and for scores all with a label.

    If scores left out the rubrics on which all systems are equal, two systems that pass 100 and 97 of 100 rubrics would
    be compared on three rubrics only.
    """
    varying = ~calibration.fit.constant
    if not ranked_by_score(reduction, settings):
        return feasible & varying
    return feasible & (varying | np.isfinite(reduction.y).any(axis=0))


def domains_of(queries: pd.DataFrame, reduction: Reduction, settings: Settings) -> Domains | None:
    """The domains as units of evidence; None if each query is a unit.

    None if the population of the settings is not domains, or if fewer than two domains have labels, which
    ``board.rests_on`` reports. A query without a domain is a separate unit. The units are numbered as they first
    occur, so that the names of the domains change nothing.
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
    """The utility that the strategy maximises and the certificate bounds: modelled separation of pairs, or coverage."""
    if strategy == "pairs":
        return calibration.distances
    return Coverage(calibration.info, calibration.grid.weights)


def strategy_candidates(
    strategy: Strategy, reduction: Reduction, feasible: BoolArray, usable: BoolArray
) -> BoolArray:
    """(J,) the rubrics among which a strategy chooses; the random strategies ignore the gate.

    feasible: (J,) rubrics that pass the gate. usable: (J,) rubrics that vary.
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
    """(J,) the rubrics that can enter the bank: the strategy's candidates and pins, without exclusions.

    feasible: (J,) rubrics that pass the gate.
    """
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
    """The nested order in which rubrics enter the bank: a smaller bank is a prefix. budget: its length; None: all.

    feasible: (J,) rubrics that pass the gate. strategy: by default that of the settings. constraints: what the bank
    must hold (``composition.constraints_of``). Raises DatasetError if no rubric passes and varies, and none is pinned.
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
    """What the choice of a bank for one fold's systems reads, apart from the gate; all from the other folds' systems.

    usable: (J,) rubrics that vary among the other systems and have parameters. info: (G, J) information at the nodes,
    0 for rubrics that are not usable. pairs: distances of the pairs of the other systems, or the moments from which
    they are computed; None for a strategy that needs no distances.
    """

    usable: BoolArray
    info: FloatArray
    pairs: PairMoments | PairDistances | None

    @property
    def at_hand(self) -> bool:
        """Whether the distances are already computed."""
        return isinstance(self.pairs, PairDistances)

    @property
    def cells(self) -> int:
        """How many numbers it holds in memory."""
        return self.info.size + (self.pairs.cells if self.pairs else 0)

    @property
    def distances(self) -> PairDistances | None:
        """Distances of all pairs of the other folds' systems on each rubric; None for a strategy that needs none."""
        if not isinstance(self.pairs, PairMoments):
            return self.pairs
        found = self.pairs.distances()
        return replace(found, rows=np.nan_to_num(found.rows))  # NaN: pins without parameters in this fold


def without_fold(
    reduction: Reduction,
    calibration: Calibration,
    cross: CrossFit,
    fold: int,
    strategy: Strategy,
    most_cells: int = 0,
) -> WithoutFold:
    """What the choice of a bank for one fold reads; fit and distances use no label of the fold's systems.

    most_cells: the distances are computed now if the result then holds at most so many numbers.
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
    """(F, J) rubrics that vary among the systems of the other folds and have parameters fitted on these systems."""
    return np.array(
        [~(constant_rubrics(y[cross.fold != f]) | cross.fold_fit(f).constant) for f in range(cross.n_folds)]
        if cross.n_folds > 1
        else [~cross.pooled.constant]
    )


def person_fits(cross: CrossFit, bank: IntArray) -> FloatArray | None:
    """(M,) person fit lz* of each system on the bank, by parameters fitted without it; None with a single fold.

    bank: indices. Only rubrics that vary among the other systems are used, as for a new system.
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
    """(n,) the order chosen from the other systems alone: its first rubrics are the bank "as if new" of the fold.

    The gate reads all labels. The ``constraints`` hold here too: pins even if they do not vary among the other systems,
    lower bounds as far as there are rubrics that vary. begun: the first rubrics of the order, if they are known; only
    the strategy "pairs" without constraints uses them. Raises NoBankWithoutError if no rubric can be chosen.
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
    """The order chosen without each fold (``order_without_fold``); with a single fold, the order from all systems.

    known: ``without_fold`` of each fold, if cached, else (). begun: the first rubrics of each order, if known, else ().
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
    """The costs of the rubrics and the budget in cost; None if there is no such budget."""
    if constraints is None or constraints.cost_budget is None:
        return None
    return Knapsack(constraints.prices, constraints.cost_budget)


def query_index_of(reduction: Reduction) -> IntArray:
    """(J,) number of each rubric's query; rubrics of the same query have the same number."""
    return pd.factorize(reduction.rubrics["query"])[0].astype(np.int64)
