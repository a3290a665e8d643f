"""What a user requires of a bank: rubrics that it must or must not hold, bounds on groups of rubrics, and costs."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self, get_args

from .errors import SettingsError, require_choice

Attribute = Literal["query", "domain", "task_type", "dimension", "severity"]
Cost = Literal["one", "text", "given"]
ATTRIBUTES: tuple[Attribute, ...] = get_args(Attribute)


@dataclass(frozen=True)
class Limit:
    """A bound on the number of rubrics of a group in the bank.

    by: the attribute that groups the rubrics. value: the group, or None for every group with a rubric that can be
    chosen. at_least: 0 for no bound. at_most: None for no bound. Raises SettingsError if a value is not allowed.
    """

    by: Attribute
    value: str | None = None
    at_least: int = 0
    at_most: int | None = None

    def __post_init__(self) -> None:
        require_choice("by", self.by, ATTRIBUTES)
        for name in ("at_least", "at_most"):
            number = getattr(self, name)
            if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 0):
                raise SettingsError(
                    f"{name} = {number!r} is out of range: expected a whole number from 0 on."
                )
        if self.at_most is not None and self.at_least > self.at_most:
            raise SettingsError(
                f"{self.words}: at least {self.at_least} and at most {self.at_most} cannot both hold."
            )

    @property
    def words(self) -> str:
        """The group in words: "the domain 'law'", "each query"."""
        by = self.by.replace("_", " ")
        return f"each {by}" if self.value is None else f"the {by} {self.value!r}"

    @classmethod
    def read(cls, text: str, side: Literal["at_least", "at_most"]) -> Self:
        """Parse ``domain=law:5``, or ``query:2`` for each query; raises SettingsError for another form.

        side: whether the number is the lower or the upper bound.
        """
        group, colon, number = text.rpartition(":")
        by, equals, value = group.partition("=")
        by = by.strip().replace(" ", "_").replace("-", "_")
        if not colon or not number.strip().isdigit() or by not in ATTRIBUTES:
            raise SettingsError(
                f"{text!r} is no bound: write GROUP=NAME:N such as domain=law:5, or GROUP:N for each, "
                f"where GROUP is {', '.join(ATTRIBUTES)}."
            )
        named: Any = by
        return cls(named, value if equals and value != "*" else None, **{side: int(number)})


@dataclass(frozen=True)
class Swap:
    """The replacement of a rubric of the bank. out: the rubric that leaves. into: the rubric that enters."""

    out: str
    into: str


@dataclass(frozen=True)
class Composition:
    """What a user requires of a bank in addition to the strategy by which it is chosen (docs/method.md §8).

    A rubric is given by its id, or by its name if no other rubric has the same name.

    Parameters
    ----------
    pins, exclusions : tuple of str
        Rubrics that are always in the bank, and rubrics that never are.
    swaps : tuple of Swap
        Each is an exclusion of one rubric and a pin of another.
    limits : tuple of Limit
        Bounds on the number of rubrics of a query, domain, task type, dimension or severity.
    cost : {"one", "text", "given"}
        What a rubric costs: 1 each, the number of characters of its text, or its value in ``costs``.
    costs : tuple of (str, float)
        Cost of each rubric, > 0.
    cost_budget : float or None
        Most that all rubrics of the bank may cost together, > 0; None: no limit.

    Raises
    ------
    SettingsError
        Parts contradict each other, or a number is out of its range.

    """

    pins: tuple[str, ...] = ()
    exclusions: tuple[str, ...] = ()
    swaps: tuple[Swap, ...] = ()
    limits: tuple[Limit, ...] = ()
    cost: Cost = "one"
    costs: tuple[tuple[str, float], ...] = ()
    cost_budget: float | None = None

    def __post_init__(self) -> None:
        require_choice("cost", self.cost, get_args(Cost))
        both = sorted(set(self.always) & set(self.never))
        if both:
            raise SettingsError(f"The rubric {both[0]!r} is pinned and excluded: choose one of the two.")
        if (self.cost == "given") != bool(self.costs):
            raise SettingsError("Costs are given exactly where cost = 'given'.")
        twice = [name for name, times in Counter(name for name, _ in self.costs).items() if times > 1]
        if twice:
            raise SettingsError(f"The rubric {twice[0]!r} has two costs: give one.")
        for name, cost in self.costs:
            _require_positive(f"The cost of {name!r}", cost)
        if self.cost_budget is not None:
            _require_positive("cost_budget", self.cost_budget)

    def __bool__(self) -> bool:
        """Whether the composition requires anything."""
        return bool(
            self.always or self.never or self.limits or self.cost != "one" or self.cost_budget is not None
        )

    @property
    def always(self) -> tuple[str, ...]:
        """Pinned rubrics, including those that were swapped in."""
        return (*self.pins, *(swap.into for swap in self.swaps))

    @property
    def never(self) -> tuple[str, ...]:
        """Excluded rubrics, including those that were swapped out."""
        return (*self.exclusions, *(swap.out for swap in self.swaps))

    def marked(self, rubric: str, mark: Literal["pin", "exclude"], *, on: bool) -> Self:
        """A copy with the rubric pinned or excluded if ``on``, else neither; earlier marks and swaps of it are gone."""
        pins, exclusions = (tuple(n for n in names if n != rubric) for names in (self.pins, self.exclusions))
        if on and mark == "pin":
            pins = (*pins, rubric)
        elif on:
            exclusions = (*exclusions, rubric)
        swaps = tuple(swap for swap in self.swaps if rubric not in (swap.out, swap.into))
        return replace(self, pins=pins, exclusions=exclusions, swaps=swaps)

    def swapped(self, out: str, into: str) -> Self:
        """A copy with one rubric swapped for another; earlier pins, exclusions and swaps of both are removed."""
        cleared = self.marked(out, "pin", on=False).marked(into, "pin", on=False)
        return replace(cleared, swaps=(*cleared.swaps, Swap(out, into)))

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with the keys that ``from_dict`` reads; empty parts are left out."""
        found: dict[str, Any] = {
            "pin": list(self.pins),
            "exclude": list(self.exclusions),
            "swap": [{"out": swap.out, "into": swap.into} for swap in self.swaps],
            "limits": [_limit_record(limit) for limit in self.limits],
            "cost": dict(self.costs) if self.costs else None if self.cost == "one" else self.cost,
            "cost_budget": self.cost_budget,
        }
        return {name: value for name, value in found.items() if value}

    @classmethod
    def from_dict(cls, given: object) -> Self:
        """The composition from values in the form of ``as_dict``; raises SettingsError, which names the fault."""
        known = ("pin", "exclude", "swap", "limits", "cost", "cost_budget")
        values = _object(given, known, "a composition")
        cost = values.get("cost", "one")
        priced = isinstance(cost, Mapping)
        return cls(
            pins=_names(values, "pin"),
            exclusions=_names(values, "exclude"),
            swaps=tuple(
                Swap(
                    **{
                        part: str(value)
                        for part, value in _object(s, ("out", "into"), "a swap", True).items()
                    }
                )
                for s in _list(values, "swap")
            ),
            limits=tuple(
                Limit(**_object(limit, tuple(f.name for f in fields(Limit)), "a limit"))
                for limit in _list(values, "limits")
            ),
            cost="given" if priced else cost,
            costs=tuple((str(name), value) for name, value in cost.items()) if priced else (),
            cost_budget=values.get("cost_budget"),
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The composition from JSON text; raises SettingsError if it is not JSON, or not a composition."""
        try:
            given = json.loads(text)
        except ValueError as error:
            raise SettingsError(f"The composition is not valid JSON: {error}.") from error
        return cls.from_dict(given)


def _require_positive(name: str, value: object) -> None:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    if not (known and math.isfinite(float(str(value))) and float(str(value)) > 0):
        raise SettingsError(f"{name} = {value!r} is out of range: expected a number above 0.")


def _limit_record(limit: Limit) -> dict[str, Any]:
    found = {"by": limit.by, "value": limit.value, "at_least": limit.at_least, "at_most": limit.at_most}
    return {
        name: value for name, value in found.items() if value is not None and (name, value) != ("at_least", 0)
    }


def _object(given: object, known: tuple[str, ...], what: str, every: bool = False) -> dict[str, Any]:
    """``given`` as a dictionary; raises SettingsError if a key is not in ``known``, or if ``every`` and one is missing.

    what: what the object is, for the message.
    """
    if not isinstance(given, Mapping):
        raise SettingsError(f"{given!r} is not {what}: write names and values in braces.")
    invalid = [name for name in given if name not in known]
    missing = [name for name in known if every and name not in given]
    if invalid or missing:
        raise SettingsError(
            f"{(invalid or missing)[0]!r} {'is no part of' if invalid else 'is missing in'} {what}: "
            f"use {', '.join(known)}."
        )
    if what == "a limit" and "by" not in given:
        raise SettingsError(f"'by' is missing in a limit: use one of {', '.join(ATTRIBUTES)}.")
    return dict(given)


def _list(values: Mapping[str, Any], name: str) -> list[Any]:
    found = values.get(name, [])
    if not isinstance(found, list | tuple):
        raise SettingsError(f"{name} = {found!r} is not a list: write [] for none.")
    return list(found)


def _names(values: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(map(str, _list(values, name)))
