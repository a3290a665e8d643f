"""The order in which rubrics enter the bank, from all systems or without those to be placed (docs/method.md §8)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..bank.assembly import BankOrder, order_bank
from ..bank.certificate import certify
from ..bank.pairs import pair_distances
from ..bank.utility import Coverage, Utility
from ..errors import DatasetError
from ..irt.abilities import estimate_abilities
from ..irt.information import item_information
from ..judges.consensus import baseline_mask
from ..judges.measurability import nothing_passes
from ..labels.store.dataset import Reduction
from ..leaderboard.cross_fit import CrossFit
from ..settings import Settings, Strategy
from ..types import BoolArray, FloatArray, IntArray, Progress
from .result import Calibration


def query_positions(queries: pd.DataFrame, reduction: Reduction) -> IntArray:
    """(J,) position of each rubric's query in ``queries``."""
    return pd.Index(queries["query"]).get_indexer(pd.Index(reduction.rubrics["query"])).astype(np.int64)


def bank_utility(calibration: Calibration, strategy: Strategy) -> Utility:
    """What the strategy maximises and its certificate speaks of: the separation of pairs, or coverage."""
    if strategy == "pairs":
        return calibration.distances
    return Coverage(calibration.info, calibration.grid.weights)


def order_candidates(
    reduction: Reduction,
    calibration: Calibration,
    feasible: BoolArray,
    settings: Settings,
    strategy: Strategy | None = None,
    budget: int | None = None,
) -> BankOrder:
    """The nested order in which rubrics enter the bank, ``budget`` of them or all: a smaller bank is a prefix."""
    varying = ~calibration.fit.constant
    if not (feasible & varying).any():
        raise DatasetError(nothing_passes(reduction, varying, settings))
    consistent, discriminating = baseline_mask(reduction)
    return order_bank(
        strategy or settings.strategy,
        calibration.info,
        calibration.grid.weights,
        feasible,
        varying,
        consistent & discriminating,
        np.random.default_rng([settings.seed, 1]),
        distances=calibration.distances,
        query_index=_query_index(reduction),
        budget=budget,
    )


def order_without_fold(
    reduction: Reduction,
    calibration: Calibration,
    cross: CrossFit,
    fold: int,
    feasible: BoolArray,
    settings: Settings,
    *,
    strategy: Strategy | None = None,
    budget: int | None = None,
) -> IntArray:
    """The order that the other systems alone would have chosen: a bank "as if new" for those of the fold.

    Neither the fit nor the choice reads a label of the fold's systems. The gate reads all labels.
    """
    strategy = strategy or settings.strategy
    fit, others = cross.fold_fit(fold), cross.fold != fold
    varying = _varies(reduction.y[others])
    usable = varying & ~fit.constant
    consistent, discriminating = baseline_mask(reduction)
    distances = None
    if strategy == "pairs":
        y = reduction.y[others]
        found = estimate_abilities(fit, y)
        distances = pair_distances(y, found.theta, found.sd, fit.levels, fit.thresholds)
    info = item_information(fit, calibration.grid.theta)
    info[:, ~usable] = 0.0
    return order_bank(
        strategy,
        info,
        calibration.grid.weights,
        feasible & usable,
        usable,
        consistent & discriminating & usable,
        np.random.default_rng([settings.seed, 1]),
        distances=distances,
        query_index=_query_index(reduction),
        budget=budget,
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
    progress: Progress | None = None,
) -> tuple[IntArray, ...]:
    """``order_without_fold`` of every fold; with one fold of all systems, the order that all of them choose."""
    tell = progress or (lambda share, what: None)
    if cross.n_folds == 1:
        whole = order_candidates(reduction, calibration, feasible, settings, strategy=strategy, budget=budget)
        return (whole.order,)
    orders = []
    for fold in range(cross.n_folds):
        tell(fold / cross.n_folds, f"Choosing a bank without fold {fold + 1} of {cross.n_folds}")
        orders.append(
            order_without_fold(
                reduction,
                calibration,
                cross,
                fold,
                feasible,
                settings,
                strategy=strategy,
                budget=budget,
            )
        )
    return tuple(orders)


def masks(orders: tuple[IntArray, ...], budget: int, n_rubrics: int) -> BoolArray:
    """(F, J) the first ``budget`` rubrics of each fold's order."""
    use = np.zeros((len(orders), n_rubrics), dtype=bool)
    for fold, order in enumerate(orders):
        use[fold, order[:budget]] = True
    return use


def bank_certificate(utility: Utility, order: BankOrder, feasible: BoolArray, budget: int) -> float:
    """Utility of the bank over a proven upper bound of every bank of its size (docs/method.md §8)."""
    return certify(utility, order.order, min(budget, len(order.order)), feasible)


def _query_index(reduction: Reduction) -> IntArray:
    """(J,) which rubrics share a query."""
    return pd.factorize(reduction.rubrics["query"])[0].astype(np.int64)


def _varies(y: FloatArray) -> BoolArray:
    """(J,) whether a rubric has two different labels among these systems."""
    low = np.where(np.isnan(y), np.inf, y).min(axis=0, initial=np.inf)
    high = np.where(np.isnan(y), -np.inf, y).max(axis=0, initial=-np.inf)
    return np.asarray(low < high)
