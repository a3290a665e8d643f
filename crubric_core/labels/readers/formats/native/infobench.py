"""InFoBench: a prompt decomposed into yes-or-no questions, and a verdict on each, by a judge or by several people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .base import (
    MalformedError,
    NativeFormat,
    Record,
    Row,
    Setting,
    answer,
    is_list_of,
    label,
    listed,
    named,
    query,
    rubric,
)

_EVALS = ("eval", "evals", "evaluation", "annotation", "annotations", "labels", "ratings")
_WHO = ("annotator", "annotator_id", "rater", "worker_id", "name", "id")
_RATER = re.compile(r"(?i)(annotator|rater|expert|human|worker)_?(\d+|[a-z])?")


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    name, questions, found = named(record, "id"), listed(record, "decomposed_questions"), _by_rater(record)
    for verdicts in found.values():
        _check(verdicts, questions)
    texts = (record.get("instruction"), record.get("input"))
    yield query(
        name, "\n\n".join(t for t in texts if isinstance(t, str) and t.strip()), record.get("category")
    )
    for position, question in enumerate(questions):
        yield rubric(name, str(position), question, scale=(0, 1))
    if not found:
        return
    system = setting.system_of(record)
    yield from answer(system, name, record.get("output"))
    for rater, verdicts in found.items():
        judge = rater or setting.judge_of(record)
        for position, verdict in enumerate(verdicts):
            yield label(system, name, str(position), judge, verdict)


def _check(verdicts: list[Any], questions: list[Any]) -> None:
    if any(isinstance(verdict, (list, dict)) for verdict in verdicts):
        raise MalformedError(
            "has lists in place of verdicts, and nothing says whose each is: give the verdicts of each person under a "
            'name, such as {"annotation": {"annotator_1": [true, false]}}'
        )
    if len(verdicts) > len(questions):
        raise MalformedError(f"has {len(verdicts)} verdicts for {len(questions)} questions")


def _by_rater(record: Record) -> dict[str, list[Any]]:
    """Rater → verdicts in the order of the questions; "" is the judge of the file."""
    found: dict[str, list[Any]] = {}
    for key in _EVALS:
        value = record.get(key)
        if isinstance(value, dict):
            found |= {who: verdicts for who, verdicts in value.items() if isinstance(verdicts, list)}
        elif is_list_of(value, "eval"):
            found |= {named(item, *_WHO): listed(item, "eval") for item in listed(record, key)}
        elif isinstance(value, list):
            found[""] = value
    raters = {who: record.get(who) for who in record if _RATER.fullmatch(who)}
    return found | {who: verdicts for who, verdicts in raters.items() if isinstance(verdicts, list)}


FORMATS = (
    NativeFormat(
        "infobench",
        "InFoBench questions and verdicts",
        "records with decomposed_questions and eval, or verdicts by annotator; system and judge from the file's name",
        lambda r: isinstance(r.get("decomposed_questions"), list),
        _rows,
    ),
)
