"""Text that came from a file is data: shown letter by letter, never markup, never a spreadsheet formula."""

from __future__ import annotations

import re

import pandas as pd

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def plain(text: str) -> str:
    """Markdown that renders as exactly this text, on one line: every ASCII punctuation mark is escaped."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


def shorten(text: str, limit: int = 80) -> str:
    """At most ``limit`` characters on one line, the cut shown by an ellipsis."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """``1 rubric``, ``4,052 rubrics``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def csv_bytes(table: pd.DataFrame) -> bytes:
    """The table as UTF-8 CSV; no text in it can start a spreadsheet formula (OWASP: a leading apostrophe)."""
    safe = table.rename(columns=_disarm)
    for name in safe.columns:
        if not pd.api.types.is_numeric_dtype(safe[name]):
            safe[name] = safe[name].map(_disarm)
    return safe.to_csv(index=False, lineterminator="\r\n").encode(
        "utf-8"
    )  # RFC 4180; "\n" leaves "\r" unquoted


def _disarm(value: object) -> object:
    return "'" + value if isinstance(value, str) and value.startswith(_FORMULA) else value
