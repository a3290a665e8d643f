"""Plain words that pages, published views and reports share."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, takewhile
from math import isnan
from typing import Any

HEAD = 8  # characters of a name's start that are no part of its end
ROUNDS = 3  # of cutting names that still look alike
LEAST_SHARE = 0.0005  # a positive one below it would be shown as 0.0%

_OF_ONE = {"are": "is", "do": "does", "have": "has", "were": "was"}


def shorten(text: str, limit: int = 80) -> str:
    """At most ``limit`` characters on one line, the cut shown by an ellipsis."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def short_name(name: str, limit: int = 40) -> str:
    """A name of at most ``limit`` characters on one line; one that is cut keeps its end, by which names differ."""
    flat = " ".join(name.split())
    head = limit // 2
    return flat if len(flat) <= limit else f"{flat[:head].rstrip()}…{flat[head - limit + 1 :].lstrip()}"


def told_apart(names: Iterable[str], limit: int) -> list[str]:
    """``short_name`` of each; names that then look alike keep what they differ by, so that they look different."""
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
    """Those of the shown names that look like another's, with a number in the order of the whole names."""
    times = Counter(shown.values())
    numbers: Counter[str] = Counter()
    found = {}
    for name in sorted(name for name, text in shown.items() if times[text] > 1):
        start = shown[name][: max(limit - 6, 1)].rstrip("…")
        numbers[start] += 1
        found[name] = f"{start}… ({numbers[start]})"
    return found


def _differing_parts(names: Sequence[str]) -> list[str]:
    """The words and numbers by which names of equally many differ, with an ellipsis for those that all share.

    No name where their numbers of words differ, or where nothing is shared.
    """
    words = [re.findall(r"[^\W_]+(?:\.\d+)*|[\W_]+", name) for name in names]
    if len({len(each) for each in words}) != 1:
        return []
    shared = [len(set(column)) == 1 for column in zip(*words, strict=True)]
    # A mark between two words that differ says that these are neighbours.
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
    """How many characters all of them have in common at their end, beyond the start of the shortest."""
    from_the_end = zip(*(reversed(name[HEAD:]) for name in names), strict=False)
    return len([*takewhile(lambda letters: len(set(letters)) == 1, from_the_end)])


def _before(name: str, end: int, limit: int) -> str:
    """The start of a name and what stands before its last ``end`` characters; all of its end, if there is room."""
    tail = (2 * limit) // 3
    if end < tail // 2:
        return f"{name[: limit - 1 - tail]}…{name[-tail:]}"
    tail -= 1
    kept = name[:-end]
    return f"{kept}…" if len(kept) < limit else f"{kept[: limit - 2 - tail]}…{kept[-tail:]}…"


def sentence_case(text: str) -> str:
    """``text`` with a capital first letter and all else as it stands; for words of ours, not for names of files."""
    return text[:1].upper() + text[1:]


def with_article(noun: str) -> str:
    """``a label``, ``an answer``; by the first letter."""
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """``1 rubric``, ``4,052 rubrics``, ``3 queries``."""
    regular = noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"
    return f"{number:,} {noun if number == 1 else plural or regular}"


def verb(number: int, plural: str) -> str:
    """The verb of so many things, by its plural: ``is``, ``has``, ``separates`` for one, else as it is given."""
    return plural if number != 1 else _OF_ONE.get(plural, f"{plural}s")


def percent(level: float) -> str:
    """The level of intervals as it is given: ``95%``, ``99.9%``."""
    return f"{100 * level:.10g}%"


def rounded(share: float) -> str:
    """A share in whole per cent; "0%" and "100%" are none and all: ``under 1%``, ``over 99%``."""
    shown = f"{share:.0%}"
    return {"0%": "under 1%", "100%": "over 99%"}.get(shown, shown) if 0 < share < 1 else shown


def at_least(share: float) -> str:
    """A proven share, rounded down: ``at least 98.5%``; ``100%`` where it is all."""
    return "100%" if share > 1 - 1e-9 else f"at least {share - 0.0005 + 1e-9:z.1%}"


def numeral(value: float, style: str = "z.2f") -> str:
    """A number by a format specification of Python, with the minus sign of charts: −0.29, −∞. Files keep the hyphen.

    What is rounded to 0 has no sign, even where others have a plus: −0.001 is not +0.00.
    """
    shown = f"{value:{style}}".replace("-", "−").replace("inf", "∞")
    return shown if set(shown) & set("123456789∞n") else shown.lstrip("+−")


def ends(low: float, high: float, style: str = "z.2f") -> str:
    """An interval: [−0.29, 0.31]; — where it is unknown."""
    return "—" if isnan(low) and isnan(high) else f"[{numeral(low, style)}, {numeral(high, style)}]"


def listed(names: Sequence[str], most: int = 5) -> str:
    """``a``, ``a and b``, ``a, b and c``, ``a, b and 7 more``."""
    shown = [*names] if len(names) <= most else [*names[:most], f"{len(names) - most:,} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def some(names: Iterable[object], most: int = 3) -> str:
    """``a``, ``a, b``, ``a, b, c and 7 more``."""
    told = [*map(str, names)]
    return ", ".join(told[:most]) + (f" and {len(told) - most:,} more" if len(told) > most else "")


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """A line a row, its cells below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def brief(error: Exception) -> str:
    """The first line of what an error of a library says, at most 120 characters; "damaged" where it says nothing."""
    return str(error).split("\n", 1)[0][:120].strip(". ") or "damaged"


def as_json(value: Any) -> str:
    """A mapping, or another value, on one line of JSON, with the letters of every script as they are."""
    return json.dumps(value, ensure_ascii=False)
