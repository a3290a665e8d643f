"""The commands ``history``, ``check``, ``undo``, ``duplicate``, ``rename`` and ``delete`` on one dataset."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any, get_args

from ..errors import DatasetError, IngestError, PlacementError
from ..labels.readers.policies import OnConflict, Policies
from ..placement.conditions import NAMES, Condition, judge, read_limit, read_systems
from ..text import count
from .options import add_workspace, existing
from .parsers import Commands, add_command
from .terminal import print_json


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    runs = {
        "history": run_history,
        "undo": run_undo,
        "duplicate": run_duplicate,
        "rename": run_rename,
        "delete": run_delete,
    }
    for name, run in runs.items():
        parser = add_command(commands, name, run)
        add_workspace(parser)
        parser.add_argument("--dataset", required=True, help="dataset of the workspace")
        if name == "undo":
            parser.add_argument("--ingest", type=int, help="ingest_id of the history (default: the last one)")
        elif name in ("duplicate", "rename"):
            parser.add_argument("--to", required=True, help="the new name")
        elif name == "delete":
            parser.add_argument(
                "--confirm", required=True, metavar="NAME", help="the dataset's name once more"
            )
    _add_check(add_command(commands, "check", run_check))


def _add_check(parser: argparse.ArgumentParser) -> None:
    add_workspace(parser)
    parser.add_argument(
        "result",
        nargs="?",
        type=Path,
        metavar="RESULT",
        help="placement.json, leaderboard.csv, or the folder of one, to hold against conditions",
    )
    parser.add_argument("--dataset", help="dataset of the workspace whose data-quality issues are listed")
    parser.add_argument(
        "--system", action="append", default=[], metavar="NAME", help="only this system (default: every one)"
    )
    for kind, side in (("under", "below"), ("over", "above")):
        parser.add_argument(
            f"--fail-{kind}",
            action="append",
            default=[],
            metavar="NAME=NUMBER",
            help=f"fail where NAME is {side} NUMBER: {', '.join(NAMES)}",
        )
    parser.add_argument(
        "--fail-behind",
        action="append",
        default=[],
        metavar="SYSTEM",
        help="fail where the placed system is separated from this one and below it",
    )


def add_policies(parser: argparse.ArgumentParser) -> None:
    """Add the options that decide how ambiguous values are read."""
    parser.add_argument(
        "--on-conflict",
        choices=get_args(OnConflict),
        help="which of contradicting rows count (reject)",
    )
    parser.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="NAME=CHOICE",
        help="fractions=reject|down|up, multiply=N, threshold=SCORE, bins=N, zero=label|unknown, "
        "off_scale=reject|clip, apostrophes=keep|strip",
    )
    parser.add_argument(
        "--scale",
        action="append",
        default=[],
        metavar="CRITERION=LOW..HIGH",
        help="the scale of a criterion, by its name or text, * for every one: --scale 'clarity=1..5'",
    )
    parser.add_argument(
        "--pass-mark",
        action="append",
        default=[],
        metavar="CRITERION=LEVEL",
        help="the lowest label of a graded criterion that counts as met (default: the midpoint)",
    )
    parser.add_argument(
        "--polarity",
        action="append",
        default=[],
        metavar="CRITERION=SIGN",
        help="-1 where the lowest label of a criterion is the best, * for every one: --polarity '*=-1'",
    )
    parser.add_argument(
        "--answer",
        action="append",
        default=[],
        metavar="WORD=LABEL",
        help="the label that a word stands for, none where nothing follows: --answer met=1 --answer refused=",
    )


def policies_of(args: argparse.Namespace) -> Policies:
    """The policies that the options define; IngestError if one cannot be read."""
    given: dict[str, Any] = dict(_pair(text, "--policy") for text in args.policy)
    if args.on_conflict:
        given["on_conflict"] = args.on_conflict
    if args.answer:
        given["answers"] = {
            word: _number(label, "--answer")
            for word, label in (_pair(t, "--answer", last=True) for t in args.answer)
        }
    for name in ("multiply", "bins"):
        if name in given:
            factor = _number(given[name], f"--policy {name}")
            given[name] = int(factor) if factor is not None and factor.is_integer() else factor
    if "threshold" in given:
        given["threshold"] = _number(given["threshold"], "--policy threshold")
    if args.scale:
        given["scales"] = dict(read_scale(text) for text in args.scale)
    if args.pass_mark:
        given["pass_marks"] = dict(read_mark(text) for text in args.pass_mark)
    if args.polarity:
        given["polarity"] = dict(_read_sign(text) for text in args.polarity)
    return Policies.from_mapping(given)


def _read_sign(text: str) -> tuple[str, int]:
    """Read ``clarity=-1`` as a criterion and its polarity, 1 or -1; IngestError if it is not of this form."""
    name, _, sign = text.rpartition("=")
    if sign.strip() not in ("1", "+1", "-1") or not name.strip():
        raise IngestError(f"--polarity {text!r} is not CRITERION=-1 or CRITERION=1: write --polarity '*=-1'.")
    return name.strip(), int(sign)


def read_scale(text: str) -> tuple[str, tuple[int, int]]:
    """Read ``clarity=1..5`` as a criterion and its scale (low, high); IngestError if it is not of this form."""
    name, _, ends = text.rpartition("=")
    found = re.fullmatch(r"\s*(-?\d{1,5})\s*\.\.\s*(-?\d{1,5})\s*", ends)
    if found is None or not name.strip():
        raise IngestError(
            f"--scale {text!r} is not CRITERION=LOW..HIGH: write for instance --scale 'clarity=1..5'."
        )
    return name.strip(), (int(found[1]), int(found[2]))


def read_mark(text: str) -> tuple[str, int]:
    """Read ``clarity=4`` as a criterion and its pass mark; IngestError if it is not of this form."""
    name, _, level = text.rpartition("=")
    if not re.fullmatch(r"\s*-?\d{1,5}\s*", level) or not name.strip():
        raise IngestError(
            f"--pass-mark {text!r} is not CRITERION=LEVEL: write for instance --pass-mark clarity=4."
        )
    return name.strip(), int(level)


def _pair(text: str, option: str, *, last: bool = False) -> tuple[str, str]:
    """Split NAME=VALUE at the first equals sign; with ``last`` at the last one, so that ``A=B=0`` is about ``A=B``.

    IngestError without an equals sign or a name.
    """
    name, equals, value = text.rpartition("=") if last else text.partition("=")
    if not equals or not name.strip():
        example = {"--policy": "zero=unknown", "--answer": "met=1"}[option]
        raise IngestError(f"{option} {text!r} is not NAME=VALUE: write for instance {option} {example}.")
    return name.strip(), value.strip()


def _number(text: str, option: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError as error:
        raise IngestError(f"{option}: {text!r} is not a number: expected one, or nothing.") from error


def run_history(args: argparse.Namespace) -> None:
    """Handle ``crubric history``: print one JSON line for each ingest of the dataset."""
    with existing(args.workspace) as workspace:
        listed = workspace.ingests(args.dataset).to_json(orient="records", date_format="iso")
        for row in json.loads(listed):
            print_json(row)


def run_check(args: argparse.Namespace) -> None:
    """Handle ``crubric check``: print a dataset's data-quality issues, or check a result against conditions.

    The exit status is 1 if a condition does not hold.
    """
    if args.result is not None and args.dataset:
        raise IngestError("Name a RESULT or --dataset, not both: each is checked by itself.")
    if args.result is not None:
        _check_result(args)
        return
    if args.system or args.fail_under or args.fail_over or args.fail_behind:
        raise PlacementError(
            "Conditions need a RESULT: name a placement.json, a leaderboard.csv, or their folder."
        )
    if not args.dataset:
        raise IngestError(
            "Name a RESULT to hold against conditions, or --dataset for its data-quality issues."
        )
    with existing(args.workspace) as workspace:
        findings = workspace.dataset(args.dataset).checks()
        if not findings:
            print("No data-quality issue was found.", file=sys.stderr)
        for finding in findings:
            examples = json.loads(finding.examples.to_json(orient="records"))
            print_json(
                {
                    "severity": finding.severity,
                    "code": finding.code,
                    "count": finding.count,
                    "sentence": finding.sentence,
                    "examples": examples[:5],
                }
            )


def _check_result(args: argparse.Namespace) -> None:
    conditions = [
        *(read_limit("under", text) for text in args.fail_under),
        *(read_limit("over", text) for text in args.fail_over),
        *(Condition("behind", name) for name in args.fail_behind),
    ]
    if not conditions:
        raise PlacementError("No condition is given: add for instance --fail-over rank=3.")
    found = judge(read_systems(args.result), args.system, conditions)
    for verdict in found:
        print_json(
            {
                "system": verdict.system,
                "condition": str(verdict.condition),
                "value": verdict.value,
                "holds": verdict.holds,
            }
        )
    failed = sum(not verdict.holds for verdict in found)
    if failed:
        print(f"{count(failed, 'condition')} of {len(found):,} not met.", file=sys.stderr)
        raise SystemExit(1)


def run_undo(args: argparse.Namespace) -> None:
    """Handle ``crubric undo``: undo an ingest, and print what was undone."""
    with existing(args.workspace) as workspace:
        report = workspace.undo(args.dataset, args.ingest)
        print_json({"dataset": args.dataset, "undone": report.sentence, "fingerprint": report.fingerprint})


def run_duplicate(args: argparse.Namespace) -> None:
    """Handle ``crubric duplicate``: copy the dataset, and print the copy's name and fingerprint."""
    with existing(args.workspace) as workspace:
        workspace.duplicate(args.dataset, args.to)
        found = workspace.datasets().set_index("name")["fingerprint"]  # readable without files of labels
        print_json({"dataset": args.to, "fingerprint": found[args.to]})


def run_rename(args: argparse.Namespace) -> None:
    """Handle ``crubric rename``: rename the dataset, and print its new name."""
    with existing(args.workspace) as workspace:
        workspace.rename(args.dataset, args.to)
        print_json({"dataset": args.to})


def run_delete(args: argparse.Namespace) -> None:
    """Handle ``crubric delete``: delete the dataset; DatasetError unless ``--confirm`` repeats its name."""
    if args.confirm != args.dataset:
        raise DatasetError(f"--confirm {args.confirm!r} is not {args.dataset!r}: nothing was deleted.")
    with existing(args.workspace) as workspace:
        workspace.delete(args.dataset)
        print_json({"deleted": args.dataset})
