"""WildBench: one overall score from 1 to 10 for each query, as text, and verdicts on its checklist if it has any."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .base import MalformedError, NativeFormat, Record, Row, Setting, answer, has, label, named, query, rubric
from .verdicts import VERDICTS, first_of


def _score(record: Record) -> Any:
    parsed = record.get("parsed_result")
    inner = parsed.get("score") if isinstance(parsed, dict) else None
    score = record.get("score", inner)
    return inner if score in (None, "") else score


def _reason(record: Record) -> Any:
    """Strengths and weaknesses as the judge wrote them; None without any."""
    parsed = record.get("parsed_result")
    if not isinstance(parsed, dict):
        return None
    return {k: parsed[k] for k in ("strengths", "weaknesses") if parsed.get(k)} or None


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    name = named(record, "session_id")
    said = setting.given.get("system")
    system = said or setting.system_of(record, "model_test", "generator").rsplit("/", 1)[-1]
    yield query(name, record.get("conversation_input", record.get("model_input")))
    yield rubric(name, "score", "overall quality", scale=(1, 10))
    yield from answer(system, name, record.get("model_output"))
    judge = setting.judge_of(record)
    yield label(system, name, "score", judge, _score(record), reason=_reason(record))
    for place, (text, verdict) in enumerate(_checked(record)):
        yield rubric(name, str(place), text, scale=(0, 1))
        yield label(system, name, str(place), judge, verdict)


def _checked(record: Record) -> Iterator[tuple[Any, Any]]:
    """(text, verdict) of each question of the checklist, where the record has the verdicts: bare, or in objects."""
    results = record.get("checklist_results")
    if not isinstance(results, list):
        return
    texts = record.get("checklist")
    if not isinstance(texts, list) or len(texts) != len(results):
        raise MalformedError("has checklist_results, and no checklist of the same length")
    for text, result in zip(texts, results, strict=True):
        yield text, first_of(result, VERDICTS) if isinstance(result, dict) else result


FORMATS = (
    NativeFormat(
        "wildbench",
        "WildBench scores",
        "records with session_id, parsed_result or model_test, and score",
        lambda r: has(r, "session_id", "score") and ("model_test" in r or "parsed_result" in r),
        _rows,
    ),
)
