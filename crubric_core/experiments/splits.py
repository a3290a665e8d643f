"""Half-splits of the rubrics: banks chosen and fitted on one half, compared with the other (docs/method.md §11)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..analysis.selection import query_index_of
from ..bank.assembly import plain_bank, random_bank
from ..bank.greedy import candidate_rubrics, greedy_bank
from ..bank.pairs import PairDistances, pair_distances
from ..bank.pairs_order import pairs_order
from ..bank.utility import utility_grid
from ..errors import DatasetError
from ..intervals import known_mean
from ..irt.fit import IrtFit, constant_rubrics, fit_irt
from ..irt.information import item_information
from ..irt.models import ItemParameters
from ..irt.prefixes import PrefixAbilities
from ..judges.consensus import baseline_mask
from ..judges.nothing_passes import nothing_passes
from ..labels.store.reduction import Reduction
from ..ranks import rank_correlation
from ..settings import Settings, Strategy
from ..text import count
from ..types import BoolArray, FloatArray, IntArray
from ..workers import run_tasks
from .results import ExperimentWatch

STRATEGIES: tuple[Strategy, ...] = ("greedy", "pairs", "plain", "hard_random", "random")
SMALLEST_BUDGET = 5
FEWEST_USABLE = 4


@dataclass(frozen=True)
class Split:
    """One half-split of the rubrics into A and B.

    half: (n,) indices of the rubrics of A. bank: computes abilities from prefixes of orders of A. orders: strategy →
    its orders, one for each draw; empty without candidates. reference: (M,) abilities from B, NaN unknown. converged:
    whether both fits did. info (G, n), weights (G,), feasible (n,), distances, query (n,): inputs of greedy and pairs.
    exact: only the first ``exact`` rubrics of their orders are chosen by the strategy; the other candidates follow by
    index, so that a bank of all candidates is right too.
    """

    half: IntArray
    bank: PrefixAbilities
    orders: dict[Strategy, list[IntArray]]
    reference: FloatArray
    converged: bool
    info: FloatArray
    weights: FloatArray
    feasible: BoolArray
    distances: PairDistances
    query: IntArray
    exact: int

    def exact_to(self, strategy: Strategy, budget: int) -> Split:
        """The split with the strategy's order exact for all banks of up to ``budget`` rubrics."""
        if budget <= self.exact or strategy not in ("greedy", "pairs"):
            return self
        if strategy == "greedy":
            order, _ = greedy_bank(self.info, self.weights, len(self.half), self.feasible)
        else:
            order = pairs_order(self.distances, self.query, self.feasible).order
        return replace(self, orders={**self.orders, strategy: [order]})


@dataclass(frozen=True)
class Splits:
    """The results of all splits.

    rho: strategy → (splits, draws, budgets) rank correlations with the reference, NaN without candidates. smallest:
    strategy → size of the smallest bank whose mean rho reaches the target; None: not reached.
    """

    budgets: IntArray
    target: float
    splits: list[Split]
    rho: dict[Strategy, FloatArray]
    smallest: dict[Strategy, int | None]

    def auc(self, strategy: Strategy) -> FloatArray:
        """(splits,) mean of rho over the budgets and the draws; NaN if a split has no bank of the strategy."""
        values: FloatArray = self.rho[strategy].mean(axis=2).mean(axis=1)
        return values


