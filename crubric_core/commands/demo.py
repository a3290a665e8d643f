"""The command ``demo``: make a dataset of a simulated study."""

from __future__ import annotations

import argparse

from ..demo import write_demo
from ..labels.store.workspace import Workspace
from .data import described
from .options import add_workspace
from .parsers import Commands, add_command
from .terminal import print_json


def add(commands: Commands) -> None:
    """Add the command of this file."""
    demo = add_command(commands, "demo", run_demo)
    add_workspace(demo)
    demo.add_argument("--dataset", default="demo", help="name of the new dataset (default: demo)")
    demo.add_argument("--seed", type=int, default=0, help="seed of the simulation (default: 0)")


def run_demo(args: argparse.Namespace) -> None:
    """Handle ``crubric demo``: simulate the study, store it, and print its row of ``datasets``."""
    with Workspace(args.workspace) as workspace:
        write_demo(workspace, args.seed, args.dataset)
        print_json(described(workspace)[args.dataset])
