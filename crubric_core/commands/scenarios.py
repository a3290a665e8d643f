"""The command ``scenario``: save settings under a name, list them, and compare two of them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..analysis.fitted import with_rules
from ..analysis.scenarios import Outcome, change_sentences, compare, figures_table, outcome_of
from ..analysis.stage import Memory
from ..analysis.stages import Analysis
from ..errors import DatasetError
from ..labels.store.scenarios import (
    Scenario,
    delete_scenario,
    find_scenario,
    list_scenarios,
    rename_scenario,
    save_scenario,
)
from ..text import count
from .options import add_settings, add_workspace, existing, settings_of
from .parsers import Commands, add_command
from .terminal import print_json

if TYPE_CHECKING:
    from ..labels.store.workspace import Workspace
    from ..types import IntArray

ACTIONS = {"list": 0, "save": 1, "rename": 1, "delete": 1, "compare": 2}
"""Number of names that each action takes."""


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    parser = add_command(commands, "scenario", run_scenario)
    parser.add_argument("action", choices=ACTIONS, help="what to do")
    parser.add_argument("names", nargs="*", metavar="NAME", help="the scenario; two of them to compare")
    add_workspace(parser)
    parser.add_argument("--dataset", required=True, help="dataset of the workspace")
    parser.add_argument("--to", help="rename: the new name")
    parser.add_argument("--replace", action="store_true", help="save: in place of one of the same name")
    add_settings(parser)


def run_scenario(args: argparse.Namespace) -> None:
    """Handle ``crubric scenario``: print one JSON line for each scenario, or one with the changes between two."""
    names, wanted = args.names, ACTIONS[args.action]
    if len(names) != wanted:
        raise DatasetError(f"`scenario {args.action}` takes {count(wanted, 'name')}: {len(names)} given.")
    with existing(args.workspace) as workspace:
        if args.action == "compare":
            print_json(_compared(workspace, args.dataset, *names))
            return
        if args.action == "save":
            made = Scenario(names[0], settings_of(args))
            save_scenario(workspace, args.dataset, made, replace=args.replace)
        elif args.action == "rename":
            if not args.to:
                raise DatasetError("`scenario rename` needs --to with the new name.")
            rename_scenario(workspace, args.dataset, names[0], args.to)
        elif args.action == "delete":
            delete_scenario(workspace, args.dataset, names[0])
        for scenario in list_scenarios(workspace, args.dataset):
            print_json(_listed(scenario))


def _listed(scenario: Scenario) -> dict[str, Any]:
    told: dict[str, Any] = {"fault": scenario.fault}
    if scenario.settings is not None:
        preset, given = scenario.settings.explicit()
        told = {"preset": preset, "settings": given}
    saved = scenario.saved_at.isoformat(timespec="seconds") if scenario.saved_at else None
    return {"name": scenario.name, **told, "page": scenario.page, "filters": scenario.filters, "saved": saved}


def _compared(workspace: Workspace, dataset: str, first: str, second: str) -> dict[str, Any]:
    data = workspace.dataset(dataset)
    fingerprint, store = data.fingerprint, Memory()

    def outcome(name: str) -> Outcome:
        settings = find_scenario(workspace, dataset, name).settings
        assert settings is not None  # noqa: S101 - find_scenario refuses one without
        asked = with_rules(data, settings)
        return outcome_of(name, Analysis(dataset=data, fingerprint=fingerprint, settings=asked, store=store))

    change = compare(outcome(first), outcome(second))
    rubrics = data.rubrics

    def named(positions: IntArray) -> list[Any]:
        return rubrics.iloc[positions][["query", "rubric"]].to_dict("records")

    places = change.places.astype(object)
    return {
        "said": change_sentences(change),
        "figures": figures_table(change.first, change.second).to_dict("records"),
        "entering": named(change.entering),
        "leaving": named(change.leaving),
        "places": places.where(~places.isna(), None).to_dict("records"),
    }
