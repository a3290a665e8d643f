"""Options that compose a bank by hand, and the ``Composition`` that is made from their values."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..composition import Composition, Limit, Swap
from ..errors import SettingsError
from .parsers import file_bytes, file_text


def add_composition(parser: argparse.ArgumentParser) -> None:
    """Add the options for a file of a composition, and for pins, exclusions, swaps, bounds and costs besides."""
    group = parser.add_argument_group(
        "composition of the bank", "what it must hold beyond its strategy; rubrics by id or by name"
    )
    group.add_argument(
        "--composition", type=Path, metavar="FILE", help="JSON file of a composition; options add to it"
    )
    group.add_argument("--pin", action="append", default=[], metavar="RUBRIC", help="always in the bank")
    group.add_argument("--exclude", action="append", default=[], metavar="RUBRIC", help="never in the bank")
    group.add_argument(
        "--swap", action="append", default=[], nargs=2, metavar=("OUT", "INTO"), help="one for another"
    )
    for option, words in (("--at-least", "least"), ("--at-most", "most")):
        group.add_argument(
            option,
            action="append",
            default=[],
            metavar="BOUND",
            help=f"at {words} so many of a group, such as domain=law:5, or query:2 for each query; "
            "groups: query, domain, task_type, dimension, severity",
        )
    group.add_argument(
        "--costs",
        metavar="FILE",
        help="what each rubric costs: a CSV file with the columns id or rubric, and cost; "
        "or text for the characters of its text (default: 1 each)",
    )
    group.add_argument(
        "--cost-budget", type=float, metavar="X", help="most that the bank may cost together, besides B"
    )


def composition_of(args: argparse.Namespace) -> Composition | None:
    """The composition that the options define; None if the command has no such options."""
    if not hasattr(args, "composition"):
        return None
    base = _read(args.composition) if args.composition else Composition()
    bounds = [Limit.read(text, "at_least") for text in args.at_least]
    bounds += [Limit.read(text, "at_most") for text in args.at_most]
    costs: dict[str, Any] = {}
    if args.costs is not None:
        costs = (
            {"cost": "text"} if args.costs == "text" else {"cost": "given", "costs": _costs(Path(args.costs))}
        )
    return replace(
        base,
        pins=(*base.pins, *args.pin),
        exclusions=(*base.exclusions, *args.exclude),
        swaps=(*base.swaps, *(Swap(*pair) for pair in args.swap)),
        limits=(*base.limits, *bounds),
        cost_budget=base.cost_budget if args.cost_budget is None else args.cost_budget,
        **costs,
    )


def _read(path: Path) -> Composition:
    return Composition.from_json(file_text(path, "The composition", SettingsError))


def _costs(path: Path) -> tuple[tuple[str, float], ...]:
    from ..analysis.composition import read_costs  # loads pandas, which other commands do not need

    return read_costs(file_bytes(path, "The costs", SettingsError))
