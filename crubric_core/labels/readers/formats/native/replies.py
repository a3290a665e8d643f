"""Judges' raw replies: one in each record, or the output of the batch APIs of OpenAI, Anthropic and Gemini."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ...word_lists import word_list
from ...words import is_number, is_verdict
from ..records import AmbiguousReplyError, as_text, parse_reply, reply_values
from .base import MalformedError, NativeFormat, Record, Row, Setting, has, label, mapped, named
from .custom_ids import identity
from .verdicts import JUDGES, REASONS, RUBRICS, VERDICTS, ReplyVerdict, first_of, parse_verdicts

_TEXTS = word_list(
    "text reply response raw_response raw_output judge_response judge_output raw content output"
)
_SYSTEMS = ("candidate_name", "candidate", "system", "system_id", "model_name", "model", "model_id")
_QUERIES = ("example_id", "query", "query_id", "prompt_id", "question_id", "task_id", "id")
_RUNS = ("run", "epoch", "trial", "attempt")
# q1_openai/gpt-5_3: query and system (provider/model); a number at the end counts the requests, and is ignored
_CUSTOM_ID = re.compile(r"(?P<query>.+?)_(?P<system>[^_/\s]+/\S+?)(_\d+)?$")


def _reply(record: Record) -> str | None:
    """A judge's reply, from a field named like verdicts (``score``) or replies (``raw_response``); None without one."""
    return next((record[k] for k in (*VERDICTS, *_TEXTS) if isinstance(record.get(k), str)), None)


def _is_reply(record: Record) -> bool:
    text, own = _reply(record), first_of(record, VERDICTS)
    if text is None or any(first_of(record, names) is None for names in (RUBRICS, _SYSTEMS, _QUERIES)):
        return False
    if own is not None and own != text:
        return False  # a separate label: the text is an answer, or repeats that label
    return any(k in found for found in reply_values(text) if isinstance(found, dict) for k in VERDICTS)


def _reply_rows(record: Record, setting: Setting) -> Iterator[Row]:
    """The label in a record's reply; it is None if the reply has no JSON."""
    found = _parsed(_reply(record) or "", _verdict)
    name, criterion = named(record, *_QUERIES), named(record, *RUBRICS)
    system, judge = setting.system(first_of(record, _SYSTEMS)), setting.judge(first_of(record, JUDGES))
    run = first_of(record, _RUNS)
    yield label(system, name, criterion, judge, _verdict(found), run=run, reason=_why(found))


def _parsed(text: str, verdict: Callable[[Any], Any]) -> Any:
    try:
        return parse_reply(text, verdict)
    except AmbiguousReplyError as error:
        raise MalformedError(str(error)) from error


def _verdict(found: Any) -> Any:
    """The verdict in an object; None for any other value."""
    return first_of(found, VERDICTS) if isinstance(found, dict) else None


def _why(found: Any) -> Any:
    """The reason in an object, beside its verdict; None for any other value."""
    return first_of(found, REASONS) if isinstance(found, dict) else None


def _batch_rows(record: Record, setting: Setting) -> Iterator[Row]:
    """The labels in a batch reply; if it has several choices, each of them is a run."""
    known = identity(field := _id_field(record), named(record, field), setting, _CUSTOM_ID)
    body = _body(record)
    judge, texts = setting.judge(body.get("model") or body.get("modelVersion")), _texts_of(body)
    for run, text in texts:
        for said in _verdicts_in(text, known.get("rubric"), setting):
            whose = known["system"], known["query"], said.criterion, judge
            yield label(*whose, said.label, run=run if len(texts) > 1 else None, reason=said.reason)


def _is_batch(record: Record) -> bool:
    """Whether a record is the output of one request of a batch, also of one that failed."""
    response, result = record.get("response"), record.get("result")
    if not has(record, "custom_id"):
        of_gemini = "key" in record and (has(response, "candidates") or set(record) == {"key", "error"})
        return of_gemini and isinstance(record["key"], str)
    failed = "response" in record and response is None and isinstance(record.get("error"), dict)
    ended = isinstance(result, dict) and result.get("type") in _RESULTS
    return failed or ended or has(response, "body")


