"""How queries are scored: rules."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..labels.scoring_rules import save_rules
from ..labels.workspace import Workspace
from ..rules import ScoringRules
from ..task_types.assignment import preview
from .options import Commands, add_command, add_workspace, read_rules
from .terminal import print_json


def add(commands: Commands) -> None:
    """The commands of this file."""
    rules = add_command(commands, "rules", run_rules, "show or replace the scoring rules of a dataset")
    add_workspace(rules)
    rules.add_argument("--dataset", required=True, help="dataset of the workspace")
    change = rules.add_mutually_exclusive_group()
    change.add_argument("--set", type=Path, metavar="FILE", help="JSON file of the rules to keep")
    change.add_argument("--reset", action="store_true", help="back to the paper's rules")


def run_rules(args: argparse.Namespace) -> None:
    """One JSON line: the rules that hold now, and how many rubrics each assignment fits and decides."""
    wanted = ScoringRules() if args.reset else read_rules(args.set)
    with Workspace(args.workspace) as workspace:
        dataset = workspace.dataset(args.dataset)
        if wanted is not None:
            save_rules(workspace, args.dataset, wanted)
        rules = dataset.scoring_rules()
        found = preview(dataset.rubrics, rules)[["rubrics", "decides"]].to_dict("records")
    print_json(rules.as_dict() | {"assigned": found})
