"""The command ``scales``: show or change the scale and the pass mark of each criterion."""

from __future__ import annotations

import argparse
import json
import sys

from ..labels.store.scales import set_scale
from .history import read_mark, read_scale
from .options import add_workspace, existing
from .parsers import Commands, add_command
from .terminal import print_rows


def add(commands: Commands) -> None:
    """Add the command of this file."""
    parser = add_command(commands, "scales", run_scales)
    add_workspace(parser)
    parser.add_argument("--dataset", required=True, help="dataset of the workspace")
    parser.add_argument(
        "--scale",
        action="append",
        default=[],
        metavar="CRITERION=LOW..HIGH",
        help="give a criterion its scale",
    )
    parser.add_argument(
        "--pass-mark",
        action="append",
        default=[],
        metavar="CRITERION=LEVEL",
        help="the lowest label that counts as met; * for every graded criterion",
    )


def run_scales(args: argparse.Namespace) -> None:
    """Handle ``crubric scales``: apply the changes, print a row for each criterion, and the pass marks on stderr."""
    with existing(args.workspace) as workspace:
        for text in args.scale:
            name, scale = read_scale(text)
            set_scale(workspace, args.dataset, name, scale=scale)
        for text in args.pass_mark:
            name, mark = read_mark(text)
            set_scale(workspace, args.dataset, name, pass_mark=mark)
        dataset = workspace.dataset(args.dataset)
        print_rows(json.loads(dataset.criteria.to_json(orient="records")))
        for sentence in dataset.pass_marks:
            print(sentence, file=sys.stderr)
