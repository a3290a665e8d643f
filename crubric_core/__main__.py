"""The command line: the same calls as the pages. Results to files or as JSON on stdout, progress to stderr."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from .commands import analysis, data, history, judges, scoring, sharing
from .errors import CrubricError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0, or 2 with one clear line on stderr where the input is at fault."""
    parser = build_parser()
    args = parser.parse_args(arguments)
    run: Callable[[argparse.Namespace], None] = args.run
    try:
        run(args)
    except CrubricError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{parser.prog}: stopped; nothing half-written remains.", file=sys.stderr)
        return 130
    return 0


def build_parser() -> argparse.ArgumentParser:
    """All commands with their options."""
    parser = argparse.ArgumentParser(
        prog="crubric_core", description="Compact rubric banks and tiered leaderboards from judge labels."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for part in (data, history, scoring, judges, analysis, sharing):
        part.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
