"""The commands that produce the same result, and the same report, in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...environment import recorded, typed
from ...settings import Priors, Settings

if TYPE_CHECKING:
    from collections.abc import Sequence


def command(name: str, workspace: str, dataset: str, settings: Settings) -> str:
    """The command that produces the same result. settings: without rules if they are the dataset's own."""
    return typed(*_spelled(["experiment", name], workspace, dataset, settings, name))


def report_command(names: Sequence[str], workspace: str, dataset: str, settings: Settings) -> str:
    """The command that produces the same report. names: of the experiments in it."""
    words = _spelled(["report", "--experiments", *names], workspace, dataset, settings, "report")
    return recorded(*words, *(["--composition", "composition.json"] if settings.composition else []))


def _spelled(what: Sequence[str], workspace: str, dataset: str, settings: Settings, out: str) -> list[str]:
    words = [*what, "--workspace", workspace, "--dataset", dataset]
    preset, overrides = settings.explicit()
    words += [] if preset == "robust" else ["--preset", preset]
    for name, value in overrides.items():
        option = name.replace("_", "-")
        words += (
            [f"--{'' if value else 'no-'}{option}"]
            if isinstance(value, bool)
            else [f"--{option}", "none" if value is None else str(value)]
        )
    for option, value in (("--log-a-sd", settings.priors.log_a_sd), ("--b-sd", settings.priors.b_sd)):
        words += [] if value == getattr(Priors(), option[2:].replace("-", "_")) else [option, str(value or 0)]
    words += [] if settings.priors.c_beta else ["--no-c-prior"]
    words += [] if settings.rules is None else ["--rules", "rules.json"]
    return [*words, "--out", out]
