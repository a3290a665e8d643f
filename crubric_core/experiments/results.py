"""The result of an experiment, and its progress and cancellation while it runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import pandas as pd

from ..errors import CrubricError
from ..settings import Settings
from ..text import numeral
from ..types import Cancel, Progress


class CancelledError(CrubricError):
    """The experiment was cancelled; no part of its result is stored."""


@dataclass(frozen=True)
class ExperimentWatch:
    """The callbacks for progress and cancellation of an experiment; in another process there are none."""

    progress: Progress | None = None
    cancel: Cancel | None = None

    def __reduce__(self) -> tuple[type[ExperimentWatch], tuple[()]]:
        """Pickle without the callbacks."""
        return ExperimentWatch, ()

    def step(self, share: float, what: str) -> None:
        """Report progress, with ``share`` in [0, 1]; raises CancelledError if the experiment was cancelled."""
        if self.cancel is not None and self.cancel():
            raise CancelledError("The experiment was cancelled; nothing of it was stored.")
        if self.progress is not None:
            self.progress(share, what)


@dataclass(frozen=True)
class ExperimentResult:
    """The result of one experiment on one dataset.

    name: its name in EXPERIMENTS. dataset, fingerprint: name and content hash of the dataset. settings: all Settings,
    including the seed. options: parameters and other numbers of the experiment. tables: name → table, the main one
    first; NaN unknown. notices: warnings to read first (one judge, two judges, few systems). found: what was found.
    limits: what cannot be concluded from it.
    """

    name: str
    dataset: str
    fingerprint: str
    settings: Mapping[str, Any]
    options: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame]
    notices: tuple[str, ...]
    found: str
    limits: tuple[str, ...]

    @property
    def seed(self) -> int:
        """The seed of all random numbers of the experiment."""
        return int(self.settings["seed"])

    def frame(self) -> pd.DataFrame:
        """The main table."""
        return next(iter(self.tables.values()))

    def sentences(self) -> tuple[str, ...]:
        """The notices, what was found, and the limits, in reading order."""
        return (*self.notices, self.found, *self.limits)

    def to_json_dict(self) -> dict[str, Any]:
        """Plain values for a JSON file; unknown numbers become null."""
        return {
            "name": self.name,
            "dataset": self.dataset,
            "fingerprint": self.fingerprint,
            "settings": _plain(self.settings),
            "options": _plain(self.options),
            "notices": list(self.notices),
            "found": self.found,
            "limits": list(self.limits),
            "tables": {name: _table_to_json(table) for name, table in self.tables.items()},
        }

    @classmethod
    def from_json_dict(cls, content: Mapping[str, Any]) -> Self:
        """The result from values that ``to_json_dict`` returned."""
        return cls(
            name=content["name"],
            dataset=content["dataset"],
            fingerprint=content["fingerprint"],
            settings=content["settings"],
            options=content["options"],
            tables={name: _table_from_json(table) for name, table in content["tables"].items()},
            notices=tuple(content["notices"]),
            found=content["found"],
            limits=tuple(content["limits"]),
        )


def settings_record(settings: Settings) -> dict[str, Any]:
    """Settings as plain JSON values, without a composition, which experiments ignore."""
    return dict(_plain(replace(settings, composition=None).as_dict()))


def records(table: pd.DataFrame, key: str) -> dict[str, dict[Any, Any]]:
    """Map the value of the column ``key`` of each row, as text, to the row."""
    return {str(row[key]): row for row in table.to_dict("records")}


def compared(low: float, high: float, above: str, below: str, neither: str) -> str:
    """``above`` if the interval of a difference is above 0, ``below`` if it is below 0, else ``neither``."""
    return above if low > 0 else below if high < 0 else neither


def num(value: float, digits: int = 3) -> str:
    """A number as text for a sentence; — if it is NaN."""
    return "—" if math.isnan(value) else numeral(value, f"z.{digits}f")


def span(low: float, high: float, digits: int = 3) -> str:
    """An interval as text for a sentence."""
    return f"[{num(low, digits)}, {num(high, digits)}]"


def _plain(value: Any) -> Any:
    """The value in types that JSON has; NaN and infinity become None."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _table_to_json(table: pd.DataFrame) -> dict[str, Any]:
    return {
        "columns": [str(column) for column in table.columns],
        "dtypes": [str(dtype) for dtype in table.dtypes],
        "rows": [[_plain(value) for value in row] for row in table.itertuples(index=False, name=None)],
    }


def _table_from_json(content: Mapping[str, Any]) -> pd.DataFrame:
    table = pd.DataFrame(content["rows"], columns=content["columns"], dtype=object)
    return table.astype(dict(zip(content["columns"], content["dtypes"], strict=True)))
