"""The experiments by name: all modules of this package that declare one (``declaration.py``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from ..analysis.fitted import with_rules
from ..analysis.lasting import program
from ..errors import SettingsError
from ..labels.store.dataset import Dataset
from ..labels.store.results import load_result, save_result
from ..labels.store.workspace import Workspace
from ..settings import Settings
from ..types import Cancel, Progress
from .declaration import Experiment
from .results import ExperimentResult, settings_record


def declared(package: str) -> dict[str, Experiment]:
    """Name → experiment for all that the modules of a package declare, sorted by ``order``, then by name."""
    names = sorted(found.name for found in iter_modules(import_module(package).__path__))
    modules = [import_module(f"{package}.{name}") for name in names if f"{package}.{name}" != __name__]
    found = [m.EXPERIMENT for m in modules if isinstance(getattr(m, "EXPERIMENT", None), Experiment)]
    return {experiment.name: experiment for experiment in sorted(found, key=lambda e: (e.order, e.name))}


EXPERIMENTS = declared(__name__.rpartition(".")[0])


def run_experiment(
    name: str,
    ds: Dataset,
    settings: Settings,
    *,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    **parameters: Any,
) -> ExperimentResult:
    """Run the named experiment on a dataset; a composition in the settings is ignored.

    parameters: as the experiment declares them. Raises SettingsError if the name or a parameter is not known.
    """
    if name not in EXPERIMENTS:
        raise SettingsError(f"There is no experiment {name!r}: use one of {', '.join(EXPERIMENTS)}.")
    settings = replace(settings, composition=None)
    return EXPERIMENTS[name](ds, settings, progress=progress, cancel=cancel, **parameters)


def stored_experiment(
    workspace: Workspace, name: str, ds: Dataset, settings: Settings
) -> ExperimentResult | None:
    """The stored result of this experiment for this dataset's content, these settings and this program, or None."""
    content = load_result(
        workspace, ds.fingerprint, name, _made_by(settings_record(with_rules(ds, settings)))
    )
    return None if content is None else replace(ExperimentResult.from_json_dict(content), dataset=ds.name)


def store_experiment(workspace: Workspace, result: ExperimentResult) -> None:
    """Store a result in the workspace, by its dataset's fingerprint, its settings (with the seed) and this program."""
    save_result(workspace, result.fingerprint, result.name, _made_by(result.settings), result.to_json_dict())


def _made_by(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with the version of the program: another version may compute other numbers."""
    return {**settings, "program": program()}
