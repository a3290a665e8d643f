"""The command ``losses``: the expected loss of each system's answers."""

from __future__ import annotations

import argparse
import sys

from ..analysis.losses import require_losses
from ..analysis.stages import Analysis
from ..errors import DatasetError
from ..files import csv_bytes, write_files
from .options import add_inputs, add_settings, opened_dataset, settings_of
from .parsers import Commands, add_command, folder


def add(commands: Commands) -> None:
    """Add the command of this file."""
    parser = add_command(commands, "losses", run_losses)
    add_inputs(parser)
    add_settings(parser)
    parser.add_argument("--out", required=True, type=folder, help="folder for the table")


def run_losses(args: argparse.Namespace) -> None:
    """Handle ``crubric losses``: write losses.csv, and print its findings on stderr.

    DatasetError if the leaderboard allows no claim.
    """
    with opened_dataset(args) as dataset:
        analysis = Analysis.of(dataset, settings_of(args))
        found, board = require_losses(analysis.losses(), dataset.name), analysis.board()
        if board.refused:
            raise DatasetError(f"No claim about losses. {board.refused}")
        said = found.sentences(board.standing)
    for sentence in said:
        print(sentence, file=sys.stderr)
    for path in write_files({"losses.csv": csv_bytes(found.table)}, args.out):
        print(path)
