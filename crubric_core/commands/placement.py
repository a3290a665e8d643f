"""The commands ``export-bank`` and ``place``: write a bank for other tools, and place new systems on it."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from ..declarations import Parameter
from ..files import csv_bytes, json_bytes, write_files
from ..placement.bank_file import read_bank
from ..placement.formats import EXPORTS
from ..placement.new_labels import read_new_labels
from ..placement.place import NEXT, place_systems
from .parsers import Commands, add_bank, add_command, folder, number
from .terminal import print_document, print_rows

_NEXT = Parameter("Rubrics to judge next.", low=0, whole=True)
# Fields of each system on a terminal; a pipe or file gets all fields.
SHOWN = ("system", "theta", "theta_low", "theta_high", "rank", "rank_low", "rank_high", "tier", "answered")


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    place = add_command(commands, "place", run_place)
    add_bank(place)
    place.add_argument(
        "--labels",
        required=True,
        type=Path,
        nargs="+",
        action="extend",
        metavar="FILE",
        help="labels of new systems on the bank's rubrics: files, folders or archives",
    )
    place.add_argument(
        "--allow-unused",
        action="store_true",
        help="place even where rows of the file, or labels on the bank, cannot be used",
    )
    place.add_argument("--format", default="auto", help="the file's format (default: auto)")
    place.add_argument(
        "--next",
        type=number(_NEXT),
        default=NEXT,
        metavar="N",
        help=f"rubrics to judge next (default: {NEXT})",
    )
    place.add_argument(
        "--out",
        type=folder,
        metavar="DIR",
        help="folder for placement.json, placement.csv, next_best.csv and unused.csv",
    )

    export = add_command(commands, "export-bank", run_export)
    add_bank(export, "bank")
    export.add_argument(
        "--as", dest="form", required=True, choices=tuple(EXPORTS), help="the tool that is to judge"
    )
    export.add_argument("--out", required=True, type=folder, metavar="DIR", help="folder for the files")


def run_export(args: argparse.Namespace) -> None:
    """Handle ``crubric export-bank``: write the bank in the format ``--as``, and print the paths of the files."""
    for path in write_files(EXPORTS[args.form](read_bank(args.bank)), args.out):
        print(path)


def run_place(args: argparse.Namespace) -> None:
    """Handle ``crubric place``: print the placement as JSON, or a table on a terminal; ``--out`` also writes files."""
    bank_scale = read_bank(args.bank)
    source = args.labels[0] if len(args.labels) == 1 else list(args.labels)
    new = read_new_labels(bank_scale, source, file_format=args.format, allow_unused=args.allow_unused)
    placed = place_systems(bank_scale, new, args.next)
    for note in placed.notes:
        print(f"note: {note}", file=sys.stderr)
    content = json_bytes(placed.record(bank_scale))
    if args.out is not None:
        tables = {"placement": placed.table, "next_best": placed.next_table, "unused": placed.unused}
        write_files(
            {
                "placement.json": content,
                **{f"{name}.csv": csv_bytes(table) for name, table in tables.items()},
            },
            args.out,
        )
    if sys.stdout.isatty():
        print_rows([{name: row[name] for name in SHOWN} for row in json.loads(content)["systems"]])
    else:
        print_document(content.decode())
