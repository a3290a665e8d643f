"""What an experiment declares of itself; page, command line, report, docs and figures read it from here.

A module of this room that holds ``EXPERIMENT = Experiment(…)`` is an experiment: the registry finds it.
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
    """One column of a table, as people read it.

    format: a printf format ("%.3f"), "percent", "localized" (a whole number), "mixed" (whole numbers whole, others
    to four digits), "p" (a p-value), "check" (yes or no), or "" for text. words: what a value is called. unknown:
    what stands in place of NaN. on_page: whether the page shows it; reports show every column.
    """

    title: str
    format: str = ""
    help: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    unknown: str = UNKNOWN
    on_page: bool = True

    @property
    def is_number(self) -> bool:
        """Whether the page can leave it to the browser as a number: it sorts by value."""
        return self.format not in ("", "p", "check", "mixed") and self.unknown == UNKNOWN and not self.words

    def text(self, value: Any) -> str:
        """The value in words."""
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
    """A column of numbers."""
    return ResultColumn(title, form, about)


def hidden(title: str, form: str = "%.3f") -> ResultColumn:
    """A column of numbers for reports alone."""
    return ResultColumn(title, form, on_page=False)


LOW, HIGH = number("from"), number("to")
RHO = number("ρ", about="Spearman's rank correlation")
P_VALUE = ResultColumn("p", "p")


@dataclass(frozen=True)
class ResultTable:
    """One table of a result: its title, its columns in order, a sentence on how to read it, and where it is shown."""

    title: str
    columns: Mapping[str, ResultColumn]
    caption: str = ""
    on_page: bool = True

    def shown(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame with words where the number alone would be misread; declared columns first to last."""
        named = {
            name: frame[name].map(column.text)
            for name, column in self.columns.items()
            if name in frame and not column.is_number and column.format != "check"
        }
        return frame.assign(**named)

    def column(self, name: str) -> ResultColumn:
        """The declaration of a column; a plain one where it has none."""
        return self.columns.get(name, ResultColumn(name.replace("_", " ")))


@dataclass(frozen=True)
class Chart:
    """A figure of a result, drawn from a table by its columns, or by the function named ``draw`` in ``figures``.

    table: the main one unless named. x, y: its columns; several y give a line each. low, high: the interval of y.
    series: column whose values get a line each. rows: y of every value of this column in a row of its own, compared
    with ``line``. where: column → value of the rows to show. log: of the x axis. marks: points without a line.
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

    name: what the command line calls it. question: what it asks, for a reader who does not know it. run: dataset and
    Settings in, a result out, with progress, cancel and the parameters by name. tables: name in the result → table,
    the main one first. headline: what a result says, in one sentence derived from its numbers. charts: the first one
    large. parameters: name → meaning and what is allowed, of a sequence each value; the defaults are those of ``run``.
    order: its place in lists, then by name.
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
        """Parameter → default, as ``run`` has them."""
        known = inspect.signature(self.run).parameters
        return {name: known[name].default for name in self.parameters}

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        """Parameters as a person types them, "splits=5" or "flips=0.1,0.2"; raises SettingsError with the remedy."""
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
        """SettingsError for a parameter that it does not have, or a value that is not allowed."""
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
        """Run it.

        Raises CancelledError where ``cancel`` says so, SettingsError for a parameter that it does not have, or a
        value that is not allowed.
        """
        self._check(parameters)
        return self.run(ds, settings, progress=progress, cancel=cancel, **parameters)

    def __post_init__(self) -> None:
        """Declared parameters are those of the function."""
        taken = set(inspect.signature(self.run).parameters) - set(_GIVEN_BY_ALL)
        if unknown := set(self.parameters) - taken:
            raise TypeError(f"{self.name}: run takes no {', '.join(sorted(unknown))}.")


def spelled(value: object) -> str:
    """A parameter's value as a person types it."""
    return ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


def _read(text: str, default: Any) -> Any:
    """The value that a text spells, of the default's kind; ValueError where it spells none."""
    if isinstance(default, (tuple, list)):
        return tuple(_read(part, default[0]) for part in text.split(","))
    return type(default)(text)
