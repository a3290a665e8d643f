"""Recognise parts of file names that are no system or judge, because the records have them as query or rubric."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import product

from ..describing import Found
from ..file_names import NameGuess, fields_of
from ..formats.native import NATIVE
from ..guess import MODEL
from ..tables.plan_cells import cells_of

MOST_JUDGES = 20  # if there are more different names, only models count as judges
_SAID_TO_JUDGE = re.compile(r"(?i)(=|by[\s_.\-]+)\{judge\}")
_SEPARATORS = ("__", "_", "-", " ", ".")

Values = Sequence[AbstractSet[str]]


def without_repeated_values(
    guess: NameGuess, found: Sequence[Found], paths: Sequence[str]
) -> NameGuess | None:
    """The guess with ``*`` in place of parts that repeat a value of the records, or that give too many judges.

    ``q7__gpt-4.json`` and ``q7/gpt-4.json`` are of the system gpt-4 if the records' query is q7. None if a part of the
    names contains both, and no separator splits all names.
    """
    values = [_single_values(f) for f in found]
    pattern = guess.pattern
    judges = _parts(pattern, "judge", paths)
    if _all_among(judges, values) or (len(set(judges)) > MOST_JUDGES and not all(map(MODEL.search, judges))):
        pattern = pattern.replace("{judge}", "*")
    if _all_among(_parts(pattern, "system", paths), values):
        pattern = _with_other_part(pattern)
    return _with_part_alone(replace(guess, pattern=pattern), values, paths)


def _single_values(found: Found) -> frozenset[str]:
    """The system, query and rubric of a table, as far as it has a single value of each."""
    plan = found.plan
    if plan.format in NATIVE:
        return frozenset()
    columns = [c for k in ("system", "query", "rubric") if isinstance(c := plan.mapping.get(k), str)]
    cells = [set(cells_of(plan, found.rows, c)) for c in columns if not c.startswith("=")]
    return frozenset(str(v) for own in cells if len(own) == 1 for v in own if v)


def _parts(pattern: str, field: str, paths: Sequence[str]) -> list[str]:
    named = f"{{{field}}}" in pattern
    return [fields_of(pattern, path).get(field, "") if named else "" for path in paths]


def _all_among(parts: Sequence[str], values: Values) -> bool:
    return all(part in names for part, names in zip(parts, values, strict=True))


def _with_other_part(pattern: str) -> str:
    """The pattern with the system at the judge's place, unless the path marks it as a judge, or at the file's name."""
    if _SAID_TO_JUDGE.search(pattern):
        return pattern.replace("{system}", "*")
    if "{judge}" in pattern:
        return pattern.replace("{system}", "*").replace("{judge}", "{system}")
    return pattern.replace("{system}/*", "*/{system}") if "{system}/*" in pattern else ""


def _with_part_alone(guess: NameGuess, values: Values, paths: Sequence[str]) -> NameGuess | None:
    """The guess for names such as ``gpt-4_q7``, which join the system and a value of the records.

    Unchanged if some name has no such value. None if no separator splits all names.
    """
    systems = _parts(guess.pattern, "system", paths)
    joined = [
        any(s.startswith(t + by) or s.endswith(by + t) for t in names for by in _SEPARATORS)
        for s, names in zip(systems, values, strict=True)
    ]
    if not all(joined):
        return guess
    for by, ahead in product(_SEPARATORS, (True, False)):
        pattern = guess.pattern.replace("{system}", f"{{system}}{by}*" if ahead else f"*{by}{{system}}")
        rest = _parts(pattern, "system", paths)
        whole = [
            {f"{r}{by}{t}" if ahead else f"{t}{by}{r}" for t in names}
            for r, names in zip(rest, values, strict=True)
        ]
        if all(rest) and _all_among(systems, whole):
            return replace(guess, pattern=pattern)
    return None
