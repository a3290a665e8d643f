"""The commands ``build``, ``experiment`` and ``report``: from labels to results."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..analysis.export import write_result
from ..analysis.pipeline import analyse, result_of, run_pipeline
from ..environment import recorded
from ..errors import DatasetError, WorkspaceError
from ..experiments import EXPERIMENTS, ExperimentResult, run_experiment, store_experiment, stored_experiment
from ..experiments.declaration import Experiment, spelled
from ..experiments.files import write_experiment
from ..experiments.parts import BlockSnapshot, blocks, find_block
from ..labels.store.snapshot import Snapshot
from ..placement.bank_file import write_bank
from ..placement.bank_scale import bank_scale_of
from ..reports.study import write_report
from ..workers import use_workers
from .composing import add_composition
from .options import (
    add_inputs,
    add_settings,
    add_workers,
    opened_dataset,
    opened_workspace,
    settings_of,
    workers_of,
)
from .parsers import Commands, add_command, folder
from .terminal import progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..labels.store.dataset import Dataset
    from ..labels.store.workspace import Workspace
    from ..settings import Settings


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    build = add_command(commands, "build", run_build)
    add_inputs(build)
    add_settings(build)
    add_composition(build)
    add_workers(build)
    build.add_argument("--out", required=True, type=folder, help="folder for the results")

    experiment = add_command(commands, "experiment", run_one_experiment)
    experiment.add_argument("name", choices=EXPERIMENTS, metavar="NAME", help=", ".join(EXPERIMENTS))
    experiment.epilog = "\n".join(_described(found) for found in EXPERIMENTS.values())
    experiment.formatter_class = argparse.RawDescriptionHelpFormatter
    add_inputs(experiment)
    add_settings(experiment)
    add_workers(experiment)
    part = _add_part(experiment)
    part.add_argument(
        "--each-block",
        action="store_true",
        help="once for every domain and every task type, each into a folder of its own",
    )
    experiment.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PARAMETER=VALUE",
        help="a parameter of the experiment (listed below); the result is then not kept in the workspace",
    )
    experiment.add_argument(
        "--again", action="store_true", help="run it even if the workspace keeps its result"
    )
    experiment.add_argument("--out", required=True, type=folder, help="folder for NAME.json and NAME.csv")

    report = add_command(commands, "report", run_report)
    add_inputs(report)
    add_settings(report)
    add_composition(report)
    add_workers(report)
    _add_part(report)
    report.add_argument(
        "--experiments",
        nargs="*",
        action="extend",
        choices=[*EXPERIMENTS, "all"],
        metavar="NAME",
        help="experiments to show, run where the workspace keeps no result; all for all (default: those kept)",
    )
    report.add_argument("--out", required=True, type=folder, help="folder for report.html and report.md")


def _add_part(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--domain", help="the queries of this domain alone, as a dataset of their own")
    part.add_argument("--task-type", metavar="TYPE", help="the queries of this task type alone")
    return part


def _part(dataset: Dataset, settings: Settings, args: argparse.Namespace) -> Dataset:
    """The dataset, or its block if ``--domain`` or ``--task-type`` names one."""
    if args.domain is not None:
        return BlockSnapshot(
            dataset, settings, find_block(dataset.queries, settings.tau_t, "domain", args.domain)
        )
    if args.task_type is not None:
        block = find_block(dataset.queries, settings.tau_t, "task type", args.task_type)
        return BlockSnapshot(dataset, settings, block)
    return dataset


def _described(experiment: Experiment) -> str:
    """The help text of one experiment: its title, its question, and its parameters with their defaults."""
    lines = [f"{experiment.name}: {experiment.title}", *textwrap.wrap(experiment.question, 96)]
    lines += [
        f"--set {name}={spelled(experiment.defaults[name])}: {parameter.text}"
        for name, parameter in experiment.parameters.items()
    ]
    return "\n  ".join(lines)


def run_build(args: argparse.Namespace) -> None:
    """Handle ``crubric build``: write the result and the bank, print the paths of the files, warnings on stderr."""
    settings = settings_of(args)
    with use_workers(workers_of(args)), opened_dataset(args) as dataset, progress_bar() as report_progress:
        analysis = analyse(dataset, settings, report_progress)
        result = result_of(analysis)
        panel = dataset.panel(settings.response) if dataset.has_labels else None
        bank = bank_scale_of(result, panel, analysis.transfer(), analysis.person_fit())
    for warning in result.warnings:
        print(f"note: {warning}", file=sys.stderr)
    print(" ".join(result.claims.headline), file=sys.stderr)
    for path in [*write_result(result, args.out), write_bank(bank, args.out)]:
        print(path)


def run_one_experiment(args: argparse.Namespace) -> None:
    """Handle ``crubric experiment``: run it, or take its stored result, and write the files.

    A result on a block or with ``--set`` is neither stored nor taken from the workspace.
    """
    settings, parameters = settings_of(args), EXPERIMENTS[args.name].read(args.set)
    with (
        use_workers(workers_of(args)),
        opened_workspace(args) as (workspace, name),
        progress_bar() as report_progress,
    ):
        if args.each_block:
            _run_each_block(workspace.dataset(name), settings, parameters, args, report_progress)
            return
        dataset = _part(workspace.dataset(name), settings, args)
        own = bool(parameters) or isinstance(dataset, BlockSnapshot)
        kept = None if args.again or own else stored_experiment(workspace, args.name, dataset, settings)
        if own:
            result = run_experiment(args.name, dataset, settings, progress=report_progress, **parameters)
        else:
            result = kept or _run_and_keep(workspace, dataset, args.name, settings, report_progress)
    if kept is not None:
        print(f"note: kept in the workspace; --again runs {args.name} again.", file=sys.stderr)
    _hand_over(result, args.out)


def _hand_over(result: ExperimentResult, folder: Path) -> None:
    """Print the sentences of a result on stderr, write its files into the folder, and print their paths."""
    for sentence in (
        *result.notices,
        EXPERIMENTS[result.name].headline(result),
        result.found,
        *result.limits,
    ):
        print(f"note: {sentence}", file=sys.stderr)
    for path in write_experiment(result, folder):
        print(path)


def _run_each_block(
    dataset: Dataset,
    settings: Settings,
    parameters: Mapping[str, Any],
    args: argparse.Namespace,
    report_progress: Callable[[float, str], None],
) -> None:
    """Run the experiment on every domain and every task type; report and skip a block with too little data."""
    whole = Snapshot(dataset, settings)
    found = list(blocks(whole.queries, settings.tau_t))
    if not found:
        raise DatasetError(f"No query of {dataset.name!r} has a domain or a task type.")
    for position, block in enumerate(found, start=1):
        print(f"note: {block.kind} {block.name}", file=sys.stderr)
        try:
            part = BlockSnapshot(whole, settings, block)
            result = run_experiment(args.name, part, settings, progress=report_progress, **parameters)
        except DatasetError as error:
            print(f"note: skipped. {error}", file=sys.stderr)
            continue
        slug = re.sub(r"[^\w-]+", "-", f"{block.kind} {block.name}").strip("-")
        _hand_over(result, args.out / f"{position:02}-{slug}")


def run_report(args: argparse.Namespace) -> None:
    """Handle ``crubric report``: write the analysis and its experiments as report.html and report.md.

    Without ``--experiments`` the report has those whose results are stored; those it names are run if necessary.
    """
    settings = settings_of(args)
    wanted = EXPERIMENTS if "all" in (args.experiments or ()) else args.experiments
    with (
        use_workers(workers_of(args)),
        opened_workspace(args) as (workspace, name),
        progress_bar() as report_progress,
    ):
        dataset = _part(workspace.dataset(name), settings, args)
        shown = []
        for experiment in EXPERIMENTS if wanted is None else wanted:
            found = stored_experiment(workspace, experiment, dataset, settings)
            if found is None and wanted is not None:
                found = _run_and_keep(workspace, dataset, experiment, settings, report_progress)
            shown += [found] if found is not None else []
        result = run_pipeline(dataset, settings, report_progress)
    for path in write_report(result, shown, recorded(*sys.argv[1:]), args.out):
        print(path)


def _run_and_keep(
    workspace: Workspace,
    dataset: Dataset,
    name: str,
    settings: Settings,
    report_progress: Callable[[float, str], None],
) -> ExperimentResult:
    """Run the experiment and store its result; if it is on a block or cannot be stored, the result is only returned."""
    result = run_experiment(name, dataset, settings, progress=report_progress)
    if isinstance(dataset, BlockSnapshot):  # not in the workspace: the result would never be found
        return result
    try:
        store_experiment(workspace, result)
    except WorkspaceError as error:  # hours of work are not lost to a full disk: they are written to --out
        print(f"note: the result of {name} is not kept in the workspace. {error}", file=sys.stderr)
    return result
