"""The commands ``rules`` and ``types``: a dataset's scoring rules, and the task types of its queries."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..errors import DatasetError, SettingsError
from ..labels.store.classifier_cache import ClassifierCache
from ..labels.store.dataset_rules import save_rules
from ..labels.store.query_types import open_queries, require_open
from ..labels.store.workspace import Workspace
from ..scoring_rules import ScoringRules
from ..task_types.assignment import preview
from ..task_types.classifier import Watch
from ..task_types.classify import classify, outside, texts_of
from ..task_types.endpoint import ClassifierEndpoint
from ..task_types.offline import offline_classifier
from ..task_types.prompted import ClassifierRun, PromptedClassifier
from .options import add_workspace, existing, read_rules
from .parsers import Commands, add_command
from .terminal import print_json, progress_bar


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    rules = add_command(commands, "rules", run_rules)
    add_workspace(rules)
    rules.add_argument("--dataset", required=True, help="dataset of the workspace")
    change = rules.add_mutually_exclusive_group()
    change.add_argument("--set", type=Path, metavar="FILE", help="JSON file of the rules to keep")
    change.add_argument("--reset", action="store_true", help="back to the paper's rules")

    types = add_command(commands, "types", run_types)
    add_workspace(types)
    types.add_argument("--dataset", required=True, help="dataset of the workspace")
    types.add_argument(
        "--typer",
        choices=("offline", "prompted"),
        default="offline",
        help="offline: a lexicon; prompted: the language model that CRUBRIC_TYPER_… name (default: offline)",
    )
    types.add_argument(
        "--replace-given", action="store_true", help="also replace the types that the file gives"
    )
    types.add_argument("--concurrency", type=int, default=4, help="requests at a time (default: 4)")
    types.add_argument("--requests-per-minute", type=float, help="at most (default: no limit)")


def run_rules(args: argparse.Namespace) -> None:
    """Handle ``crubric rules``: change the rules if asked, and print the present ones as one JSON line.

    It also has the numbers of rubrics that each assignment fits and decides.
    """
    wanted = ScoringRules() if args.reset else read_rules(args.set)
    with existing(args.workspace) as workspace:
        dataset = workspace.dataset(args.dataset)
        if wanted is not None:
            save_rules(workspace, args.dataset, wanted)
        rules = dataset.scoring_rules()
        found = preview(dataset.rubrics, rules)[["rubrics", "decides"]].to_dict("records")
    print_json(rules.as_dict() | {"assigned": found})


def run_types(args: argparse.Namespace) -> None:
    """Handle ``crubric types``: classify the queries, and print classifier, counts and usage as one JSON line."""
    with existing(args.workspace) as workspace, progress_bar() as report_progress:
        require_open(workspace, args.dataset)
        dataset = workspace.dataset(args.dataset)
        wanted = open_queries(dataset.queries, args.replace_given)
        if len(wanted) and not any(texts_of(wanted)):
            raise DatasetError(
                f"None of the {len(wanted):,} queries of {args.dataset!r} to be typed has a text, which tells its "
                "type: ingest a table of queries with the columns query and text, or with p_… (docs/formats.md)."
            )
        typer = _prompted(args, workspace) if args.typer == "prompted" else offline_classifier()
        found = classify(workspace, dataset.id, wanted, typer, Watch(report_progress))
    took = {"outside_domain": outside(wanted)} if found.run is None else _took(found.run)
    print_json({"typer": typer.name, "asked": len(wanted), "typed": found.saved, **took})


def _prompted(args: argparse.Namespace, workspace: Workspace) -> PromptedClassifier:
    endpoint = ClassifierEndpoint.from_environment()
    if endpoint is None:
        raise SettingsError(
            "No endpoint is configured: set CRUBRIC_TYPER_BASE_URL, CRUBRIC_TYPER_MODEL and CRUBRIC_TYPER_KEY."
        )
    return PromptedClassifier(
        endpoint,
        ClassifierCache(workspace),
        concurrency=args.concurrency,
        requests_per_minute=args.requests_per_minute,
    )


def _took(run: ClassifierRun) -> dict[str, Any]:
    return {
        "answered_before": run.cached,
        "failed": len(run.failures),
        "reason": run.failures[0][1] if run.failures else "",
        "stopped": run.stopped,
        **run.usage.record(),
    }
