"""Read Argilla's records: as ``to_json`` and the API write them, flat, and as its first version stored them on the Hub.

A question is a rubric and each user a judge. A model or rule that suggested an answer is a judge, too. A long text that
a user gave to one question is the reason of the labels beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from ..records import as_text
from .base import MalformedError, NativeFormat, Record, Row, Setting, answer, has, label, named
from .label_studio import called

Answer = tuple[str, Any, Any]  # question, user, value (None if it was not submitted)
_RESPONSES, _USERS, _SUGGESTION = ".responses", ".responses.users", ".suggestion"
_FIRST = "-suggestion"  # ending of suggestions in the first version
_WORDS = 8  # a text with at least so many words is no label
_TEXTS = ("response", "answer", "completion", "output", "generation")


def _parsed(value: Any) -> Any:
    """The JSON value in a cell of a table; the cell itself if it holds no JSON list or object."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _submitted(value: Any, status: Any) -> Any:
    return value if status in (None, "submitted") else None


def _items(value: Any) -> list[Record]:
    """A list of objects, also from an object of lists, as data sets on the Hub store it."""
    found = _parsed(value)
    if isinstance(found, dict) and found and all(isinstance(v, list) for v in found.values()):
        return [dict(zip(found, row, strict=True)) for row in zip_longest(*found.values())]
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _responses(record: Record) -> Iterator[Answer]:
    """Yield the users' answers, in any of the layouts of a record."""
    given = record.get("responses")
    if isinstance(given, dict):
        for question, items in given.items():
            for item in _items(items):
                yield question, item.get("user_id"), _submitted(item.get("value"), item.get("status"))
    elif isinstance(given, list):
        for item in _items(given):
            for question, held in (item.get("values") or {}).items():
                value = held.get("value") if isinstance(held, dict) else held
                yield question, item.get("user_id"), _submitted(value, item.get("status"))
    else:
        yield from _flat_responses(record)


def _flat_responses(record: Record) -> Iterator[Answer]:
    for key in record:
        if key.endswith(_RESPONSES):
            values, users = _parsed(record[key]) or [], _parsed(record.get(f"{key}.users")) or []
            statuses = _parsed(record.get(f"{key}.status")) or [None] * len(users)
            if not (isinstance(values, list) and len(values) == len(users) == len(statuses)):
                raise MalformedError(f"does not have as many {key!r} as users")
            for value, user, status in zip(values, users, statuses, strict=True):
                yield key.removesuffix(_RESPONSES), user, _submitted(value, status)
        elif f"{key}{_FIRST}" in record:
            for item in _items(record[key]):
                yield key, item.get("user_id"), _submitted(item.get("value"), item.get("status"))


def _suggestions(record: Record) -> Iterator[Answer]:
    """Yield the suggested answers of models or rules, each with the agent's name in place of the user."""
    given = record.get("suggestions")
    if isinstance(given, dict):
        for question, held in given.items():
            if isinstance(held, dict):
                yield question, held.get("agent"), held.get("value")
    elif isinstance(given, list):
        for held in _items(given):
            yield named(held, "question_name"), held.get("agent"), held.get("value")
    for key in record:
        if key.endswith(_SUGGESTION):
            yield key.removesuffix(_SUGGESTION), record.get(f"{key}.agent"), record[key]
        elif key.endswith(_FIRST):
            about = _parsed(record.get(f"{key}-metadata"))
            yield (
                key.removesuffix(_FIRST),
                about.get("agent") if isinstance(about, dict) else None,
                record[key],
            )


def _about(record: Record) -> list[dict[str, Any]]:
    """The objects that describe a record, in this order: its metadata, its fields, the record itself."""
    inner = [_parsed(record.get(part)) for part in ("metadata", "fields")]
    return [part for part in (*inner, record) if isinstance(part, dict)]


def _first(parts: list[dict[str, Any]], canonical: str) -> Any:
    return next((found for part in parts if (found := called(part, canonical)) is not None), None)


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    about = _about(record)
    model = _first(about, "system")
    system = setting.unknown("system") if model is None else setting.system(model)
    query_name = _first(about, "query")
    name = named(record, "external_id", "id") if query_name in (None, "") else str(query_name)
    if model is not None:
        said = (part[t] for part in about for t in _TEXTS if isinstance(part.get(t), str))
        yield from answer(system, name, next(said, None))
    answers = list(_responses(record))
    reasons = {user: value for _, user, value in answers if _is_text(value)}
    for question, user, value in answers:
        if not _is_text(value):
            who = None if user is None else as_text(user)
            yield label(system, name, question, setting.judge(who), value, reason=reasons.get(user))
    for question, agent, value in _suggestions(record):
        if value is not None and not _is_text(value):
            yield label(system, name, question, setting.judge(agent or "suggestion"), value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value.split()) > _WORDS


def _fits(record: Record) -> bool:
    if has(record, "fields", "responses") and isinstance(record["fields"], dict):
        return isinstance(record["responses"], (dict, list))
    flat = any(key.endswith(_USERS) for key in record if isinstance(key, str))
    return flat or any(f"{key}{_FIRST}" in record and _items(record[key]) for key in record)


FORMATS = (
    NativeFormat(
        "argilla",
        "Argilla records",
        "records with fields, responses and suggestions, or with columns such as rating.responses.users; each question "
        "is a rubric, each user a judge",
        _fits,
        _rows,
    ),
)
