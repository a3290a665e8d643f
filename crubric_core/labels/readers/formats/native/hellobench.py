"""Read HelloBench: one JSON Lines file per system and task, scores in quarters from 0 to 1, names in the path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .base import (
    Cell,
    NativeFormat,
    Record,
    Row,
    Setting,
    answer,
    is_list_of,
    label,
    level,
    listed,
    mapped,
    named,
    query,
    rubric,
)

_PARTS = 4


def _quarters(value: Any) -> Cell:
    """A score times 4, so that 0, .25, .5, .75, 1 become 0 to 4; invalid values stay, and are rejected later."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return value
    if value is None or isinstance(value, bool) or not isinstance(value, (int, float)):
        return level(value)
    return value * _PARTS


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    name = named(record, "id")
    system, judge = setting.system_of(record), setting.judge_of(record)
    yield query(name, record.get("instruction"))
    yield from answer(system, name, record.get("response"))
    for position, item in enumerate(listed(record, "checklist_wise_evaluation")):
        found = mapped(item, "an evaluation")
        check = str(found.get("checklist_id", position))
        yield rubric(name, check, found.get("checklist_content"), scale=(0, _PARTS))
        yield label(
            system, name, check, judge, _quarters(found.get("evaluation_score")), reason=found.get("reason")
        )


FORMATS = (
    NativeFormat(
        "hellobench",
        "HelloBench judgements",
        "records with checklist_wise_evaluation; system and judge from the file's path",
        lambda r: is_list_of(r.get("checklist_wise_evaluation"), "evaluation_score"),
        _rows,
    ),
)
