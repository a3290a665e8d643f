"""The constraints of a bank as arrays, and the smallest set of rubrics that meets them (docs/method.md §8).

The smallest set is an exact integer programme (HiGHS), solved once before the greedy choice. Shortfalls of the lower
bounds are variables of it with a price above any number of rubrics: the same solution shows which bound cannot be met.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize, sparse

from ..errors import AssemblyError
from ..types import BoolArray, FloatArray, IntArray

_SECONDS = 20.0
# A budget in cost is kept, up to the rounding of sums of costs.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Family:
    """One attribute that groups the rubrics, with bounds on its groups.

    name: such as "domain". groups: the names of its n groups. code: (J,) the group of each rubric, -1 for none. least,
    most: (n,) bounds; without an upper bound ``most`` is J or more.
    """

    name: str
    groups: tuple[str, ...]
    code: IntArray
    least: IntArray
    most: IntArray

    def counts(self, rubrics: IntArray | BoolArray) -> IntArray:
        """(n,) number of the rubrics in each group."""
        code = self.code[rubrics]
        return np.bincount(code[code >= 0], minlength=len(self.groups))


@dataclass(frozen=True)
class Constraints:
    """The constraints on a bank of J rubrics.

    names: names of the rubrics in messages. pinned, excluded: (J,) always in the bank, never in it. families: bounds by
    attribute, each attribute once. cost: (J,) > 0, NaN unknown. cost_budget: most that a bank may cost; None: no limit.
    """

    names: tuple[str, ...]
    pinned: BoolArray
    excluded: BoolArray
    families: tuple[Family, ...] = ()
    cost: FloatArray | None = None
    cost_budget: float | None = None

    @property
    def prices(self) -> FloatArray:
        """(J,) cost of each rubric; 1 if costs are not given."""
        return np.ones(len(self.pinned)) if self.cost is None else self.cost

    @property
    def needs(self) -> bool:
        """Whether any group has a lower bound."""
        return any((family.least > 0).any() for family in self.families)

    def total(self, rubrics: IntArray | BoolArray) -> float:
        """Total cost of the rubrics."""
        return float(self.prices[rubrics].sum())

    def affords(self, cost: float) -> bool:
        """Whether a bank of this cost is within the budget in cost."""
        return self.cost_budget is None or cost <= self.cost_budget * (1 + ROUNDING)

    def shortfalls(self, rubrics: IntArray | BoolArray) -> list[tuple[Family, int]]:
        """The groups whose lower bounds these rubrics do not reach, as (family, index of the group)."""
        return [
            (family, group)
            for family in self.families
            for group in np.flatnonzero(family.counts(rubrics) < family.least).tolist()
        ]


def smallest_set(constraints: Constraints, candidates: BoolArray, *, relaxed: bool = False) -> IntArray:
    """The smallest set of rubrics, ascending, that holds the pins and meets all lower bounds within all upper ones.

    With a budget in cost, the cheapest set of that size. candidates: (J,) rubrics that can be chosen; pins always can.
    relaxed: meet lower bounds as far as possible instead of raising. Raises AssemblyError with the bound that cannot be
    met.
    """
    _check_pins(constraints)
    if not constraints.needs:
        return np.flatnonzero(constraints.pinned)
    open_ = (candidates & ~constraints.excluded) | constraints.pinned
    chosen = _solve(constraints, open_)
    short = constraints.shortfalls(chosen)
    if short and not relaxed:
        raise AssemblyError(_unmet(constraints, open_, *short[0]))
    return chosen


def _check_pins(constraints: Constraints) -> None:
    """Raise AssemblyError if the pins alone break an upper bound."""
    for family in constraints.families:
        counts = family.counts(constraints.pinned)
        over = np.flatnonzero(counts > family.most)
        if over.size:
            group = int(over[0])
            raise AssemblyError(
                f"At most {family.most[group]} of the {family.name} {family.groups[group]!r} cannot hold: "
                f"{counts[group]} of them are pinned."
            )
    cost = constraints.total(constraints.pinned)
    if not constraints.affords(cost):
        raise AssemblyError(
            f"The budget of {constraints.cost_budget:g} in cost cannot hold: the pinned rubrics alone cost {cost:g}."
        )


def _solve(constraints: Constraints, open_: BoolArray) -> IntArray:
    """Rubrics of the smallest set; each shortfall of a lower bound costs more than any number of rubrics."""
    rubrics = np.flatnonzero(open_)
    n, lower = len(rubrics), [f for f in constraints.families if (f.least > 0).any()]
    missing = sum(int((family.least > 0).sum()) for family in lower)
    weight = np.ones(n)
    rows, low, high, slack = [], [], [], 0
    for family in constraints.families:
        bound = np.flatnonzero((family.least > 0) | (family.most < n))
        member = sparse.csr_array(family.code[rubrics] == bound[:, None], dtype=float)
        needed = np.flatnonzero(family.least[bound] > 0)
        short = sparse.csr_array(
            (np.ones(len(needed)), (needed, slack + np.arange(len(needed)))), shape=(len(bound), missing)
        )
        slack += len(needed)
        # A shortfall never makes room below an upper bound: the two sides have a row each.
        rows += [sparse.hstack([member, short]), sparse.hstack([member, 0 * short])]
        low += [family.least[bound], np.full(len(bound), -np.inf)]
        high += [np.full(len(bound), np.inf), family.most[bound]]
    if constraints.cost_budget is not None:
        cost = constraints.prices[rubrics] / constraints.cost_budget
        weight = weight + cost / 2  # a set within the budget costs at most ½ in all: size first, then cost
        rows.append(sparse.csr_array(np.append(cost, np.zeros(missing))[None]))
        low.append(np.array([-np.inf]))
        high.append(np.array([1 + ROUNDING]))
    within = optimize.LinearConstraint(
        sparse.csc_array(sparse.vstack(rows)), np.concatenate(low), np.concatenate(high)
    )
    must = constraints.pinned[rubrics].astype(float)
    found = optimize.milp(
        np.append(weight, np.full(missing, 2.0 * n + 2)),
        constraints=within,
        integrality=np.append(np.ones(n), np.zeros(missing)),
        bounds=optimize.Bounds(
            np.append(must, np.zeros(missing)), np.append(np.ones(n), np.full(missing, np.inf))
        ),
        options={"mip_rel_gap": 0.0, "time_limit": _SECONDS},
    )
    if found.x is None:
        raise AssemblyError("The constraints of the bank could not be solved in time: state fewer of them.")
    return np.asarray(rubrics[found.x[:n] > 0.5], dtype=np.int64)


def _unmet(constraints: Constraints, open_: BoolArray, family: Family, group: int) -> str:
    """One sentence: the bound that cannot be met, and why."""
    least, available = int(family.least[group]), int(((family.code == group) & open_).sum())
    subject = f"At least {least} of the {family.name} {family.groups[group]!r} cannot be met"
    if available < least:
        can = "rubric of it can" if available == 1 else "rubrics of it can"
        return f"{subject}: {available or 'no'} {can} be chosen."
    alone = np.zeros_like(family.least)
    alone[group] = least
    own = Family(family.name, family.groups, family.code, alone, family.most)
    others = tuple(f for f in constraints.families if f is not family)
    free = Constraints(
        constraints.names, constraints.pinned, constraints.excluded, (own, *others), constraints.cost, None
    )
    reachable = not free.shortfalls(_solve(free, open_))
    if reachable and constraints.cost_budget is not None:
        return f"{subject} within a cost of {constraints.cost_budget:g} and with the other bounds."
    return f"{subject} together with the other bounds: raise an upper one or lower another."
