"""Output of the commands: results on stdout (JSON in a pipe or a file), progress and remarks on stderr."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..text import aligned
from .printable import Printable, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..labels.ingest.report import IngestReport

SHOWN_REJECTS = 3


@contextmanager
def progress_bar() -> Iterator[Callable[[float, str], None]]:
    """Context manager: a progress callback that draws a bar on stderr; it does nothing if stderr is not a terminal."""
    terminal = sys.stderr.stream if isinstance(sys.stderr, Printable) else sys.stderr
    shown = terminal.isatty()

    def report_progress(share: float, what: str) -> None:
        if shown:
            bar = "█" * round(20 * share) + "░" * (20 - round(20 * share))
            print(f"\r{bar} {printable(what):<60.60}", end="", file=terminal, flush=True)

    yield report_progress
    if shown:
        print("\r" + " " * 82, end="\r", file=terminal, flush=True)


def print_rejects(report: IngestReport) -> None:
    """Print the first rejected rows with their reasons on stderr, and the number of all if there are more."""
    for row in report.rejects.head(SHOWN_REJECTS).itertuples():
        print(f"{report.source}, row {row.row}: {row.reason}", file=sys.stderr)
    if report.rejected > SHOWN_REJECTS:
        print(f"{report.source}: {report.rejected} rows rejected in all.", file=sys.stderr)


def print_json(row: Mapping[str, Any]) -> None:
    """Print a mapping as one JSON line on stdout; on a terminal print its fields, one line each."""
    print_document(json.dumps(row, ensure_ascii=False) + "\n")


def print_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print mappings with the same fields as JSON lines on stdout; on a terminal print a table."""
    if sys.stdout.isatty():
        print("\n".join(readable(rows)))
    else:
        for row in rows:
            print_json(row)


def readable(value: Any) -> list[str]:
    """A JSON value as lines of text: the fields of an object, a table of a list of objects, or plain values."""
    if isinstance(value, Mapping):
        return [line for name, held in value.items() for line in _field(str(name).replace("_", " "), held)]
    if not isinstance(value, str) and isinstance(value, Sequence):
        if not value or not all(isinstance(held, Mapping) for held in value):
            return [line for held in value for line in readable(held)]
        names = list(dict.fromkeys(name for row in value for name in row))
        head = [str(name).replace("_", " ") for name in names]
        return aligned(
            [head, *([", ".join(readable(row.get(name))) or "—" for name in names] for row in value)]
        )
    if value is None or isinstance(value, bool):
        return ["—" if value is None else "yes" if value else "no"]
    if isinstance(value, float):
        return [f"{value:.4g}"]
    return [f"{value:,}" if isinstance(value, int) else str(value)]


def _field(name: str, held: Any) -> list[str]:
    lines = readable(held)
    if len(lines) > 1 or (lines and isinstance(held, Mapping)):
        return [f"{name}:", *(f"  {line}" for line in lines)]
    return [f"{name}: {''.join(lines) or '—'}"]


def print_document(text: str) -> None:
    """Print a JSON document on stdout; non-ASCII letters are escaped unless the encoding of stdout is Unicode.

    On a terminal it is printed as readable lines.
    """
    if sys.stdout.isatty():
        print("\n".join(readable(json.loads(text))), end="\n\n")
        return
    lacks = "utf" not in (sys.stdout.encoding or "").lower()
    print(re.sub(r"[^\x00-\x7f]+", lambda found: json.dumps(found[0])[1:-1], text) if lacks else text, end="")
