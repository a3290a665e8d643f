"""Rules for scoring queries of each task type (tab:tasktypes, docs/method.md §9); a dataset may have its own."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self, TypeVar, get_args

from .errors import SettingsError, require_choice

Target = Literal["severity", "dimension"]
Source = Literal["points", "tags", "dimension", "severity", "text", "rubric", "query"]
TaskType = Literal[
    "*", "evidence_reasoning", "decision_support", "high_risk_constraint", "creative_divergent"
]
ANY = "*"
_COMPARISON = re.compile(r"\s*(<=|>=|<|>|=)\s*(-?\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True)
class Assignment:
    """A rule that gives all rubrics that match it a severity or a dimension, in place of the one in their file.

    sets: "severity" or "dimension". source: the column that is matched: points (the weight in the file), tags (any of
    them) or another column of the rubrics. fits: for points a comparison such as ``<= -5``; else a pattern in which *
    matches any text, in upper or lower case. value: the severity or dimension to set; a * in it is replaced by the text
    that the first * of the pattern matched. Raises SettingsError if a value is not allowed.
    """

    sets: Target
    source: Source
    fits: str
    value: str

    def __post_init__(self) -> None:
        for name, choices in (("sets", get_args(Target)), ("source", get_args(Source))):
            require_choice(name, getattr(self, name), choices)
        for name in ("fits", "value"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name).strip():
                raise SettingsError(f"A rule that sets the {self.sets} lacks {name!r}: write a text there.")
        if self.source == "points":
            self.comparison()
        if "*" in self.value and (self.source == "points" or "*" not in self.fits):
            raise SettingsError(
                f"value = {self.value!r} has a * that stands for nothing: use * in the pattern too."
            )

    def comparison(self) -> tuple[str, float]:
        """The operator and the number of a comparison of points; raises SettingsError if ``fits`` is not one."""
        found = _COMPARISON.fullmatch(self.fits)
        if found is None:
            raise SettingsError(
                f"fits = {self.fits!r} is not a comparison of points: write one such as '<= -5'."
            )
        return found[1], float(found[2])


@dataclass(frozen=True)
class Loss:
    """The cost of one violation of a rubric that matches. For the order of systems only ratios of losses matter.

    task_type: of the rubric's query, "*" for any. severity: of the rubric, in upper or lower case, "*" for any. loss: a
    number of at least 0. Raises SettingsError if a value is not allowed.
    """

    task_type: TaskType
    severity: str
    loss: float

    def __post_init__(self) -> None:
        require_choice("task_type", self.task_type, get_args(TaskType))
        if not isinstance(self.severity, str) or not self.severity.strip():
            raise SettingsError("A loss lacks 'severity': write one, or * for any.")
        if not _is_number(self.loss) or self.loss < 0:
            raise SettingsError(f"loss = {self.loss!r} is out of range: expected a number of at least 0.")


Row = TypeVar("Row", Assignment, Loss)


@dataclass(frozen=True)
class ScoringRules:
    """The numbers of tab:tasktypes, with those of the paper as defaults, and their rubrics (docs/method.md §9).

    Parameters
    ----------
    actionability : float
        Emphasis of an actionability rubric in a decision-support query, > 0.
    creativity : float
        Emphasis of a creativity rubric in a creative query, > 0.
    moderate, critical : float
        Points of a failed rubric of that severity in a high-risk query, ≤ 0.
    assign : tuple of Assignment
        The first rule that matches a rubric sets its severity, and the first for dimensions its dimension; if none
        matches, the value in the file is kept.
    losses : tuple of Loss
        The first that matches a rubric gives the cost of its violation; if none matches, the cost is 0. Losses change
        no score (docs/method.md §15).

    Raises
    ------
    SettingsError
        A number is out of its range.

    """

    actionability: float = 5.0
    creativity: float = 3.0
    moderate: float = -0.3
    critical: float = -0.5
    assign: tuple[Assignment, ...] = ()
    losses: tuple[Loss, ...] = ()

    def __post_init__(self) -> None:
        for name in ("actionability", "creativity", "moderate", "critical"):
            value = getattr(self, name)
            is_emphasis = name in {"actionability", "creativity"}
            if not _is_number(value) or (value <= 0 if is_emphasis else value > 0):
                expected = "a number above 0" if is_emphasis else "a number of at most 0"
                raise SettingsError(f"{name} = {value!r} is out of range: expected {expected}.")

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; without the key losses if there are none."""
        values = asdict(self)
        if not self.losses:
            values.pop("losses")
        return values

    @classmethod
    def from_dict(cls, given: object) -> Self:
        """The rules from values in the form of ``as_dict``; missing values are those of the paper.

        Raises SettingsError, which names the fault.
        """
        values = _known_names(given, cls)
        assign = _listed(values, "assign", Assignment)
        return cls(**values | {"assign": assign, "losses": _listed(values, "losses", Loss)})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The rules from JSON text; raises SettingsError if it is not JSON, or not scoring rules."""
        try:
            given = json.loads(text)
        except ValueError as error:
            raise SettingsError(f"The scoring rules are not valid JSON: {error}.") from error
        return cls.from_dict(given)


def _listed(values: Mapping[str, Any], name: str, kind: type[Row]) -> tuple[Row, ...]:
    """The rules in the list ``name`` of ``values``, () if it is missing; raises SettingsError if it is not a list."""
    given = values.get(name, ())
    if not isinstance(given, list | tuple):
        raise SettingsError(f"{name} = {given!r} is not a list: write [] for none.")
    return tuple(_row(item, name, kind) for item in given)


def _row(given: object, name: str, kind: type[Row]) -> Row:
    values, wanted = _known_names(given, kind), [f.name for f in fields(kind)]
    if missing := [each for each in wanted if each not in values]:
        give = f"{', '.join(wanted[:-1])} and {wanted[-1]}"
        raise SettingsError(f"A rule in {name!r} lacks {missing[0]!r}: give {give}.")
    return kind(**values)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _known_names(given: object, kind: type[Assignment | Loss | ScoringRules]) -> dict[str, Any]:
    """``given`` as a dictionary; raises SettingsError if a key is not a field of ``kind``."""
    if not isinstance(given, Mapping):
        raise SettingsError(f"{given!r} is not a JSON object: write names and values in braces.")
    names = [f.name for f in fields(kind)]
    invalid = [name for name in given if name not in names]
    if invalid:
        raise SettingsError(f"{invalid[0]!r} is not a scoring rule: use {', '.join(names)}.")
    return dict(given)
