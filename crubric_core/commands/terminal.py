"""What the terminal shows: results as JSON on stdout, progress and remarks on stderr."""

from __future__ import annotations

import json
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..labels.ingest.report import IngestReport

SHOWN_REJECTS = 3


@contextmanager
def progress_bar() -> Iterator[Callable[[float, str], None]]:
    """A line on stderr that shows how far the work is; nothing where stderr is no terminal."""
    shown = sys.stderr.isatty()

    def report_progress(share: float, what: str) -> None:
        if shown:
            bar = "█" * round(20 * share) + "░" * (20 - round(20 * share))
            print(f"\r{bar} {what:<60.60}", end="", file=sys.stderr, flush=True)

    yield report_progress
    if shown:
        print("\r" + " " * 82, end="\r", file=sys.stderr, flush=True)


def tell_rejects(report: IngestReport) -> None:
    """The first rejected rows with their reasons, and how many there are in all."""
    for row in report.rejects.head(SHOWN_REJECTS).itertuples():
        print(f"{report.source}, row {row.row}: {row.reason}", file=sys.stderr)
    if report.rejected > SHOWN_REJECTS:
        print(f"{report.source}: {report.rejected} rows rejected in all.", file=sys.stderr)


def print_json(row: dict[str, Any]) -> None:
    """One JSON line on stdout."""
    print_document(json.dumps(row, ensure_ascii=False) + "\n")


def print_document(text: str) -> None:
    """A document of JSON on stdout; letters beyond ASCII are escaped where it has none of some."""
    lacks = "utf" not in (sys.stdout.encoding or "").lower()
    print(re.sub(r"[^\x00-\x7f]+", lambda found: json.dumps(found[0])[1:-1], text) if lacks else text, end="")
