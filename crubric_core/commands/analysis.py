"""From labels to answers: build, experiment."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..experiments import EXPERIMENTS, run_experiment
from ..experiments.files import write_experiment
from ..exports import write_result
from ..pipeline import run_pipeline
from .options import Commands, add_command, add_inputs, add_settings, opened_dataset, settings_of
from .terminal import progress_bar


def add(commands: Commands) -> None:
    """The commands of this file."""
    build = add_command(commands, "build", run_build, "from labels to a bank and a tiered leaderboard")
    add_inputs(build)
    add_settings(build)
    build.add_argument("--out", required=True, type=Path, help="folder for the results")

    experiment = add_command(commands, "experiment", run_one_experiment, "does it hold on these labels?")
    experiment.add_argument("name", choices=EXPERIMENTS, metavar="NAME", help=", ".join(EXPERIMENTS))
    add_inputs(experiment)
    add_settings(experiment)
    experiment.add_argument("--out", required=True, type=Path, help="folder for NAME.json and NAME.csv")


def run_build(args: argparse.Namespace) -> None:
    """Build."""
    settings = settings_of(args)
    with opened_dataset(args) as dataset, progress_bar() as tell:
        result = run_pipeline(dataset, settings, tell)
    for warning in result.warnings:
        print(f"note: {warning}", file=sys.stderr)
    for path in write_result(result, args.out):
        print(path)


def run_one_experiment(args: argparse.Namespace) -> None:
    """Experiment."""
    settings = settings_of(args)
    with opened_dataset(args) as dataset, progress_bar() as tell:
        result = run_experiment(args.name, dataset, settings, progress=tell)
    for sentence in result.sentences():
        print(f"note: {sentence}", file=sys.stderr)
    for path in write_experiment(result, args.out):
        print(path)
