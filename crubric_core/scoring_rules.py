"""How queries of each task type are scored (tab:tasktypes, docs/method.md §9): a dataset may have its own rules."""

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
    """Gives every rubric that fits a severity or a dimension, whatever its file says.

    sets: severity or dimension. source: where to look: points (the weight in the file), tags (any one of them) or
    another column of the rubrics. fits: for points a comparison such as ``<= -5``; else a pattern in any case, in
    which * stands for anything. value: the name to give, in which * stands for what the pattern's first * stood for.
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
        """What points are compared by, and with; SettingsError where ``fits`` is no comparison."""
        found = _COMPARISON.fullmatch(self.fits)
        if found is None:
            raise SettingsError(
                f"fits = {self.fits!r} is not a comparison of points: write one such as '<= -5'."
            )
        return found[1], float(found[2])


@dataclass(frozen=True)
class Loss:
    """What one violated rubric costs, of the rubrics that fit; only the ratios of the losses matter for any order.

    task_type: of its query. severity: of the rubric, in any case. Of both, * is any. loss: a number of at least 0.
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
    """The numbers of tab:tasktypes, the paper's as defaults, and which rubrics they touch (docs/method.md §9).

    Parameters
    ----------
    actionability : float
        Emphasis of an actionability rubric in a decision-support query, > 0.
    creativity : float
        Emphasis of a creativity rubric in a creative query, > 0.
    moderate, critical : float
        Points of a failed rubric of that severity in a high-risk query, ≤ 0.
    assign : tuple of Assignment
        The first that fits a rubric gives its severity, and its dimension; where none fits the file's stays.
    losses : tuple of Loss
        The first that fits a rubric says what its violation costs; where none fits it costs nothing. They change no
        score (docs/method.md §15).

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
        """Plain values for JSON; losses only where there are any."""
        values = asdict(self)
        if not self.losses:
            values.pop("losses")
        return values

    @classmethod
    def from_dict(cls, given: object) -> Self:
        """From ``as_dict``'s values, missing ones as in the paper; SettingsError names what is wrong."""
        values = _known_names(given, cls)
        assign = _listed(values, "assign", Assignment)
        return cls(**values | {"assign": assign, "losses": _listed(values, "losses", Loss)})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """From JSON text; SettingsError where it is none, or holds something else."""
        try:
            given = json.loads(text)
        except ValueError as error:
            raise SettingsError(f"The scoring rules are not valid JSON: {error}.") from error
        return cls.from_dict(given)


def _listed(values: Mapping[str, Any], name: str, kind: type[Row]) -> tuple[Row, ...]:
    """The rules in the list ``name`` of ``values``."""
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
    """``given`` as a dictionary that names fields of ``kind`` alone."""
    if not isinstance(given, Mapping):
        raise SettingsError(f"{given!r} is not a JSON object: write names and values in braces.")
    names = [f.name for f in fields(kind)]
    invalid = [name for name in given if name not in names]
    if invalid:
        raise SettingsError(f"{invalid[0]!r} is not a scoring rule: use {', '.join(names)}.")
    return dict(given)
