"""Scenarios: settings and filters of one dataset, saved under a name in its workspace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ...errors import DatasetError, SettingsError
from ...settings import Settings, read_structures
from ...text import listed
from .database import dataset_id_of

if TYPE_CHECKING:
    import duckdb

    from .database import Database

LONGEST = 80
"""Characters of a name, at most."""


@dataclass(frozen=True)
class Scenario:
    """Settings and filters saved under a name.

    settings: None if this version cannot read them; ``fault`` then gives the reason. page: the page to which the
    filters belong, "" for none. filters: parameter of that page's address → its values. saved_at: UTC.
    """

    name: str
    settings: Settings | None
    page: str = ""
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fault: str = ""
    saved_at: datetime | None = None


def save_scenario(workspace: Database, dataset: str, scenario: Scenario, *, replace: bool = False) -> None:
    """Save a scenario; DatasetError if another scenario has its name, unless ``replace``.

    Saving an identical scenario again has no effect and raises no error: the user may have clicked twice.
    """
    if scenario.settings is None:
        raise DatasetError(
            f"The scenario {scenario.name!r} has no settings: {scenario.fault or 'give some'}."
        )
    name = _checked(scenario.name)
    row = [name, _written(scenario.settings), scenario.page, json.dumps(dict(scenario.filters))]
    with workspace.writing() as cursor:
        dataset_id = dataset_id_of(cursor, dataset)
        if _there(cursor, dataset_id, name):
            if _unchanged(cursor, dataset_id, row):
                return
            if not replace:
                raise DatasetError(
                    f"There is a scenario {name!r} already: choose another name, or replace it (--replace)."
                )
            _remove(cursor, dataset_id, name)
        now = datetime.now(UTC).replace(tzinfo=None)
        cursor.execute("INSERT INTO scenarios VALUES (?, ?, ?, ?, ?, ?)", [dataset_id, *row, now])


def list_scenarios(workspace: Database, dataset: str) -> tuple[Scenario, ...]:
    """The scenarios of a dataset, sorted by name."""
    with workspace.reading() as cursor:
        found = cursor.execute(
            "SELECT name, settings, page, filters, saved_at FROM scenarios WHERE dataset_id = ? ORDER BY name",
            [dataset_id_of(cursor, dataset)],
        ).fetchall()
    return tuple(_read(*row) for row in found)


def find_scenario(workspace: Database, dataset: str, name: str) -> Scenario:
    """The scenario of that name; DatasetError if there is none, or if its settings cannot be read."""
    every = list_scenarios(workspace, dataset)
    for scenario in every:
        if scenario.name == name:
            if scenario.settings is None:
                raise DatasetError(f"The scenario {name!r} cannot be used: {scenario.fault}")
            return scenario
    raise DatasetError(_unknown(name, [s.name for s in every]))


def rename_scenario(workspace: Database, dataset: str, old: str, new: str) -> None:
    """Give a scenario another name, which no other scenario of the dataset has."""
    new = _checked(new)
    with workspace.writing() as cursor:
        dataset_id = _require(cursor, dataset, old)
        if new != old and _there(cursor, dataset_id, new):
            raise DatasetError(f"There is a scenario {new!r} already: choose another name.")
        cursor.execute(
            "UPDATE scenarios SET name = ? WHERE dataset_id = ? AND name = ?", [new, dataset_id, old]
        )


def delete_scenario(workspace: Database, dataset: str, name: str) -> None:
    """Remove a scenario; labels and results stay."""
    with workspace.writing() as cursor:
        _remove(cursor, _require(cursor, dataset, name), name)


def _checked(name: str) -> str:
    name = " ".join(name.split())
    if not name:
        raise DatasetError("The name of the scenario is blank: give it a name.")
    if len(name) > LONGEST:
        raise DatasetError(f"The name of the scenario has {len(name)} characters: use at most {LONGEST}.")
    return name


def _there(cursor: duckdb.DuckDBPyConnection, dataset_id: int, name: str) -> bool:
    found = cursor.execute("SELECT 1 FROM scenarios WHERE dataset_id = ? AND name = ?", [dataset_id, name])
    return found.fetchone() is not None


def _unchanged(cursor: duckdb.DuckDBPyConnection, dataset_id: int, row: list[str]) -> bool:
    """Whether a scenario with this name, settings, page and filters is already stored."""
    found = cursor.execute(
        "SELECT 1 FROM scenarios WHERE dataset_id = ? AND name = ? AND settings = ? AND page = ? AND filters = ?",
        [dataset_id, *row],
    )
    return found.fetchone() is not None


def _remove(cursor: duckdb.DuckDBPyConnection, dataset_id: int, name: str) -> None:
    cursor.execute("DELETE FROM scenarios WHERE dataset_id = ? AND name = ?", [dataset_id, name])


def _require(cursor: duckdb.DuckDBPyConnection, dataset: str, name: str) -> int:
    """The id of the dataset; DatasetError if it has no scenario of that name."""
    dataset_id = dataset_id_of(cursor, dataset)
    if not _there(cursor, dataset_id, name):
        rows = cursor.execute("SELECT name FROM scenarios WHERE dataset_id = ? ORDER BY name", [dataset_id])
        raise DatasetError(_unknown(name, [row[0] for row in rows.fetchall()]))
    return dataset_id


def _unknown(name: str, names: list[str]) -> str:
    there = f"there are {listed([repr(n) for n in names], 10)}" if names else "none is saved yet"
    return f"There is no scenario {name!r}: {there}."


def _written(settings: Settings) -> str:
    preset, told = settings.explicit()
    parts = {name: getattr(settings, name) for name in ("rules", "composition")}
    given = {name: part.as_dict() for name, part in parts.items() if part is not None}
    return json.dumps({"preset": preset, "settings": told, "priors": asdict(settings.priors), **given})


def _read(name: str, settings: str, page: str, filters: str, saved_at: datetime) -> Scenario:
    known = {key: tuple(values) for key, values in json.loads(filters).items()}
    try:
        return Scenario(name, _settings_of(json.loads(settings)), page, known, saved_at=saved_at)
    except (SettingsError, TypeError, KeyError) as error:
        fault = f"its settings are of another version of this program ({error})."
        return Scenario(name, None, page, known, fault, saved_at)


def _settings_of(found: Mapping[str, Any]) -> Settings:
    return Settings.preset(found["preset"], **found["settings"], **read_structures(found))
