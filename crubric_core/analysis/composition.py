"""Apply a composition to a dataset: find the rubrics, groups and costs that it names, and describe the result."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from io import BytesIO

import numpy as np
import pandas as pd

from ..bank.assembly import BankOrder
from ..bank.constraints import Constraints, Family
from ..bank.guarantee import guarantee
from ..bank.identity import rubric_ids
from ..composition import ATTRIBUTES, Attribute, Composition, Limit, Swap
from ..errors import DatasetError, SettingsError
from ..labels.store.reduction import Reduction
from ..settings import Settings
from ..text import count, listed, verb
from ..types import BoolArray, FloatArray, IntArray

UNBOUNDED = np.int64(2**31)  # if a group has no upper bound: more rubrics than any dataset has


def ids_of(rubrics: pd.DataFrame, of: Iterable[int] | None = None) -> tuple[str, ...]:
    """The ids of all rubrics of a dataset, or of the rubrics at the positions ``of`` (``rubric_ids``)."""
    texts = [None if pd.isna(text) else str(text) for text in rubrics["text"]]
    return rubric_ids(rubrics["query"].map(str).tolist(), texts, rubrics["rubric"].map(str).tolist(), of)


def constraints_of(
    composition: Composition, reduction: Reduction, queries: pd.DataFrame, pool: BoolArray, varying: BoolArray
) -> Constraints:
    """The composition as constraints on the J rubrics.

    pool: (J,) rubrics that pass the gate and vary. varying: (J,) rubrics with parameters; only these can be pinned.
    Raises DatasetError if it names a rubric or group that the dataset does not have or pins a rubric that does not
    vary, and SettingsError if it contradicts itself.
    """
    rubrics = reduction.rubrics
    find = _Finder(rubrics)
    pinned, excluded = (find.mask(names) for names in (composition.always, composition.never))
    both, fixed = np.flatnonzero(pinned & excluded), np.flatnonzero(pinned & ~varying)
    if both.size:
        raise SettingsError(
            f"The rubric {find.names[both[0]]!r} is pinned and excluded: choose one of the two."
        )
    if fixed.size:
        raise DatasetError(
            f"The rubric {find.names[fixed[0]]!r} cannot be pinned: all systems are alike on it, so it "
            "says nothing about them."
        )
    candidates = pool & ~excluded | pinned
    limits: dict[Attribute, list[Limit]] = {by: [] for by in ATTRIBUTES}
    for limit in composition.limits:
        limits[limit.by].append(limit)
    families = tuple(
        _family(by, given, group_of(by, rubrics, queries), candidates)
        for by, given in limits.items()
        if given
    )
    return Constraints(
        find.names, pinned, excluded, families, _costs(composition, rubrics, find), composition.cost_budget
    )


class _Finder:
    """Find the position of a rubric by its id, or by its name if only one rubric has it; raises DatasetError."""

    def __init__(self, rubrics: pd.DataFrame) -> None:
        self.names = tuple(rubrics["rubric"].map(str))
        self.by_id = {name: j for j, name in enumerate(ids_of(rubrics))}
        self.by_name: dict[str, list[int]] = {}
        for j, name in enumerate(self.names):
            self.by_name.setdefault(name, []).append(j)

    def __call__(self, name: str) -> int:
        found = [self.by_id[name]] if name in self.by_id else self.by_name.get(name, [])
        if len(found) == 1:
            return found[0]
        raise DatasetError(
            f"There is no rubric {name!r} in this dataset: give the id or the name of one."
            if not found
            else f"{len(found)} rubrics are named {name!r}: give the id of the one that is meant."
        )

    def mask(self, names: Sequence[str]) -> BoolArray:
        """(J,) mask of the rubrics with these ids or names; raises DatasetError."""
        mask = np.zeros(len(self.names), dtype=bool)
        mask[[self(name) for name in names]] = True
        return mask


def by_id(composition: Composition, rubrics: pd.DataFrame) -> Composition:
    """The composition with each rubric named by its id; raises DatasetError if a rubric is not in ``rubrics``."""
    find, ids = _Finder(rubrics), ids_of(rubrics)

    def named(name: str) -> str:
        return ids[find(name)]

    return replace(
        composition,
        pins=tuple(map(named, composition.pins)),
        exclusions=tuple(map(named, composition.exclusions)),
        swaps=tuple(Swap(named(swap.out), named(swap.into)) for swap in composition.swaps),
        costs=tuple((named(name), cost) for name, cost in composition.costs),
    )


def group_of(by: Attribute, rubrics: pd.DataFrame, queries: pd.DataFrame) -> pd.Series[str]:
    """(J,) group of each rubric by the attribute ``by`` of the rubric or of its query; missing if it has none."""
    if by in rubrics:
        return rubrics[by].reset_index(drop=True)
    return rubrics["query"].map(queries.set_index("query")[by]).reset_index(drop=True)


def _family(by: Attribute, limits: list[Limit], group: pd.Series[str], candidates: BoolArray) -> Family:
    """The bounds on the groups of one attribute; of several bounds on a group the tightest.

    A limit without a value bounds every group that has a candidate. Raises DatasetError if the group is not in the
    dataset, and SettingsError if the bounds of a group contradict each other.
    """
    code, groups = pd.factorize(group.astype(object), sort=True)
    names, words = [str(name) for name in groups], by.replace("_", " ")
    if not names:
        raise DatasetError(f"No rubric has a {words}: nothing can be bounded by it.")
    reachable = np.bincount(code[candidates & (code >= 0)], minlength=len(names)) > 0
    least, most = np.zeros(len(names), dtype=np.int64), np.full(len(names), UNBOUNDED)
    for limit in limits:
        if limit.value is not None and limit.value not in names:
            raise DatasetError(
                f"There is no {words} {limit.value!r} in this dataset: it has {listed([repr(n) for n in names])}."
            )
        where = reachable if limit.value is None else np.array(names) == limit.value
        least[where] = np.maximum(least[where], limit.at_least)
        if limit.at_most is not None:
            most[where] = np.minimum(most[where], limit.at_most)
    both = np.flatnonzero(least > most)
    if both.size:
        g = int(both[0])
        raise SettingsError(
            f"The {words} {names[g]!r}: at least {least[g]} and at most {most[g]} cannot both hold."
        )
    return Family(words, tuple(names), code.astype(np.int64), least, most)


def _costs(composition: Composition, rubrics: pd.DataFrame, find: _Finder) -> FloatArray | None:
    """(J,) cost of each rubric: as given, or the characters of its text (the median if it has none).

    None if each costs 1. Raises DatasetError if a rubric has no given cost.
    """
    if composition.cost == "one":
        return None
    if composition.cost == "text":
        texts = rubrics["text"].fillna("").map(str).str.len().to_numpy(dtype=float)
        return np.asarray(
            np.where(texts > 0, texts, np.median(texts[texts > 0]) if (texts > 0).any() else 1.0)
        )
    cost = np.full(len(rubrics), np.nan)
    for name, value in composition.costs:
        cost[find(name)] = value
    missing = np.flatnonzero(np.isnan(cost))
    if missing.size:
        raise DatasetError(
            f"{count(int(missing.size), 'rubric')} without a cost, the first of them {find.names[missing[0]]!r}: "
            "give a cost for each."
        )
    return cost


def read_costs(content: bytes) -> tuple[tuple[str, float], ...]:
    """Read (rubric, cost) pairs from a CSV file with the columns ``id`` or ``rubric``, and ``cost``; NaN: not a number.

    Raises SettingsError if it is not CSV, or a column is missing.
    """
    try:
        table = pd.read_csv(BytesIO(content))
    except (ValueError, UnicodeDecodeError) as error:
        raise SettingsError(f"The costs cannot be read as CSV: {error}.") from error
    names = [name for name in ("id", "rubric") if name in table]
    if not names or "cost" not in table:
        raise SettingsError(
            f"The costs have the columns {listed([str(c) for c in table.columns])}: give id or rubric, and cost."
        )
    cost = pd.to_numeric(table["cost"], errors="coerce")
    return tuple((str(name), float(value)) for name, value in zip(table[names[0]], cost, strict=True))


def composition_notes(
    settings: Settings, constraints: Constraints | None, order: BankOrder, feasible: BoolArray
) -> tuple[str, ...]:
    """Sentences on a composed bank: what was asked, what is proven, what the held-out check covers; () without one.

    feasible: (J,) rubrics that pass the gate.
    """
    composition = settings.composition
    if composition is None or constraints is None:
        return ()
    bank = order.order[: settings.budget]
    failing = int((constraints.pinned & ~feasible).sum())
    gate = (f"{count(failing, 'pinned rubric')} {verb(failing, 'do')} not pass the gate.",) if failing else ()
    return (asked(composition, constraints, bank), *gate, proven(settings, constraints, order), HELD_OUT)


HELD_OUT = (
    "The held-out check chooses each system's bank without its labels and under this composition. "
    "It takes pins, exclusions, swaps and bounds as given: it does not cover a composition that was made by "
    "looking at how these systems did."
)


def asked(composition: Composition, constraints: Constraints, bank: IntArray) -> str:
    """One sentence: how many pins, exclusions, swaps and bounds the composition has, and what the bank costs."""
    parts = [
        (len(composition.pins), "rubric pinned", "rubrics pinned"),
        (len(composition.exclusions), "excluded", "excluded"),
        (len(composition.swaps), "swapped", "swapped"),
        (len(composition.limits), "bound on groups", "bounds on groups"),
    ]
    said = [f"{n:,} {one if n == 1 else many}" for n, one, many in parts if n]
    spent = constraints.total(bank)
    if composition.cost_budget is not None:
        said.append(f"a cost of {spent:,.6g} of at most {composition.cost_budget:,.6g}")
    elif composition.cost != "one":
        said.append(f"a cost of {spent:,.6g}")
    return f"The bank is composed by hand: {listed(said)}."


def proven(settings: Settings, constraints: Constraints, order: BankOrder) -> str:
    """One sentence: the proven share of the best utility that the greedy choice reaches under these constraints."""
    binds = len(order.order) >= settings.budget
    found = guarantee(settings.strategy, constraints, size_binds=binds)
    if math.isnan(found.share):
        return f"No share of the best utility is proven in advance under this composition: {found.reason}."
    return (
        f"Under this composition the greedy choice reaches at least {found.share:.1%} of the best utility: "
        f"{found.reason}."
    )
