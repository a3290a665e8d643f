"""The share of the best utility that is proven for a constrained greedy bank in advance (docs/method.md §8)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..settings import Strategy
from .constraints import Constraints

WHOLE, HALF = 1 - 1 / math.e, 0.5


@dataclass(frozen=True)
class Guarantee:
    """share: least share of the best utility under the same constraints, NaN if nothing is proven. reason: why."""

    share: float
    reason: str


def guarantee(strategy: Strategy, constraints: Constraints, *, size_binds: bool = True) -> Guarantee:
    """The a-priori bound of a composed bank. size_binds: whether B ended the choice, not the budget in cost."""
    if strategy == "pairs":
        return Guarantee(math.nan, "the choice is balanced over queries")
    if strategy != "greedy":
        return Guarantee(math.nan, "the strategy does not maximise a utility")
    bounded = [f for f in constraints.families if (f.least > 0).any() or (f.most < len(f.code)).any()]
    if constraints.cost_budget is None:
        if not bounded:
            return Guarantee(WHOLE, "1 - 1/e of the best bank with these pins (Nemhauser et al. 1978)")
        if len(bounded) == 1:
            return Guarantee(HALF, "bounds on one attribute are a matroid (Fisher et al. 1978)")
        return Guarantee(math.nan, "bounds on several attributes are no matroid")
    if bounded or size_binds:
        return Guarantee(math.nan, "a budget in cost together with other bounds")
    return Guarantee(
        WHOLE / 2, "½ (1 - 1/e), the better of gain for each unit of cost and gain (Leskovec et al. 2007)"
    )


def within(constraints: Constraints, rubrics: np.ndarray[tuple[int], np.dtype[np.int64]]) -> bool:
    """Whether a bank of these ``rubrics`` (indices) keeps every constraint."""
    held = np.zeros(len(constraints.pinned), dtype=bool)
    held[rubrics] = True
    return bool(
        not (constraints.pinned & ~held).any()
        and not (constraints.excluded & held).any()
        and not constraints.shortfalls(held)
        and all((family.counts(held) <= family.most).all() for family in constraints.families)
        and constraints.affords(constraints.total(held))
    )
