"""ProfBench: people's verdicts on each criterion in the data set, and judges' verdicts, one in each record."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..records import as_text
from .base import (
    MalformedError,
    NativeFormat,
    Record,
    Row,
    Setting,
    fingerprint,
    gold,
    has,
    is_list_of,
    label,
    listed,
    mapped,
    named,
    number,
    query,
    rubric,
)

_WEIGHTS = {"Critical": 4, "Major": 3, "Minor": 2, "Additional": 1}
_HUMAN = "_fulfilment"


def _weight(item: Record, setting: Setting) -> float | None:
    """The weight of a criterion, by its word or as a number; None, with a remark, for another word."""
    given = item.get("criterion_weight")
    weight = _WEIGHTS.get(given, number(given)) if isinstance(given, str) else number(given)
    if weight is None and given not in (None, ""):
        setting.remark(
            f"the weight {as_text(given)[:40]!r} was not read, as it is none of {', '.join(_WEIGHTS)} and no number"
        )
    return weight


def _described(task: str, item: Record, setting: Setting) -> tuple[str, Row]:
    """(name, rubric row) of a criterion; the name is a hash of its text, so that it is equal in both kinds of file."""
    text = named(item, "criterion_description")
    kinds = item.get("criterion_type")
    dimension = kinds[0] if isinstance(kinds, list) and kinds else kinds
    name = fingerprint(text)
    return name, rubric(
        task,
        name,
        text,
        scale=(0, 1),
        weight=_weight(item, setting),
        dimension=dimension if isinstance(dimension, str) else None,
        tags=",".join(map(str, kinds)) if isinstance(kinds, list) else None,
    )


def _data_rows(record: Record, setting: Setting) -> Iterator[Row]:
    task = named(record, "task_id")
    yield query(task, record.get("prompt"), record.get("domain"))
    for item in listed(record, "rubrics"):
        found = mapped(item, "a rubric")
        name, row = _described(task, found, setting)
        yield row
        for key, verdict in found.items():
            if key.endswith(_HUMAN):
                yield gold(key.removesuffix(_HUMAN), task, name, "human", verdict)


def _judge_rows(record: Record, setting: Setting) -> Iterator[Row]:
    task = named(record, "task_id")
    name, row = _described(task, record, setting)
    yield query(task, None, record.get("domain"))
    yield row
    system = setting.system_of(record)
    yield label(system, task, name, setting.judge_of(record), _rating(record.get("judge_rating")))
    if record.get("human_annotation") is not None:
        yield gold(system, task, name, "human", record["human_annotation"])


def _rating(value: Any) -> Any:
    """True or False for a reply that begins with Yes or No, None for any other text; other values as they are."""
    if not isinstance(value, str):
        return value
    found = re.match(r"\W*(yes|no)\b", value, re.IGNORECASE)
    return found[1].lower() == "yes" if found else None


def _loose_rows(_record: Record, _setting: Setting) -> Iterator[Row]:
    raise MalformedError(
        "has a judge_rating but no task_id and criterion_description: give the file that `run_llm_judge` wrote whole"
    )


FORMATS = (
    NativeFormat(
        "profbench",
        "ProfBench, people's verdicts",
        "records with task_id and rubrics that carry criterion_description",
        lambda r: has(r, "task_id") and is_list_of(r.get("rubrics"), "criterion_description"),
        _data_rows,
    ),
    NativeFormat(
        "profbench-judge",
        "ProfBench, a judge's verdicts",
        "records with task_id, criterion_description and judge_rating; the judge from the file's name",
        lambda r: has(r, "task_id", "criterion_description", "judge_rating"),
        _judge_rows,
    ),
    NativeFormat(
        "profbench-loose",
        "ProfBench, verdicts without their criterion",
        "records with judge_rating and human_annotation alone",
        lambda r: has(r, "judge_rating", "human_annotation"),
        _loose_rows,
    ),
)
