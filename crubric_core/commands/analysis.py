"""From labels to answers: build, experiment, report."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..analysis.export import write_result
from ..analysis.pipeline import run_pipeline
from ..environment import recorded
from ..errors import WorkspaceError
from ..experiments import EXPERIMENTS, ExperimentResult, run_experiment, store_experiment, stored_experiment
from ..experiments.files import write_experiment
from ..placement.bank_file import write_bank
from ..reports.study import write_report
from .options import (
    Commands,
    add_command,
    add_inputs,
    add_settings,
    opened_dataset,
    opened_workspace,
    settings_of,
)
from .terminal import progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..labels.store.dataset import Dataset
    from ..labels.store.workspace import Workspace
    from ..settings import Settings


def add(commands: Commands) -> None:
    """The commands of this file."""
    build = add_command(commands, "build", run_build)
    add_inputs(build)
    add_settings(build)
    build.add_argument("--out", required=True, type=Path, help="folder for the results")

    experiment = add_command(commands, "experiment", run_one_experiment)
    experiment.add_argument("name", choices=EXPERIMENTS, metavar="NAME", help=", ".join(EXPERIMENTS))
    add_inputs(experiment)
    add_settings(experiment)
    experiment.add_argument(
        "--again", action="store_true", help="run it even if the workspace keeps its result"
    )
    experiment.add_argument("--out", required=True, type=Path, help="folder for NAME.json and NAME.csv")

    report = add_command(commands, "report", run_report)
    add_inputs(report)
    add_settings(report)
    report.add_argument(
        "--experiments",
        nargs="*",
        choices=[*EXPERIMENTS, "all"],
        metavar="NAME",
        help="experiments to show, run where the workspace keeps no result; all for all (default: those kept)",
    )
    report.add_argument("--out", required=True, type=Path, help="folder for report.html and report.md")


def run_build(args: argparse.Namespace) -> None:
    """Build."""
    settings = settings_of(args)
    with opened_dataset(args) as dataset, progress_bar() as report_progress:
        result = run_pipeline(dataset, settings, report_progress)
        panel = dataset.panel(settings.response)
    for warning in result.warnings:
        print(f"note: {warning}", file=sys.stderr)
    for path in [*write_result(result, args.out), write_bank(result, panel, args.out)]:
        print(path)


def run_one_experiment(args: argparse.Namespace) -> None:
    """Experiment."""
    settings = settings_of(args)
    with opened_workspace(args) as (workspace, name), progress_bar() as report_progress:
        dataset = workspace.dataset(name)
        kept = not args.again and stored_experiment(workspace, args.name, dataset, settings) is not None
        result = _kept_or_run(workspace, dataset, args.name, settings, report_progress, again=args.again)
    if kept:
        print(f"note: kept in the workspace; --again runs {args.name} again.", file=sys.stderr)
    for sentence in result.sentences():
        print(f"note: {sentence}", file=sys.stderr)
    for path in write_experiment(result, args.out):
        print(path)


def run_report(args: argparse.Namespace) -> None:
    """Report."""
    settings = settings_of(args)
    wanted = EXPERIMENTS if "all" in (args.experiments or ()) else args.experiments
    with opened_workspace(args) as (workspace, name), progress_bar() as report_progress:
        dataset = workspace.dataset(name)
        kept = [stored_experiment(workspace, found, dataset, settings) for found in EXPERIMENTS]
        shown = (
            [found for found in kept if found is not None]
            if wanted is None
            else [_kept_or_run(workspace, dataset, found, settings, report_progress) for found in wanted]
        )
        result = run_pipeline(dataset, settings, report_progress)
    for path in write_report(result, shown, recorded(*sys.argv[1:]), args.out):
        print(path)


def _kept_or_run(
    workspace: Workspace,
    dataset: Dataset,
    name: str,
    settings: Settings,
    report_progress: Callable[[float, str], None],
    *,
    again: bool = False,
) -> ExperimentResult:
    """The result that the workspace keeps, or a new one, which it keeps from then on where it can."""
    kept = None if again else stored_experiment(workspace, name, dataset, settings)
    if kept is not None:
        return kept
    result = run_experiment(name, dataset, settings, progress=report_progress)
    try:
        store_experiment(workspace, result)
    except WorkspaceError as error:  # hours of work are not lost to a full disk: they are written to --out
        print(f"note: the result of {name} is not kept in the workspace. {error}", file=sys.stderr)
    return result
