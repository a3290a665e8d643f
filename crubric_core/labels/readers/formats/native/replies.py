"""Judges' raw replies, one a line, or as OpenAI's batch endpoint returns them: the verdict is JSON within the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ..records import AmbiguousReplyError, parse_reply, reply_values
from .base import MalformedError, NativeFormat, Record, Row, Setting, has, label, mapped, named
from .custom_ids import identity
from .verdicts import REASONS, RUBRICS, VERDICTS, ReplyVerdict, first_of, said_in

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
_JUDGES = ("judge", "judge_id", "judge_model", "grader", "grader_id", "grader_model")
_RUNS = ("run", "epoch", "trial", "attempt")
# where a provider/model stands in it; a number after the model counts the requests, and says nothing of what was judged
_CUSTOM_ID = re.compile(r"(?P<query>.+?)_(?P<system>[^_/\s]+/\S+?)(_\d+)?$")


def _reply(record: Record) -> str | None:
    """The text of a judge, which may stand in the place of its verdict."""
    return next((record[k] for k in (*VERDICTS, *_TEXTS) if isinstance(record.get(k), str)), None)


def _is_reply(record: Record) -> bool:
    text, own = _reply(record), first_of(record, VERDICTS)
    if text is None or any(first_of(record, names) is None for names in (RUBRICS, _SYSTEMS, _QUERIES)):
        return False
    if own is not None and own != text:
        return False  # a label of its own: the text is an answer, or says the same again
    return any(k in found for found in reply_values(text) if isinstance(found, dict) for k in VERDICTS)


def _reply_rows(record: Record, setting: Setting) -> Iterator[Row]:
    """One verdict a record; a reply that is no JSON gave none."""
    found = _parsed(_reply(record) or "", _verdict)
    name, criterion = named(record, *_QUERIES), named(record, *RUBRICS)
    system, judge = setting.system(first_of(record, _SYSTEMS)), setting.judge(first_of(record, _JUDGES))
    run = first_of(record, _RUNS)
    yield label(system, name, criterion, judge, _verdict(found), run=run, reason=_why(found))


def _parsed(text: str, verdict: Callable[[Any], Any]) -> Any:
    try:
        return parse_reply(text, verdict)
    except AmbiguousReplyError as error:
        raise MalformedError(str(error)) from error


def _verdict(found: Any) -> Any:
    """The verdict of an object; None of anything else."""
    return first_of(found, VERDICTS) if isinstance(found, dict) else None


def _why(found: Any) -> Any:
    """The reason that a reply gives beside its verdict."""
    return first_of(found, REASONS) if isinstance(found, dict) else None


def _batch_rows(record: Record, setting: Setting) -> Iterator[Row]:
    """The verdicts of each choice; of several choices each is a run."""
    known = identity("custom_id", named(record, "custom_id"), setting, _CUSTOM_ID)
    body = mapped(mapped(record.get("response"), "a response").get("body"), "a body")
    judge, choices = setting.judge(body.get("model")), body.get("choices")
    choices = choices if isinstance(choices, list) and choices else [None]
    for place, choice in enumerate(choices):
        run = choice.get("index", place) if len(choices) > 1 and isinstance(choice, dict) else None
        for said in _verdicts_in(choice, known.get("rubric"), setting):
            whose = known["system"], known["query"], said.criterion, judge
            yield label(*whose, said.label, run=run, reason=said.reason)


def _verdicts_in(choice: Any, rubric: str | None, setting: Setting) -> list[ReplyVerdict]:
    """The verdicts of a choice: of the rubric that its request names, else of criteria rather than of the whole."""
    message = choice.get("message") if isinstance(choice, dict) else None
    text = message.get("content") if isinstance(message, dict) else None
    said = said_in(_parsed(text, _labels) if isinstance(text, str) else None)
    found = [said.whole] if said.whole and (rubric or not said.criteria) else said.criteria
    if not found:
        raise MalformedError("has no verdict in its reply")
    if rubric and len(found) > 1:
        raise MalformedError(f"is about the rubric {rubric!r} alone, and its reply has several verdicts")
    left = said.left if found is said.criteria else [v.criterion for v in said.criteria] or said.left
    for key in left:
        setting.tell(f"{key!r} of a judge's reply is not used beside its other verdicts")
    return [replace(v, criterion=rubric or v.criterion) for v in found]


def _labels(found: Any) -> Any:
    """All labels that a value gives, by their criteria; None where it gives none, or cannot be read."""
    try:
        said = said_in(found)
    except MalformedError:
        return None
    return {v.criterion: v.label for v in [*filter(None, [said.whole]), *said.criteria]} or None


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
