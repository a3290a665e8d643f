"""Plain words that pages, published views and reports share."""

from __future__ import annotations

from collections.abc import Sequence


def shorten(text: str, limit: int = 80) -> str:
    """At most ``limit`` characters on one line, the cut shown by an ellipsis."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def short_name(name: str, limit: int = 40) -> str:
    """A name of at most ``limit`` characters on one line; one that is cut keeps its end, by which names differ."""
    flat = " ".join(name.split())
    head = limit // 2
    return flat if len(flat) <= limit else f"{flat[:head].rstrip()}…{flat[head - limit + 1 :].lstrip()}"


def sentence_case(text: str) -> str:
    """``text`` with a capital first letter and all else as it stands; for words of ours, not for names of files."""
    return text[:1].upper() + text[1:]


def count(number: int, noun: str, plural: str | None = None) -> str:
    """``1 rubric``, ``4,052 rubrics``, ``3 queries``."""
    regular = noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"
    return f"{number:,} {noun if number == 1 else plural or regular}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """``a``, ``a and b``, ``a, b and c``, ``a, b and 7 more``."""
    shown = [*names] if len(names) <= most else [*names[:most], f"{len(names) - most:,} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
