"""The commands ``recalibrate``, ``judge-drift`` and ``bank-history``: changes of a bank and its judges over time."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any, get_args

from ..errors import PlacementError
from ..files import csv_bytes, write_files
from ..placement.bank_file import NAME, bank_bytes, bank_digest, read_bank
from ..placement.drift import JudgeDrift
from ..placement.judge_versions import judge_drift_on_bank
from ..placement.linking import Method
from ..placement.new_labels import read_new_labels
from ..placement.recalibrate import Recalibration, recalibrate
from .parsers import Commands, add_bank, add_command, folder
from .terminal import print_json


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    join = add_command(commands, "recalibrate", run_recalibrate)
    _add_labels(join, "labels of new systems on the bank's rubrics")
    join.add_argument(
        "--link",
        choices=get_args(Method),
        default="stocking-lord",
        help="how the new fit comes to the bank's scale (default: stocking-lord)",
    )
    join.add_argument(
        "--out",
        required=True,
        type=folder,
        metavar="DIR",
        help="folder for bank.json, moved.csv and drift.csv",
    )

    versions = add_command(commands, "judge-drift", run_judge_drift)
    _add_labels(versions, "labels of both versions of the judge")
    versions.add_argument(
        "--judges",
        required=True,
        nargs=2,
        metavar=("OLD", "NEW"),
        help="the two versions, as the labels name them",
    )

    history = add_command(commands, "bank-history", run_history)
    add_bank(history, "bank")


def _add_labels(parser: argparse.ArgumentParser, what: str) -> None:
    add_bank(parser)
    parser.add_argument(
        "--labels", required=True, type=Path, nargs="+", action="extend", metavar="FILE", help=what
    )
    parser.add_argument("--format", default="auto", help="the file's format (default: auto)")
    parser.add_argument("--allow-unused", action="store_true", help="go on where labels cannot be used")


def run_recalibrate(args: argparse.Namespace) -> None:
    """Handle ``crubric recalibrate``: write the new bank, moved.csv and drift.csv, and print one JSON line.

    It has the link, the systems that moved, and the rubrics that drifted.
    """
    bank_scale = read_bank(args.bank)
    new = read_new_labels(bank_scale, args.labels, file_format=args.format, allow_unused=args.allow_unused)
    found = recalibrate(bank_scale, new, args.link)
    for note in new.notes:
        print(f"note: {note}", file=sys.stderr)
    files = {
        NAME: bank_bytes(found.bank_scale),
        "moved.csv": csv_bytes(found.moved),
        "drift.csv": csv_bytes(found.drift_table),
    }
    write_files(files, args.out)
    print_json(_summary(found))


def _summary(found: Recalibration) -> dict[str, Any]:
    moved, drift = found.moved, found.drift_table
    changed = moved[moved["tier_before"].notna() & (moved["tier_before"] != moved["tier_after"])]
    return {
        "bank_id": found.bank_scale.bank_id,
        "digest": bank_digest(found.bank_scale),
        "link": {
            "method": found.link.method,
            "slope": round(found.link.slope, 6),
            "shift": round(found.link.intercept, 6),
            "rubrics": found.link.rubrics,
        },
        "systems_added": moved["system"][moved["new"]].tolist(),
        "moved": moved["system"][moved["moved"]].tolist(),
        "tier_changed": changed["system"].tolist(),
        "rubrics_tested": int((drift["labels"] > 0).sum()),
        "drifted": drift["id"][drift["drifted"]].tolist(),
    }


def run_judge_drift(args: argparse.Namespace) -> None:
    """Handle ``crubric judge-drift``: print one JSON line with flip rate, kappa, net shift, and a record a system."""
    bank_scale = read_bank(args.bank)
    new = read_new_labels(bank_scale, args.labels, file_format=args.format, allow_unused=args.allow_unused)
    if args.judges[0] == args.judges[1]:
        raise PlacementError(f"{args.judges[0]!r} is named twice: name the two versions of the judge.")
    for judge in args.judges:
        if judge not in new.judges:
            raise PlacementError(f"No label is by {judge!r}; the judges are {', '.join(new.judges)}.")
    drift, moved = judge_drift_on_bank(bank_scale, new, *args.judges)
    print_json(
        {**_versions(drift), "systems": moved.astype(object).where(moved.notna(), None).to_dict("records")}
    )


def _versions(drift: JudgeDrift) -> dict[str, Any]:
    def interval(values: tuple[float, float, float]) -> dict[str, float | None]:
        names = ("value", "low", "high")
        return {n: round(v, 4) if math.isfinite(v) else None for n, v in zip(names, values, strict=True)}

    return {
        "cells": drift.cells,
        "queries": drift.queries,
        "flip_rate": interval(drift.flips),
        "kappa": interval(drift.kappa),
        "net_shift": interval(drift.shift),
        "drifted": drift.drifted,
        "confidence": drift.confidence,
    }


def run_history(args: argparse.Namespace) -> None:
    """Handle ``crubric bank-history``: print a JSON line for each change, oldest first, then one of the bank now."""
    bank_scale = read_bank(args.bank)
    for entry in bank_scale.history:
        print_json(entry)
    print_json(
        {
            "change": "as it is",
            "bank_id": bank_scale.bank_id,
            "digest": bank_digest(bank_scale),
            "systems": len(bank_scale.systems),
            "rubrics": len(bank_scale.rubrics),
        }
    )
