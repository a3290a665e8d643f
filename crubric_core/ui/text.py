"""Text that came from a file is data: shown letter by letter, never markup."""

from __future__ import annotations

import re

from ..wording import count, shorten

__all__ = ["count", "plain", "shorten"]

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def plain(text: str) -> str:
    """Markdown that renders as exactly this text, on one line: every ASCII punctuation mark is escaped."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))
