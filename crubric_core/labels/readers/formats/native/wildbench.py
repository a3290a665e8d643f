"""Read WildBench: one overall score from 1 to 10 per query, written as text; the path names the judge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .base import NativeFormat, Record, Row, Setting, answer, has, label, named, query, rubric


def _score(record: Record) -> Any:
    parsed = record.get("parsed_result")
    inner = parsed.get("score") if isinstance(parsed, dict) else None
    score = record.get("score", inner)
    return inner if score in (None, "") else score


def _reason(record: Record) -> Any:
    """The judge's strengths and weaknesses as an object; None if there are none."""
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
    yield label(system, name, "score", setting.judge_of(record), _score(record), reason=_reason(record))


FORMATS = (
    NativeFormat(
        "wildbench",
        "WildBench scores",
        "records with session_id, parsed_result or model_test, and score",
        lambda r: has(r, "session_id", "score") and ("model_test" in r or "parsed_result" in r),
        _rows,
    ),
)
