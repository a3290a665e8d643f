"""Langfuse score exports (JSON, JSON Lines, CSV, or the API's answer).

A score names its trace, not its system. The system is taken from its metadata, dataset run, release or trace name, else
from the user. Traces of several systems with the same dataset item, or the same input, are one query. Annotations by
people are gold labels.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..records import as_text
from .base import NativeFormat, Record, Row, Setting, gold, has, label, listed, mapped, named


def _get(record: Record, *keys: str) -> Any:
    """The first non-empty value of some fields, in camel or snake case, in the score, its metadata or its trace."""
    details = record.get("metadata")
    if isinstance(details, str):
        try:
            details = json.loads(details)
        except (ValueError, RecursionError):
            details = None
    places = [place for place in (record, details, record.get("trace")) if isinstance(place, dict)]
    spelled = [name for key in keys for name in (key, _snake(key))]
    found = (place[name] for place in places for name in spelled if place.get(name) not in (None, "", [], {}))
    return next(found, None)


def _snake(key: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in key)


_ITEMS = (
    "itemId",
    "queryId",
    "questionId",
    "promptId",
    "taskId",
    "exampleId",
)  # in metadata that users write


def _value(record: Record) -> Any:
    kind = str(_get(record, "dataType") or "").upper()
    text, value = _get(record, "stringValue"), _get(record, "value")
    return text if (kind == "CATEGORICAL" or value is None) and text is not None else value


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    name, criterion = _query(record, setting), named(record, "name")
    system = setting.system(
        _get(record, "model", "modelName", "system", "datasetRunName", "release", "version", "traceName")
    )
    if str(record.get("source", "")).upper() == "ANNOTATION":
        who = _get(record, "authorUserName", "authorUserId") or "human"
        yield gold(system, name, criterion, as_text(who), _value(record), reason=_get(record, "comment"))
        return
    judge = setting.judge(_get(record, "judge", "judgeModel", "evaluator", "evaluatorName"))
    yield label(system, name, criterion, judge, _value(record), reason=_get(record, "comment"))


def _query(record: Record, setting: Setting) -> str:
    """The query's name: the dataset item, else the input, else the trace (with a remark, as systems share none)."""
    item = _get(record, "datasetItemId", *_ITEMS)
    part = _get(record, "observationId")  # the score is of one step of a trace
    asked = _get(record, "traceInput", "input") if item is None and part is None else item
    if asked is not None:
        return as_text(asked)
    setting.remark(
        "its scores name no dataset item, and no input, so that each trace is a query of its own: where traces of "
        "several systems answer one query, write its name into their metadata as question_id"
    )
    trace = _get(record, "traceId", "sessionId")
    return named({"traceId": trace if part is None else f"{trace}/{part}"}, "traceId")


def _answer_rows(record: Record, setting: Setting) -> Iterator[Row]:
    for score in listed(record, "data"):
        yield from _rows(mapped(score, "a score"), setting)


def _is_score(record: Any) -> bool:
    return (
        has(record, "name", "source")
        and (has(record, "traceId") or has(record, "trace_id"))
        and ("value" in record or "stringValue" in record or "string_value" in record)
    )


FORMATS = (
    NativeFormat(
        "langfuse",
        "Langfuse scores",
        "records with traceId, name, source and value or stringValue",
        _is_score,
        _rows,
    ),
    NativeFormat(
        "langfuse-api",
        "Langfuse scores, as the API answers",
        "an object whose data hold traceId, name, source and value",
        lambda r: isinstance(r.get("data"), list) and bool(r["data"]) and _is_score(r["data"][0]),
        _answer_rows,
    ),
)
