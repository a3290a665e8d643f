"""Text that came from a file is data: shown letter by letter, never markup."""

from __future__ import annotations

import re

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


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
