"""The command reference: a dataset of labels that stay in their Parquet files."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from ..errors import IngestError
from ..labels.store.reference import ReferenceReport, reference
from ..labels.store.spark import tally
from ..labels.store.workspace import Workspace
from .options import add_workspace
from .parsers import Commands, add_command
from .terminal import print_json, progress_bar

_UNREAD = (
    "mapping",
    "pattern",
    "policy",
    "scale",
    "pass_mark",
    "answer",
    "on_conflict",
)  # options of ingest that do not apply to labels read by Spark


def add(commands: Commands) -> None:
    """Add the command of this module to the parser."""
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
    """Handle ``crubric reference``: make the dataset, and print how many rows were used and rejected."""
    with Workspace(args.workspace) as workspace, progress_bar() as report_progress:
        report = reference(workspace, args.path, args.dataset, report_progress)
    _print_report(report)


def tally_labels(args: argparse.Namespace) -> None:
    """Handle ``crubric ingest --engine spark``: make a dataset of labels that a Spark session reads.

    Raises IngestError for options that do not apply.
    """
    given = {
        "a file": args.files,
        "--kind": args.kind not in (None, "labels"),
        "--format": args.format != "auto",
        "--plan": args.plan,
        "--preview": args.preview,
        **{f"--{name.replace('_', '-')}": getattr(args, name) for name in _UNREAD},
    }
    unread = [name for name, there in given.items() if there]
    if unread or not args.labels:
        which = f" and not {unread[0]}" if unread else ""
        raise IngestError(
            f"--engine spark takes --labels PATH{which}: what the session reads has the columns system, query, rubric, "
            "judge, label and perhaps run."
        )
    with Workspace(args.workspace) as workspace, progress_bar() as report_progress:
        report = tally(workspace, args.labels, args.dataset, report_progress)
    _print_report(report)


def _print_report(report: ReferenceReport) -> None:
    if report.totals.sentence:
        print(report.totals.sentence, file=sys.stderr)
    print_json(asdict(report) | {"rejected": report.totals.rejected})
