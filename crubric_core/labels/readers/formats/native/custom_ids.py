"""Split an id that was composed of query, system and rubric, by the user's pattern, such as ``{query}_{system}``."""

from __future__ import annotations

import re

from .....errors import IngestError
from .base import MalformedError, Setting


def identity(field: str, made: str, setting: Setting, usual: re.Pattern[str] | None = None) -> dict[str, str]:
    """{"query", "system" and, if present, "rubric": name} of the id ``made``, by the user's pattern, else ``usual``.

    field: the id's field, under which the user gives the pattern. If the id does not match, it is the query, and the
    user names the system. Raises MalformedError if the system is unknown.
    """
    pattern = setting.given.get(field)
    found = _compiled(pattern).fullmatch(made) if pattern else usual.fullmatch(made) if usual else None
    parts = {k: v for k, v in (found.groupdict() if found else {}).items() if v}
    if (
        pattern
        and parts
        and (other := _compiled(pattern, longest=True).fullmatch(made))
        and other.groupdict() != parts
    ):
        setting.remark(_split_otherwise(field, pattern))
    if pattern and not found:
        setting.remark(f"some {field} do not match {pattern}: such an id is read as the query")
    if "system" in setting.given or "system" in parts:
        return {"query": made, **parts, "system": setting.system(parts.get("system"))}
    raise MalformedError(
        f"has the {field} {made!r}, and it is not known which part is its system: give a pattern in the mapping, "
        f'such as {{"{field}": "={_example(made)}"}}, or name one system for all ({{"system": "=…"}})'
    )


def _split_otherwise(field: str, pattern: str) -> str:
    """The remark on a pattern that can split an id in several ways."""
    return (
        f"{pattern} can split some {field} in several ways: each part is taken as short as possible, from the first "
        "on; if names contain the separator, add the text that all of them share to the pattern, such as "
        "{system}-q{query}"
    )


def _example(made: str) -> str:
    """An example of a pattern for an id, by the separator that it seems to have: ``{query}__{system}`` for q1__gpt."""
    for between in _BETWEEN:
        if made.count(between) in (1, 2):
            return between.join(("{query}", "{system}", "{rubric}")[: made.count(between) + 1])
    return "{query}_{system}"


_BETWEEN = ("__", "::", "--", "|", ":", "/", "_", "-")


def _compiled(pattern: str, *, longest: bool = False) -> re.Pattern[str]:
    parts = re.split(r"\{(query|system|rubric)\}", pattern)
    if len(fields := parts[1::2]) > len(set(fields)):
        raise IngestError(f"The pattern {pattern[:200]!r} names a field twice: name each at most once.")
    return re.compile(
        "".join(
            re.escape(p) if i % 2 == 0 else f"(?P<{p}>.+{'?' * (not longest)})" for i, p in enumerate(parts)
        )
    )
