"""Portable names: an id of each rubric from what it asks, and an id of a bank from what it holds.

Both depend on texts alone, so that a rubric has the same id in any subset, order of rows and file format.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

_TOKEN = re.compile(r"(?<![0-9A-Za-z])(crb-[0-9a-f]{16})(?:@([0-9a-f]{12}))?(?![0-9A-Za-z@])")
_UNIT, _RECORD = "\x1f", "\x1e"


@lru_cache(maxsize=1 << 16)
def normalised(text: str) -> str:
    """Normalise a text for comparison: Unicode compatibility forms (NFKC), case and white space do not count."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def own_name(name: str, query: str) -> str:
    """A rubric's name without the prefix ``query#``."""
    return name.removeprefix(f"{query}#") or name


def rubric_ids(
    queries: Sequence[str],
    texts: Sequence[str | None],
    names: Sequence[str],
    of: Iterable[int] | None = None,
) -> tuple[str, ...]:
    """Id of each rubric, ``crb-`` and 16 hexadecimal digits, or only of the rubrics at the positions ``of``.

    A hash of the rubric's query and its normalised text, or its own name if it has no text. If several rubrics of one
    query have the same text or name, their full names are hashed too.
    """
    own = [own_name(name, query) for name, query in zip(names, queries, strict=True)]
    said = [
        ("text", normalised(text)) if text else ("name", name) for text, name in zip(texts, own, strict=True)
    ]
    keys = [(query, *what) for query, what in zip(queries, said, strict=True)]
    often = Counter(keys)
    parts = (
        keys[at] if often[keys[at]] == 1 else (*keys[at], str(names[at]))
        for at in (range(len(keys)) if of is None else of)
    )
    return tuple(f"crb-{_digest(_UNIT.join(part), 16)}" for part in parts)


def bank_id(rubrics: Iterable[tuple[str, int, int, int]]) -> str:
    """12 hexadecimal digits: a hash of the bank's (id, scale_min, scale_max, polarity), independent of their order."""
    return _digest(_RECORD.join(sorted(_UNIT.join(map(str, rubric)) for rubric in rubrics)), 12)


def token(rubric: str, bank: str) -> str:
    """Join a rubric's id and its bank's, as exports contain them: ``rubric@bank``."""
    return f"{rubric}@{bank}"


def find_token(*texts: str | None) -> tuple[str, str | None] | None:
    """(rubric id, bank id or None) from the first of the texts that contains a token; None if none does."""
    for text in texts:
        found = _TOKEN.search(text) if text else None
        if found:
            return found[1], found[2]
    return None


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]
