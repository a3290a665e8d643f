"""Labels that stay where they are: reference."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from ..labels.store.reference import reference
from ..labels.store.workspace import Workspace
from .options import Commands, add_command, add_workspace
from .terminal import print_json, progress_bar


def add(commands: Commands) -> None:
    """The command of this file."""
    parser = add_command(commands, "reference", run_reference)
    add_workspace(parser)
    parser.add_argument(
        "--as",
        dest="dataset",
        required=True,
        metavar="NAME",
        help="name of the dataset; it has no labels yet",
    )
    parser.add_argument(
        "path",
        type=Path,
        metavar="PATH",
        help="Parquet file, or folder of them, with the columns system, query, rubric, judge, label and perhaps run",
    )


def run_reference(args: argparse.Namespace) -> None:
    """Make the dataset, and say what became of the rows."""
    with Workspace(args.workspace) as workspace, progress_bar() as report_progress:
        report = reference(workspace, args.path, args.dataset, report_progress)
    if report.totals.sentence:
        print(report.totals.sentence, file=sys.stderr)
    said = asdict(report) | {"rejected": report.totals.rejected}
    print_json(said)
