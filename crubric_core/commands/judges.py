"""The command ``judges``: reliability, agreement and shared errors of the judges."""

from __future__ import annotations

import argparse
import sys

from ..experiments.leave_one_judge_out import leave_one_judge_out
from ..files import csv_bytes, write_files
from ..judges.guessing import guessing_note
from ..judges.report import judges_report
from ..judges.shared_errors import effective_judges, independence_note
from ..judges.votes import votes_note
from ..workers import use_workers
from .options import add_inputs, add_settings, add_workers, opened_dataset, settings_of, workers_of
from .parsers import Commands, add_command, folder
from .terminal import progress_bar


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    judges = add_command(commands, "judges", run_judges)
    add_inputs(judges)
    add_settings(judges)
    add_workers(judges)
    judges.add_argument(
        "--leave-one-out", action="store_true", help="the leaderboard without each judge, too"
    )
    judges.add_argument("--out", required=True, type=folder, help="folder for the tables")


def run_judges(args: argparse.Namespace) -> None:
    """Handle ``crubric judges``: write judges.csv, validity.csv, agreement.csv and shared_errors.csv.

    With ``--leave-one-out`` also the tables of the leaderboards without each judge. Notes go to stderr.
    """
    settings = settings_of(args)
    with use_workers(workers_of(args)), opened_dataset(args) as dataset, progress_bar() as report_progress:
        found = judges_report(dataset, settings)
        tables = {
            "judges.csv": found.reliability.judges,
            "validity.csv": found.reliability.validity,
            "agreement.csv": found.agreement,
            "shared_errors.csv": found.shared_errors,
        }
        if args.leave_one_out:
            influence = leave_one_judge_out(dataset, settings, progress=report_progress)
            tables |= {
                "judges_left_out.csv": influence.judges,
                "systems_without_each_judge.csv": influence.systems,
            }
    reliability = found.reliability
    notes = (
        found.copies,
        found.opposed or guessing_note(reliability.judges),
        independence_note(effective_judges(reliability.correlation)),
        votes_note(reliability.validity["p_valid"].to_numpy(), reliability.vote_rates),
    )
    for note in filter(None, notes):
        print(f"note: {note}", file=sys.stderr)
    for path in write_files({name: csv_bytes(table) for name, table in tables.items()}, args.out):
        print(path)
