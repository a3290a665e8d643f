"""Five ways to choose a bank; each gives one nested order, of which the bank of any budget is a prefix."""

from __future__ import annotations

import numpy as np

from ..errors import AssemblyError
from ..settings import Strategy
from ..types import BoolArray, FloatArray, IntArray
from .composed import EntryRule, Gains, Scores, composed_order
from .constraints import Constraints
from .greedy import candidate_rubrics, gains_along, greedy_bank
from .pairs import PairDistances
from .pairs_order import pairs_sequence
from .utility import BankOrder, Coverage, Utility, check_information, order_along

__all__ = ["BankOrder", "greedy_bank", "order_bank", "plain_bank", "random_bank"]


def plain_bank(
    info: FloatArray, weights: FloatArray, budget: int, feasible: BoolArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Choose the ``budget`` feasible rubrics of largest mean information Σ_g π_g I_j(θ_g) (eq:plain-iif).

    Shapes and ties as in ``greedy_bank``; the gains are those of the coverage utility along this order.
    """
    candidates = candidate_rubrics(info, weights, feasible)
    mean_info = np.add.reduce(info.T[candidates] * weights, axis=1)
    order = candidates[np.argsort(-mean_info, kind="stable")][: max(budget, 0)]
    return order, gains_along(info.T[order], weights)


def pairs_bank(
    distances: PairDistances,
    query_index: IntArray,
    feasible: BoolArray,
    budget: int,
    begun: IntArray | None = None,
) -> IntArray:
    """``pairs_sequence``; raises AssemblyError if there is no rubric to choose."""
    order = pairs_sequence(distances, query_index, feasible, budget, begun)
    if not len(order):
        raise AssemblyError(_NO_FEASIBLE)
    return order


def random_bank(candidates: BoolArray, budget: int, rng: np.random.Generator) -> IntArray:
    """``budget`` of the ``candidates`` (J,), drawn without replacement; all of them if there are fewer."""
    return rng.permutation(np.flatnonzero(candidates))[: max(budget, 0)]


def order_bank(
    strategy: Strategy,
    info: FloatArray,
    weights: FloatArray,
    candidates: BoolArray,
    rng: np.random.Generator,
    *,
    distances: PairDistances | None = None,
    query_index: IntArray | None = None,
    budget: int | None = None,
    constraints: Constraints | None = None,
    relaxed: bool = False,
) -> BankOrder:
    """The bank order of one strategy: all of its candidates (J,), or the first ``budget`` (docs/method.md §8).

    ``pairs``, ``greedy`` and ``plain`` choose among the candidates with information, the other strategies draw from all
    of them. ``pairs`` needs the ``distances`` and query_index (J,); its gains and utility are those of the pairs
    utility, for the other strategies those of coverage. constraints: the composition of the bank. relaxed: meet lower
    bounds as far as possible instead of raising. Raises AssemblyError if the strategy has no candidate, or a constraint
    cannot be met.
    """
    check_information(info, weights, candidates)
    n = info.shape[1] if budget is None else budget
    if strategy == "pairs":
        if distances is None or query_index is None:
            raise AssemblyError(
                "The strategy pairs needs the distances of pairs and the query of each rubric."
            )
        if constraints is not None:
            return _composed(
                strategy, distances, candidates, constraints, rng, n, query_index, relaxed=relaxed
            )
        return order_along(distances, pairs_bank(distances, query_index, candidates, n))
    if constraints is not None:
        return _composed(strategy, Coverage(info, weights), candidates, constraints, rng, n, relaxed=relaxed)
    if strategy == "greedy":
        chosen, _ = greedy_bank(info, weights, n, candidates)
    elif strategy == "plain":
        chosen, _ = plain_bank(info, weights, n, candidates)
    else:
        chosen = random_bank(candidates, n, rng)
    if not len(chosen):
        raise AssemblyError(_NO_CANDIDATE[strategy])
    return order_along(Coverage(info, weights), chosen)


def _composed(
    strategy: Strategy,
    utility: Utility,
    kept: BoolArray,
    constraints: Constraints,
    rng: np.random.Generator,
    budget: int,
    query: IntArray | None = None,
    *,
    relaxed: bool,
) -> BankOrder:
    """The bank order of one strategy under constraints; candidates are the rubrics ``kept`` (J,) and the pins."""
    candidates, rules = kept.copy(), _rules(strategy, utility, kept, constraints, rng)
    if strategy not in _DRAWN:
        candidates[:] = False
        candidates[utility.candidates(kept)] = True
    if not (candidates & ~constraints.excluded | constraints.pinned).any():
        raise AssemblyError(_NO_CANDIDATE[strategy])
    return composed_order(utility, rules, candidates, constraints, budget, query=query, relaxed=relaxed)


def _rules(
    strategy: Strategy,
    utility: Utility,
    kept: BoolArray,
    constraints: Constraints,
    rng: np.random.Generator,
) -> tuple[EntryRule, ...]:
    """The entry rules of a strategy. With a budget in cost there are two: gain per unit of cost, and gain alone.

    The strategies that draw have one rule whatever the cost.
    """
    prices: list[FloatArray | None] = (
        [None] if constraints.cost_budget is None else [constraints.prices, None]
    )
    if strategy in _DRAWN:
        scores = np.full(len(kept), -np.inf)
        order = random_bank(kept, len(kept), rng)
        scores[order] = -np.arange(len(order))
        return (Scores(scores),)
    if strategy == "plain" and isinstance(utility, Coverage):
        mean = np.add.reduce(utility.info.T * utility.weights, axis=1)
        return tuple(Scores(mean if cost is None else mean / cost) for cost in prices)
    return tuple(Gains(utility, len(kept), cost) for cost in prices)


_DRAWN: tuple[Strategy, ...] = ("random", "hard_random")
_NO_FEASIBLE = "No rubric is both measurable at this τ_c and informative: lower τ_c."
_NO_CANDIDATE: dict[Strategy, str] = {
    "pairs": _NO_FEASIBLE,
    "greedy": _NO_FEASIBLE,
    "plain": _NO_FEASIBLE,
    "random": "All systems are alike on every rubric: there is nothing to draw a bank from.",
    "hard_random": "No rubric has unanimous judges and both outcomes, from which this strategy draws: choose "
    "pairs, which draws from all that pass.",
}