def _id_field(record: Record) -> str:
    """The field with the request's id, which the user gave: ``custom_id``, or ``key`` for Gemini."""
    return "custom_id" if has(record, "custom_id") else "key"


_RESULTS = ("succeeded", "errored", "canceled", "expired")  # types of Anthropic's results


def _body(record: Record) -> Record:
    """The body of the model's reply; if there is none, MalformedError with the error that is reported."""
    outer, key = ("result", "message") if "result" in record else ("response", "body")
    sent = mapped(record.get(outer) or {}, f"a {outer}")
    body = sent if has(sent, "candidates") else mapped(sent.get(key) or {}, f"a {key}")
    if body and not body.get("error"):
        return body
    said = body.get("error") or record.get("error") or sent.get("error") or sent.get("type")
    raise MalformedError(f"has no reply to its request{f': {as_text(said)}' if said else ''}")


def _texts_of(body: Record) -> list[tuple[Any, str]]:
    """(index, text) of each choice or candidate; [(None, text)] for replies without choices, such as Anthropic's."""
    if choices := _objects(body.get("choices")):
        messages = [
            (choice.get("index", place), choice.get("message")) for place, choice in enumerate(choices)
        ]
        return [(n, _joined(m.get("content")) if isinstance(m, dict) else "") for n, m in messages]
    if candidates := _objects(body.get("candidates")):
        contents = [(c.get("index", place), c.get("content")) for place, c in enumerate(candidates)]
        return [(n, _parts(c.get("parts")) if isinstance(c, dict) else "") for n, c in contents]
    parts = [part for item in _objects(body.get("output")) for part in _objects(item.get("content"))]
    return [(None, _joined(parts or body.get("content")))]


def _joined(content: Any) -> str:
    """The text of a message: as it is, or the joined text parts of a list, without parts such as reasoning; else ""."""
    if isinstance(content, list):
        texts = [p.get("text") for p in _objects(content) if p.get("type") in ("text", "output_text")]
        content = "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def _parts(parts: Any) -> str:
    """The joined text parts of a reply of Gemini, without those that are thoughts."""
    texts = [p.get("text") for p in _objects(parts) if not p.get("thought")]
    return "".join(text for text in texts if isinstance(text, str))


def _objects(items: Any) -> list[Record]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _verdicts_in(text: str, rubric: str | None, setting: Setting) -> list[ReplyVerdict]:
    """The verdicts in a reply: one on ``rubric`` if the request names it, else those on criteria, else the whole one.

    With a rubric, the reply may be a bare label (``4`` or ``yes``). Raises MalformedError if the reply has no verdict,
    or several for one rubric.
    """
    bare = text.strip().rstrip(".")
    if rubric and (is_number(bare) or is_verdict(bare)):
        return [ReplyVerdict(rubric, bare)]
    said = parse_verdicts(_parsed(text, _labels))
    found = [said.whole] if said.whole and (rubric or not said.criteria) else said.criteria
    if not found:
        raise MalformedError(
            "has no verdict in its reply: expected one in JSON, or for one rubric a label alone"
        )
    if rubric and len(found) > 1:
        raise MalformedError(f"is about the rubric {rubric!r} alone, and its reply has several verdicts")
    left = said.left if found is said.criteria else [v.criterion for v in said.criteria] or said.left
    for key in left:
        setting.remark(f"{key!r} of a judge's reply is not used beside its other verdicts")
    return [replace(v, criterion=rubric or v.criterion) for v in found]


def _labels(found: Any) -> Any:
    """Criterion → label of all verdicts in a value; None if it has none, or is malformed."""
    try:
        said = parse_verdicts(found)
    except MalformedError:
        return None
    return {v.criterion: v.label for v in [*filter(None, [said.whole]), *said.criteria]} or None


FORMATS = (
    NativeFormat(
        "batch-output",
        "output of a batch of requests",
        "records with custom_id and response.body, or result.message, or with key and response.candidates; system and "
        "query from the custom_id or key",
        _is_batch,
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
