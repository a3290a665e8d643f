"""System, query and rubric within an id that its maker composed, by the pattern that the user gives."""

from __future__ import annotations

import re

from .....errors import IngestError
from .base import MalformedError, Setting


def identity(field: str, made: str, setting: Setting, usual: re.Pattern[str] | None = None) -> dict[str, str]:
    """Query and system (and rubric) of an id: by the user's pattern for its field, else by the usual one.

    Without either the id is the query, and the user names the system. Raises MalformedError where nothing does.
    """
    pattern = setting.given.get(field)
    found = _compiled(pattern).fullmatch(made) if pattern else usual.fullmatch(made) if usual else None
    parts = {k: v for k, v in (found.groupdict() if found else {}).items() if v}
    if "system" in setting.given or "system" in parts:
        return {"query": made, **parts, "system": setting.system(parts.get("system"))}
    raise MalformedError(
        f"has the {field} {made!r}, and where its system stands is not known: say so in the mapping, such as "
        f'{{"{field}": "={{query}}_{{system}}"}}, or name the system of all ({{"system": "=…"}})'
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"\{(query|system|rubric)\}", pattern)
    if len(fields := parts[1::2]) > len(set(fields)):
        raise IngestError(f"The pattern {pattern[:200]!r} names a field twice: name each at most once.")
    return re.compile("".join(re.escape(p) if i % 2 == 0 else f"(?P<{p}>.+?)" for i, p in enumerate(parts)))
