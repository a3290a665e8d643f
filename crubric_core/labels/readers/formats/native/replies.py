"""Judges' raw replies, one a line, or as OpenAI's batch endpoint returns them: the verdict is JSON within the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..records import parse_reply
from .base import MalformedError, NativeFormat, Record, Row, Setting, has, label, mapped, named
from .custom_ids import identity

_VERDICTS = (
    "grade",
    "score",
    "verdict",
    "criteria_met",
    "met",
    "label",
    "rating",
    "judgment",
    "judgement",
    "passed",
)
_TEXTS = (
    "text",
    "reply",
    "response",
    "raw_response",
    "judge_response",
    "judge_output",
    "raw",
    "content",
    "output",
)
_SYSTEMS = ("candidate_name", "candidate", "system", "system_id", "model_name", "model", "model_id")
_QUERIES = ("example_id", "query", "query_id", "prompt_id", "question_id", "task_id", "id")
_RUBRICS = ("criterion_id", "rubric_id", "rubric", "criterion", "item_id")
_JUDGES = ("judge", "judge_id", "judge_model", "grader", "grader_id", "grader_model")
_RUNS = ("run", "epoch", "trial", "attempt")
_REASONS = ("explanation", "reason", "rationale", "reasoning", "justification", "comment")
# where a provider/model stands in it; a number after the model counts the requests, and says nothing of what was judged
_CUSTOM_ID = re.compile(r"(?P<query>.+?)_(?P<system>[^_/\s]+/\S+?)(_\d+)?$")


def _first(record: Record, keys: tuple[str, ...]) -> Any:
    return next((record[k] for k in keys if record.get(k) not in (None, "")), None)


def _reply(record: Record) -> str | None:
    """The text of a judge, which may stand in the place of its verdict."""
    return next((record[k] for k in (*_VERDICTS, *_TEXTS) if isinstance(record.get(k), str)), None)


def _is_reply(record: Record) -> bool:
    text = _reply(record)
    if text is None or _first(record, _RUBRICS) is None or _first(record, _SYSTEMS) is None:
        return False
    found = parse_reply(text)
    return isinstance(found, dict) and any(k in found for k in _VERDICTS)


def _reply_rows(record: Record, setting: Setting) -> Iterator[Row]:
    """One verdict a record; a reply that is no JSON gave none."""
    found = parse_reply(_reply(record) or "")
    verdict = _first(found, _VERDICTS) if isinstance(found, dict) else None
    name, criterion = named(record, *_QUERIES), named(record, *_RUBRICS)
    system, judge = setting.system(_first(record, _SYSTEMS)), setting.judge(_first(record, _JUDGES))
    run = _first(record, _RUNS)
    yield label(system, name, criterion, judge, verdict, run=run, reason=_why(found))


def _why(found: Any) -> Any:
    """The reason that a reply gives beside its verdict."""
    return _first(found, _REASONS) if isinstance(found, dict) else None


def _batch_rows(record: Record, setting: Setting) -> Iterator[Row]:
    known = identity("custom_id", named(record, "custom_id"), setting, _CUSTOM_ID)
    body = mapped(mapped(record.get("response"), "a response").get("body"), "a body")
    choices = body.get("choices")
    message = (
        choices[0].get("message")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict)
        else {}
    )
    text = message.get("content") if isinstance(message, dict) else None
    found = parse_reply(text) if isinstance(text, str) else None
    verdicts = list(_verdicts_in(found))
    if not verdicts:
        raise MalformedError("has no verdict in its reply")
    judge = setting.judge(body.get("model"))
    for criterion, verdict in verdicts:
        yield label(known["system"], known["query"], known.get("rubric") or criterion, judge, verdict)


def _verdicts_in(found: Any) -> Iterator[tuple[str, Any]]:
    """(criterion, verdict) of a reply: one verdict, one by name, or a list of them."""
    if isinstance(found, list):
        for position, item in enumerate(found):
            if isinstance(item, dict) and (verdict := _first(item, _VERDICTS)) is not None:
                known = _first(item, (*_RUBRICS, "name", "id"))
                yield str(position if known is None else known), verdict
        return
    if not isinstance(found, dict):
        return
    if (verdict := _first(found, _VERDICTS)) is not None and not isinstance(verdict, (dict, list)):
        yield "score", verdict
        return
    for key, value in found.items():
        if isinstance(value, list):
            yield from _verdicts_in(value)
        elif isinstance(value, dict) and (inner := _first(value, _VERDICTS)) is not None:
            yield key, inner
        elif isinstance(value, (bool, int, float)):
            yield key, value


FORMATS = (
    NativeFormat(
        "batch-output",
        "OpenAI batch output",
        "records with custom_id and response.body; system and query from the custom_id",
        lambda r: has(r, "custom_id", "response") and has(r["response"], "body"),
        _batch_rows,
    ),
    NativeFormat(
        "judge-replies",
        "judges' raw replies",
        "records that name system and criterion, with a reply whose JSON holds the verdict",
        _is_reply,
        _reply_rows,
    ),
)
