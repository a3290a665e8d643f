"""Read InFoBench: prompts decomposed into yes-or-no questions with one verdict each; None means no answer."""

from __future__ import annotations

from collections.abc import Iterator

from .base import (
    MalformedError,
    NativeFormat,
    Record,
    Row,
    Setting,
    answer,
    label,
    listed,
    named,
    query,
    rubric,
)


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    name, questions = named(record, "id"), listed(record, "decomposed_questions")
    texts = (record.get("instruction"), record.get("input"))
    yield query(
        name, "\n\n".join(t for t in texts if isinstance(t, str) and t.strip()), record.get("category")
    )
    for position, question in enumerate(questions):
        yield rubric(name, str(position), question, scale=(0, 1))
    if record.get("eval") is None:
        return
    verdicts = listed(record, "eval")
    if len(verdicts) > len(questions):
        raise MalformedError(f"has {len(verdicts)} verdicts for {len(questions)} questions")
    system, judge = setting.system_of(record), setting.judge_of(record)
    yield from answer(system, name, record.get("output"))
    for position, verdict in enumerate(verdicts):
        yield label(system, name, str(position), judge, verdict)


FORMATS = (
    NativeFormat(
        "infobench",
        "InFoBench questions and verdicts",
        "records with decomposed_questions and eval; system and judge from the file's name",
        lambda r: isinstance(r.get("decomposed_questions"), list),
        _rows,
    ),
)
