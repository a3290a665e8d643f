"""The command ``human-labels``: the judges' mean labels, corrected by human labels."""

from __future__ import annotations

import argparse
import sys

from ..analysis.human_labels import require_human_labels
from ..analysis.stages import Analysis
from ..files import csv_bytes, write_files
from .options import add_inputs, add_settings, opened_dataset, settings_of
from .parsers import Commands, add_command, folder


def add(commands: Commands) -> None:
    """Add the command of this file."""
    parser = add_command(commands, "human-labels", run_human_labels)
    add_inputs(parser)
    add_settings(parser)
    parser.add_argument("--out", required=True, type=folder, help="folder for the table")


def run_human_labels(args: argparse.Namespace) -> None:
    """Handle ``crubric human-labels``: write human_labels.csv, and print its findings on stderr."""
    with opened_dataset(args) as dataset:
        analysis = Analysis.of(dataset, settings_of(args))
        found = require_human_labels(analysis.human_labels(), dataset.name)
    for sentence in found.sentences():
        print(sentence, file=sys.stderr)
    for path in write_files({"human_labels.csv": csv_bytes(found.table)}, args.out):
        print(path)
