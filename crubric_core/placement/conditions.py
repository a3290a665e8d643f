"""Conditions on a placement or a leaderboard, for a gate in continuous integration: which of them hold."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import PlacementError
from ..files import read_csv
from ..text import listed

NAMES = (
    *("theta", "theta_low", "theta_high", "rank", "rank_low", "rank_high", "tier"),
    *("score", "answered", "person_fit"),
)
"""Columns that a condition may be about, as far as the file has them."""


@dataclass(frozen=True)
class Condition:
    """A condition on a system: ``name`` is at least or at most ``limit``, or the system is not behind another.

    kind: "under" fails if the value is below the limit, "over" if it is above, "behind" if the system is separated
    below the system ``name``.
    """

    kind: str
    name: str
    limit: float = math.nan

    def __str__(self) -> str:
        if self.kind == "behind":
            return f"not behind {self.name}"
        return f"{self.name} {'>=' if self.kind == 'under' else '<='} {self.limit:g}"


@dataclass(frozen=True)
class CheckedCondition:
    """One condition checked on one system.

    value: from the file; None if unknown, and then the condition does not hold.
    """

    system: str
    condition: Condition
    value: float | None
    holds: bool


def read_limit(kind: str, text: str) -> Condition:
    """Parse ``rank=3`` as a condition of a kind; raises PlacementError if it is malformed."""
    name, _, value = text.partition("=")
    try:
        limit = float(value)
    except ValueError:
        limit = math.nan
    if name not in NAMES or math.isnan(limit):
        raise PlacementError(
            f"--fail-{kind} {text!r} is not NAME=NUMBER: write for instance theta=0.5, with one of {listed(NAMES, 20)}."
        )
    return Condition(kind, name, limit)


def read_systems(path: Path) -> list[dict[str, Any]]:
    """The systems of placement.json, of leaderboard.csv, or of the folder of one of them; raises PlacementError."""
    file = path
    if path.is_dir():
        file = next((path / n for n in ("placement.json", "leaderboard.csv") if (path / n).exists()), path)
    try:
        if file.suffix == ".csv":
            rows: list[dict[str, Any]] = [
                {str(k): v for k, v in row.items()} for row in read_csv(file).to_dict("records")
            ]
        else:
            rows = json.loads(file.read_text(encoding="utf-8"))["systems"]
        _require_ranks(rows)
    except OSError as error:
        raise PlacementError(
            f"{path} cannot be read ({error.strerror}): name a placement.json, a leaderboard.csv, or their folder."
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise PlacementError(
            f"{file} holds no placement and no leaderboard ({type(error).__name__}: {error}): run `place` or `build`."
        ) from error
    return rows


def _require_ranks(rows: list[dict[str, Any]]) -> None:
    if not rows or any("system" not in row or "rank" not in row for row in rows):
        raise ValueError("no systems with ranks")


def judge(
    rows: Sequence[Mapping[str, Any]], systems: Sequence[str], conditions: Sequence[Condition]
) -> list[CheckedCondition]:
    """Check every condition on each of ``systems``, on all if empty; raises PlacementError if one is missing."""
    known = {str(row["system"]): row for row in rows}
    absent = [name for name in systems if name not in known]
    if absent:
        raise PlacementError(f"There is no system {absent[0]!r}: the file has {listed(list(known), 5)}.")
    return [_verdict(known[name], condition) for name in systems or known for condition in conditions]


def _verdict(row: Mapping[str, Any], condition: Condition) -> CheckedCondition:
    system = str(row["system"])
    if condition.kind == "behind":
        ahead = row.get("p_ahead_of")
        if not isinstance(ahead, Mapping):
            raise PlacementError(
                f"Whether {system!r} is behind {condition.name!r} is not known: name a placement among reference "
                "systems (`place` writes it)."
            )
        if condition.name not in ahead:
            raise PlacementError(
                f"There is no reference system {condition.name!r}: the placement of {system!r} has {listed([*ahead])}."
            )
        share = _number(ahead[condition.name])
        separated = condition.name not in row.get("not_told_apart_from", ())
        return CheckedCondition(
            system, condition, share, share is not None and not (separated and share < 0.5)
        )
    if condition.name not in row:
        raise PlacementError(f"The file has no {condition.name!r} of {system!r}.")
    value = _number(row[condition.name])
    below = condition.kind == "under"
    holds = value is not None and (value >= condition.limit if below else value <= condition.limit)
    return CheckedCondition(system, condition, value, holds)


def _number(value: Any) -> float | None:
    """The number, or None if it is unknown: an empty cell, null, NaN."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or math.isnan(value):
        return None
    return float(value)
