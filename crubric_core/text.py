"""Helpers for plain text, shared by pages, published views and reports."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, takewhile
from math import isnan
from typing import Any

HEAD = 8  # first characters of a name, which never count as its end
ROUNDS = 3  # attempts at shortening names that still look alike
LEAST_SHARE = 0.0005  # a positive share below this would be shown as 0.0%

_OF_ONE = {"are": "is", "do": "does", "have": "has", "were": "was"}


def shorten(text: str, limit: int = 80) -> str:
    """The text on one line, cut to at most ``limit`` characters with an ellipsis at the cut."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def short_name(name: str, limit: int = 40) -> str:
    """The name on one line, cut in the middle to at most ``limit`` characters: names often differ at their end."""
    flat = " ".join(name.split())
    head = limit // 2
    return flat if len(flat) <= limit else f"{flat[:head].rstrip()}…{flat[head - limit + 1 :].lstrip()}"


def short_names(names: Iterable[str], limit: int) -> list[str]:
    """Shorten each name to at most ``limit`` characters, so that different names stay different.

    They are ``short_name`` unless two would be equal: such names keep the parts in which they differ, or get a number.
    """
    flat = [" ".join(name.split()) for name in names]
    shown = {name: short_name(name, limit) for name in flat}
    for _ in range(ROUNDS):
        alike: dict[str, list[str]] = {}
        for name, text in shown.items():
            alike.setdefault(text, []).append(name)
        for group in alike.values():
            if len(group) > 1:
                shown |= {name: _before(name, _shared_end(group), limit) for name in group}
    times = Counter(shown.values())
    alike_still = [name for name, text in shown.items() if times[text] > 1]
    parts = _differing_parts(alike_still)
    if parts and all(part[0] == "…" and HEAD + len(part) <= limit for part in parts):
        parts = [f"{name[:HEAD]}{part}" for name, part in zip(alike_still, parts, strict=True)]
    parts = [re.sub("…+", "…", short_name(part, limit)) for part in parts]
    if len(set(parts)) > len({shown[name] for name in alike_still}):
        shown |= zip(alike_still, parts, strict=True)
    shown |= _numbered(shown, limit)
    return [shown[name] for name in flat]


def _numbered(shown: Mapping[str, str], limit: int) -> dict[str, str]:
    """Full name → short name with a number appended, for the short names that are equal; numbered by full name."""
    times = Counter(shown.values())
    numbers: Counter[str] = Counter()
    found = {}
    for name in sorted(name for name, text in shown.items() if times[text] > 1):
        start = shown[name][: max(limit - 6, 1)].rstrip("…")
        numbers[start] += 1
        found[name] = f"{start}… ({numbers[start]})"
    return found


def _differing_parts(names: Sequence[str]) -> list[str]:
    """Each name reduced to the words and numbers in which the names differ, with an ellipsis for what all share.

    An empty list if the names have different numbers of words, or share no word.
    """
    words = [re.findall(r"[^\W_]+(?:\.\d+)*|[\W_]+", name) for name in names]
    if len({len(each) for each in words}) != 1:
        return []
    shared = [len(set(column)) == 1 for column in zip(*words, strict=True)]
    # A separator between two words that differ is kept.
    kept = [
        not here or (0 < at < len(shared) - 1 and not shared[at - 1] and not shared[at + 1])
        for at, here in enumerate(shared)
    ]
    if all(kept):
        return []
    return [
        "".join(
            "".join(word for word, _ in run) if keep else "…"
            for keep, run in groupby(zip(each, kept, strict=True), key=lambda one: one[1])
        )
        for each in words
    ]


def _shared_end(names: Sequence[str]) -> int:
    """Number of characters that all names share at their end, not counting the first HEAD characters of each."""
    from_the_end = zip(*(reversed(name[HEAD:]) for name in names), strict=False)
    return len([*takewhile(lambda letters: len(set(letters)) == 1, from_the_end)])


def _before(name: str, end: int, limit: int) -> str:
    """Shorten a name so that it shows its start and the part before its last ``end`` characters, which others share.

    If ``end`` is small, the whole end of the name is shown.
    """
    tail = (2 * limit) // 3
    if end < tail // 2:
        return f"{name[: limit - 1 - tail]}…{name[-tail:]}"
    tail -= 1
    kept = name[:-end]
    return f"{kept}…" if len(kept) < limit else f"{kept[: limit - 2 - tail]}…{kept[-tail:]}…"


def sentence_case(text: str) -> str:
    """``text`` with a capital first letter, otherwise unchanged; not for texts that begin with a user's name."""
    return text[:1].upper() + text[1:]


def with_article(noun: str) -> str:
    """The noun with its article by its first letter: ``a label``, ``an answer``."""
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """The number with its noun: ``1 rubric``, ``4,052 rubrics``, ``3 queries``. plural: if it is irregular."""
    regular = noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"
    return f"{number:,} {noun if number == 1 else plural or regular}"


def verb(number: int, plural: str) -> str:
    """The verb for this number of things: for 1 the singular (``is``, ``has``, ``separates``), else ``plural``."""
    return plural if number != 1 else _OF_ONE.get(plural, f"{plural}s")


def percent(level: float) -> str:
    """A level of intervals as text with all its digits: ``95%``, ``99.9%``."""
    return f"{100 * level:.10g}%"


def rounded(share: float) -> str:
    """A share in whole per cent. "0%" and "100%" are exact; else they become ``under 1%`` and ``over 99%``."""
    shown = f"{share:.0%}"
    return {"0%": "under 1%", "100%": "over 99%"}.get(shown, shown) if 0 < share < 1 else shown


def at_least(share: float) -> str:
    """A proven share with one decimal, rounded down: ``at least 98.5%``; ``100%`` if it is 1, up to rounding errors."""
    return "100%" if share > 1 - 1e-9 else f"at least {share - 0.0005 + 1e-9:z.1%}"


def numeral(value: float, style: str = "z.2f") -> str:
    """Format a number by Python's format specification ``style``, with a real minus sign: −0.29, −∞. Not for files.

    A number that is rounded to 0 has no sign, even if the style asks for a plus.
    """
    shown = f"{value:{style}}".replace("-", "−").replace("inf", "∞")
    return shown if set(shown) & set("123456789∞n") else shown.lstrip("+−")


def ends(low: float, high: float, style: str = "z.2f") -> str:
    """An interval as text: [−0.29, 0.31]; — if both ends are NaN."""
    return "—" if isnan(low) and isnan(high) else f"[{numeral(low, style)}, {numeral(high, style)}]"


def listed(names: Sequence[str], most: int = 5) -> str:
    """List at least one name: ``a``, ``a and b``, ``a, b and c``, or, beyond ``most`` names, ``a, b and 7 more``."""
    shown = [*names] if len(names) <= most else [*names[:most], f"{len(names) - most:,} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def some(names: Iterable[object], most: int = 3) -> str:
    """List names with commas: ``a``, ``a, b``, or, beyond ``most`` names, ``a, b, c and 7 more``."""
    told = [*map(str, names)]
    return ", ".join(told[:most]) + (f" and {len(told) - most:,} more" if len(told) > most else "")


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines of text with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def brief(error: Exception) -> str:
    """First line of the message of a library's error, at most 120 characters; "damaged" if it is empty."""
    return str(error).split("\n", 1)[0][:120].strip(". ") or "damaged"


def as_json(value: Any) -> str:
    """The value as one line of JSON, with non-ASCII letters unescaped."""
    return json.dumps(value, ensure_ascii=False)
