"""Texts for the pages; text from a file is data and is shown literally, never as markup."""

from __future__ import annotations

import re
from math import isfinite

from ..text import count, ends, numeral, percent, rounded, short_name, short_names, shorten, verb

__all__ = [
    "UNKNOWN",
    "count",
    "end",
    "ends",
    "numeral",
    "percent",
    "plain",
    "rounded",
    "short_name",
    "short_names",
    "shorten",
    "verb",
]

UNKNOWN = "—"
# Streamlit makes a link of a text like an address even if it is escaped; a zero-width joiner prevents that.
_ADDRESS = re.compile(r":(?=//)|\bwww(?=\.)|@(?=[\w-])", re.IGNORECASE)
_JOINER = "\u2060"
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def plain(text: str) -> str:
    """Markdown that renders as exactly this text, on one line: every ASCII punctuation mark is escaped, no link."""
    unlinked = _ADDRESS.sub(rf"\g<0>{_JOINER}", " ".join(text.split()))
    return _PUNCTUATION.sub(r"\\\1", unlinked)


def end(value: float) -> str:
    """The end of an interval as text, "open" if it is not finite."""
    return numeral(value) if isfinite(value) else "open"
