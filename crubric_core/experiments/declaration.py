"""Declarations of experiments, which pages, command line, reports, docs and figures read.

A module of this package that has ``EXPERIMENT = Experiment(…)`` is an experiment: the registry finds it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ..declarations import Parameter
from ..errors import SettingsError
from ..labels.store.dataset import Dataset
from ..settings import Settings
from ..text import numeral
from ..types import Cancel, Progress
from .results import ExperimentResult

UNKNOWN = "—"
_GIVEN_BY_ALL = ("ds", "settings", "progress", "cancel")


@dataclass(frozen=True)
class ResultColumn:
    """One column of a table of results.

    title: its heading. format: a printf format ("%.3f"), "percent", "localized" (a whole number), "mixed" (whole
    numbers, or four significant digits), "p" (a p-value), "check" (yes or no), or "" for text. words: value → text to
    show. unknown: text to show for NaN. on_page: whether the page shows it; reports show all columns.
    """

    title: str
    format: str = ""
    help: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    unknown: str = UNKNOWN
    on_page: bool = True

    @property
    def is_number(self) -> bool:
        """Whether the page can pass its values to the browser as numbers, which then sorts by value."""
        return self.format not in ("", "p", "check", "mixed") and self.unknown == UNKNOWN and not self.words

    def text(self, value: Any) -> str:
        """The value as text."""
        if pd.isna(value):
            return self.unknown
        if str(value) in self.words:
            return self.words[str(value)]
        if self.format == "check":
            return "yes" if value else "no"
        if self.format == "p":
            return "< 0.001" if value < 0.001 else f"{value:.3f}"
        if self.format == "percent":
            return f"{value:.1%}"
        if self.format == "localized":
            return f"{value:,.0f}"
        if self.format == "mixed":
            return numeral(value, "z,.0f" if float(value).is_integer() else ".4g")
        return self.format % value if self.format else str(value)


def number(title: str, form: str = "%.3f", about: str = "") -> ResultColumn:
    """A column of numbers. form: its format. about: its help."""
    return ResultColumn(title, form, about)


def hidden(title: str, form: str = "%.3f") -> ResultColumn:
    """A column of numbers that only reports show."""
    return ResultColumn(title, form, on_page=False)


LOW, HIGH = number("from"), number("to")
RHO = number("ρ", about="Spearman's rank correlation")
P_VALUE = ResultColumn("p", "p")


@dataclass(frozen=True)
class ResultTable:
    """One table of a result.

    columns: name → declaration, in order. caption: how to read it. on_page: whether the page shows it.
    """

    title: str
    columns: Mapping[str, ResultColumn]
    caption: str = ""
    on_page: bool = True

    def shown(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame with declared columns as text, except checks and the numbers that the browser can format."""
        named = {
            name: frame[name].map(column.text)
            for name, column in self.columns.items()
            if name in frame and not column.is_number and column.format != "check"
        }
        return frame.assign(**named)

    def column(self, name: str) -> ResultColumn:
        """The declaration of a column; if it has none, one with the name as title."""
        return self.columns.get(name, ResultColumn(name.replace("_", " ")))


@dataclass(frozen=True)
class Chart:
    """A figure of a result, drawn from a table by its columns, or by the function named ``draw`` in ``figures``.

    table: its name; "": the main table. x, y: names of columns; each y is a line. low, high: columns with the interval
    of y. series: column; each of its values is a line. rows: column; each of its values is a row of the chart, with y
    on the horizontal axis and a vertical line at ``line``. where: column → value of the rows to show. log: whether the
    x axis is logarithmic. marks: whether points have no line.
    """

    title: str
    table: str = ""
    x: str = ""
    y: tuple[str, ...] = ()
    low: str = ""
    high: str = ""
    series: str = ""
    rows: str = ""
    where: Mapping[str, object] = field(default_factory=dict)
    x_title: str = ""
    y_title: str = ""
    line: float | None = None
    log: bool = False
    marks: bool = False
    draw: str = ""


@dataclass(frozen=True)
class Experiment:
    """One experiment.

    name: its name on the command line. question: the question that it answers, for readers who do not know it. run: a
    function of dataset and Settings that returns the result, with progress, cancel and the parameters as keywords.
    tables: name in the result → table, the main one first. headline: a function that returns one sentence about a
    result, from its numbers. charts: the first one is shown large. parameters: name → meaning and allowed values (of
    each element of a sequence); the defaults are those of ``run``. order: position in lists, then by name.
    """

    name: str
    title: str
    question: str
    run: Callable[..., ExperimentResult]
    tables: Mapping[str, ResultTable]
    headline: Callable[[ExperimentResult], str]
    charts: tuple[Chart, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    order: int = 100

    @property
    def defaults(self) -> dict[str, Any]:
        """Parameter → default, from the signature of ``run``."""
        known = inspect.signature(self.run).parameters
        return {name: known[name].default for name in self.parameters}

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        """Parse parameters in the form that users type, "splits=5" or "flips=0.1,0.2"; raises SettingsError."""
        found = {}
        for word in words:
            name, _, text = word.partition("=")
            self._declared(name)
            default = self.defaults[name]
            try:
                found[name] = _read(text, default)
            except ValueError:
                raise SettingsError(
                    f"{word!r} is not understood: expected {name}= and a value such as {spelled(default)}."
                ) from None
        self._check(found)
        return found

    def _declared(self, name: str) -> Parameter:
        if name in self.parameters:
            return self.parameters[name]
        known = ", ".join(self.parameters)
        raise SettingsError(
            f"The experiment {self.name} has no parameter {name!r}: "
            + (f"use one of {known}." if known else "it takes none.")
        )

    def _check(self, parameters: Mapping[str, Any]) -> None:
        """Raise SettingsError for a parameter that the experiment does not have, or a value that is not allowed."""
        for name, value in parameters.items():
            parameter = self._declared(name)
            for one in value if isinstance(self.defaults[name], (tuple, list)) else (value,):
                parameter.check(name, one)

    def __call__(
        self,
        ds: Dataset,
        settings: Settings,
        *,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
        **parameters: Any,
    ) -> ExperimentResult:
        """Run the experiment.

        Raises CancelledError if ``cancel`` returns True, and SettingsError for a parameter that the experiment does not
        have, or a value that is not allowed.
        """
        self._check(parameters)
        return self.run(ds, settings, progress=progress, cancel=cancel, **parameters)

    def __post_init__(self) -> None:
        """Raise TypeError if a declared parameter is not a parameter of ``run``."""
        taken = set(inspect.signature(self.run).parameters) - set(_GIVEN_BY_ALL)
        if unknown := set(self.parameters) - taken:
            raise TypeError(f"{self.name}: run takes no {', '.join(sorted(unknown))}.")


def spelled(value: object) -> str:
    """A parameter's value in the form that users type."""
    return ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


def _read(text: str, default: Any) -> Any:
    """Parse a value of the type of the default; raises ValueError if the text is not one."""
    if isinstance(default, (tuple, list)):
        return tuple(_read(part, default[0]) for part in text.split(","))
    return type(default)(text)
