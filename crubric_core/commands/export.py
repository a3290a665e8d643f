"""The command ``export``: a dataset's tables as files, or its result as a page that opens from disk."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..analysis.export import write_dataset
from ..errors import ExportError
from ..reports.standalone import write_bundle, write_standalone
from .composing import add_composition
from .options import add_settings, add_workspace, existing, settings_given
from .parsers import Commands, add_command, folder
from .sharing import add_view_options, view_of


def add(commands: Commands) -> None:
    """Add the command of this file."""
    export = add_command(commands, "export", run_export)
    add_workspace(export)
    export.add_argument("--dataset", required=True, help="dataset of the workspace")
    export.add_argument(
        "--format",
        choices=("csv", "parquet"),
        default="csv",
        help="CSV is safe for spreadsheets (default: csv)",
    )
    export.add_argument("--out", type=folder, help="folder for the tables")
    export.add_argument(
        "--html", type=Path, metavar="FILE", help="the result as one file that opens from disk"
    )
    export.add_argument("--bundle", type=Path, metavar="DIR", help="the result as a folder for any file host")
    add_view_options(export)
    add_settings(export)
    add_composition(export)


def run_export(args: argparse.Namespace) -> None:
    """Handle ``crubric export``: write a dataset's tables, a view of its result as a page, or both; print the paths."""
    if not (args.out or args.html or args.bundle):
        raise ExportError("Name where to: --out for the tables, --html or --bundle for the result as a page.")
    given = [option for option in settings_given(args) if not (args.html or args.bundle)]
    if given:
        raise ExportError(
            f"{given[0]} is for the result as a page (--html, --bundle): the tables follow no setting."
        )
    written = []
    if args.out:
        with existing(args.workspace) as workspace:
            written += write_dataset(workspace.dataset(args.dataset), args.out, args.format)
    if args.html or args.bundle:
        view = view_of(args)
        written += [write_standalone(view, args.html)] if args.html else []
        written += write_bundle(view, args.bundle) if args.bundle else []
    for path in written:
        print(path)
