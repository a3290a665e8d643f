"""The experiments by name, as the command line and the page ask for them."""

from __future__ import annotations

from typing import Protocol

from ..analysis.stages import with_rules
from ..errors import SettingsError
from ..labels.store.dataset import Dataset
from ..labels.store.results import load_result, save_result
from ..labels.store.workspace import Workspace
from ..settings import Settings
from ..types import Cancel, Progress
from .ablation import ablation
from .attrition import attrition
from .crossfit import crossfit
from .held_out_systems import held_out_systems
from .perturbation import perturbation
from .results import ExperimentResult, settings_record
from .stability import stability
from .threshold_sweep import sweep


class Experiment(Protocol):
    """A dataset and Settings in, a result out; raises CancelledError where ``cancel`` says so."""

    def __call__(
        self,
        ds: Dataset,
        settings: Settings,
        *,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> ExperimentResult:
        """Run it; ``progress`` hears (share done, what is done now)."""


EXPERIMENTS: dict[str, Experiment] = {
    "crossfit": crossfit,
    "new_systems": held_out_systems,
    "sweep": sweep,
    "perturbation": perturbation,
    "ablation": ablation,
    "attrition": attrition,
    "stability": stability,
}


def run_experiment(
    name: str,
    ds: Dataset,
    settings: Settings,
    *,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> ExperimentResult:
    """The named experiment on one dataset."""
    if name not in EXPERIMENTS:
        raise SettingsError(f"There is no experiment {name!r}: use one of {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name](ds, settings, progress=progress, cancel=cancel)


def stored_experiment(
    workspace: Workspace, name: str, ds: Dataset, settings: Settings
) -> ExperimentResult | None:
    """The result that the workspace keeps of this experiment on this content with these settings, or None."""
    content = load_result(workspace, ds.fingerprint, name, settings_record(with_rules(ds, settings)))
    return None if content is None else ExperimentResult.from_json_dict(content)


def store_experiment(workspace: Workspace, result: ExperimentResult) -> None:
    """Keep a result in the workspace under its dataset's fingerprint, its settings and its seed."""
    save_result(workspace, result.fingerprint, result.name, result.settings, result.to_json_dict())