def split_rubrics(
    reduction: Reduction,
    feasible: BoolArray,
    settings: Settings,
    splits: int = 20,
    draws: int = 3,
    n_budgets: int = 12,
    watch: ExperimentWatch | None = None,
) -> Splits:
    """Make all splits, and find the smallest bank of each strategy that reaches the target on average.

    feasible: (J,) rubrics that pass the gate. Raises DatasetError if none of them varies, or there are too few systems
    or rubrics.
    """
    usable = usable_rubrics(reduction)
    if not feasible[usable].any():
        varying = np.isin(np.arange(len(feasible)), usable)
        raise DatasetError(nothing_passes(reduction, varying, settings))
    budgets = log_budgets(len(usable) // 2, n_budgets)
    watcher = watch or ExperimentWatch()
    watcher.step(0.0, "Fitting all rubrics")
    start = _fit(reduction, np.arange(reduction.y.shape[1]), settings).items
    found = list(
        run_tasks(
            _split_and_fidelity,
            range(splits),
            (reduction, usable, feasible, settings, start, budgets, draws),
            before=lambda number: watcher.step(number / splits, f"Split {number + 1} of {splits}"),
        )
    )
    made = [split for split, _ in found]
    target = target_correlation(len(reduction.systems))
    stacked = {strategy: np.stack([rho[strategy] for _, rho in found]) for strategy in STRATEGIES}
    watcher.step(1.0, "Searching the smallest banks")
    smallest = {s: smallest_bank(made, s, stacked[s], budgets, target) for s in STRATEGIES}
    return Splits(budgets, target, made, stacked, smallest)


def usable_rubrics(reduction: Reduction) -> IntArray:
    """Indices of the rubrics with two different labels; raises DatasetError if rubrics or systems are too few."""
    usable = np.flatnonzero(~constant_rubrics(reduction.y))
    if len(reduction.systems) < 3 or len(usable) < FEWEST_USABLE:
        raise DatasetError(
            f"Cross-fitting needs 3 systems and {FEWEST_USABLE} rubrics on which they differ: this dataset has "
            f"{count(len(reduction.systems), 'system')} and {count(len(usable), 'such rubric')}."
        )
    return usable


def log_budgets(largest: int, n: int = 12) -> IntArray:
    """At most ``n`` distinct log-spaced budgets, ascending from 5, or from 1 if ``largest`` is at most 5."""
    smallest = SMALLEST_BUDGET if largest > SMALLEST_BUDGET else 1
    return np.unique(np.geomspace(smallest, largest, n).round().astype(np.int64))


def target_correlation(n_systems: int) -> float:
    """The target of rho: .95, or, for six systems, the rho .9429 of one swap of neighbours (docs/method.md §8)."""
    return 1 - 6 * 2 / (6 * (36 - 1)) if n_systems == 6 else 0.95


def _split_and_fidelity(
    reduction: Reduction,
    usable: IntArray,
    feasible: BoolArray,
    settings: Settings,
    start: ItemParameters,
    budgets: IntArray,
    draws: int,
    number: int,
) -> tuple[Split, dict[Strategy, FloatArray]]:
    """The split with this number, from its own random generator, and the rho of its banks (``split_fidelity``)."""
    rng = np.random.default_rng([settings.seed, 10, number])
    split = make_split(reduction, usable, feasible, settings, start, budgets, draws, rng)
    return split, split_fidelity(split, budgets)


def make_split(
    reduction: Reduction,
    usable: IntArray,
    feasible: BoolArray,
    settings: Settings,
    start: ItemParameters,
    budgets: IntArray,
    draws: int,
    rng: np.random.Generator,
) -> Split:
    """Draw the halves, fit each from the parameters ``start``, and order the candidates of each strategy on half A.

    usable: (n,) indices of the rubrics that are split. feasible: (J,) rubrics that pass the gate. budgets: ascending.
    """
    shuffled = rng.permutation(usable)
    half, other = np.sort(shuffled[: len(usable) // 2]), np.sort(shuffled[len(usable) // 2 :])
    fit, reference = (_fit(reduction, part, settings, start) for part in (half, other))
    grid = utility_grid(difficulty=fit.b, theta=fit.theta)
    info = item_information(fit, grid.theta)
    hard, everything = baseline_mask(reduction)[half], np.ones(len(half), dtype=bool)
    n = len(half)
    candidates = candidate_rubrics(info, grid.weights, feasible[half])
    exact = int(budgets[budgets < len(candidates)].max(initial=0))
    greedy, _ = greedy_bank(info, grid.weights, exact, feasible[half])
    query = query_index_of(reduction)[half]
    levels = reduction.levels[half]
    distances = pair_distances(reduction.y[:, half], fit.theta, fit.theta_sd, levels, fit.thresholds)
    pairs = pairs_order(distances, query, feasible[half], exact).order
    unseen = np.isnan(reduction.y[:, other]).all(axis=1)
    return Split(
        half=half,
        bank=PrefixAbilities(fit, reduction.y[:, half]),
        orders={
            "pairs": [np.concatenate([pairs, np.setdiff1d(candidates, pairs)])],
            "greedy": [np.concatenate([greedy, np.setdiff1d(candidates, greedy)])],
            "plain": [plain_bank(info, grid.weights, n, feasible[half])[0]],
            "hard_random": [random_bank(hard, n, rng) for _ in range(draws)],
            "random": [random_bank(everything, n, rng) for _ in range(draws)],
        },
        reference=np.where(unseen, np.nan, reference.theta),
        converged=fit.converged and reference.converged,
        info=info,
        weights=grid.weights,
        feasible=feasible[half],
        distances=distances,
        query=query,
        exact=exact,
    )


def _fit(
    reduction: Reduction, rubrics: IntArray, settings: Settings, start: ItemParameters | None = None
) -> IrtFit:
    return fit_irt(
        reduction.y[:, rubrics],
        settings.model,
        settings.quadrature,
        settings.priors,
        levels=reduction.levels[rubrics],
        start=None if start is None else start.of(rubrics),
    )


def split_fidelity(split: Split, budgets: IntArray) -> dict[Strategy, FloatArray]:
    """Strategy → (draws, budgets) rho of its banks with the reference; NaN without candidates."""
    orders = [order for strategy in STRATEGIES for order in split.orders[strategy]]
    rho = rank_correlation(split.bank(orders, budgets), split.reference)
    rho[[not len(order) for order in orders]] = np.nan
    ends = np.cumsum([len(split.orders[strategy]) for strategy in STRATEGIES])
    parts: list[FloatArray] = np.split(rho, ends[:-1])
    return dict(zip(STRATEGIES, parts, strict=True))


def smallest_bank(
    splits: list[Split], strategy: Strategy, rho: FloatArray, budgets: IntArray, target: float
) -> int | None:
    """Smallest bank size whose rho, averaged over splits and draws, reaches the target; None if no budget does.

    rho: (splits, draws, budgets). The size is found by bisection between the first budget that reaches the target and
    the budget before it.
    """
    mean = _mean_over_splits(rho)
    reached = np.flatnonzero(mean >= target)
    if not reached.size:
        return None
    first = int(reached[0])
    low, high = (int(budgets[first - 1]) if first else 0), int(budgets[first])
    able = [split.exact_to(strategy, high - 1) for split in splits if len(split.orders[strategy][0])]
    while high - low > 1:
        middle = (low + high) // 2
        at = [rank_correlation(s.bank(s.orders[strategy], [middle]), s.reference) for s in able]
        if float(_mean_over_splits(np.stack(at))[0]) >= target:
            high = middle
        else:
            low = middle
    return high


def _mean_over_splits(rho: FloatArray) -> FloatArray:
    """(splits, draws, budgets) → (budgets,): mean over the draws, then over the splits where it is known."""
    return known_mean(rho.mean(axis=1), axis=0)
