"""GDPval: tasks with criteria whose ``score`` is their points, as JSON in ``rubric_json``; graded ones, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..records import unpacked
from .base import (
    MalformedError,
    NativeFormat,
    Record,
    Row,
    Setting,
    answer,
    is_list_of,
    label,
    named,
    number,
    points,
    query,
    rubric,
)
from .verdicts import REASONS, first_of

_HOLDERS = ("rubric_json", "rubric", "rubrics")
_MET = ("met", "criteria_met", "verdict", "passed", "satisfied", "grade")
_AWARDED = ("awarded", "awarded_points", "points_awarded", "awarded_score", "earned")
_GRADES = ("grades", "results", "judgments", "evaluations", "verdicts")


def _criteria(record: Record) -> list[Any]:
    lists = (unpacked(record.get(key)) for key in _HOLDERS)
    return next((found for found in lists if is_list_of(found, "rubric_item_id", "criterion", "score")), [])


def _grade_of(item: Record, graded: dict[str, Record]) -> tuple[Any, bool, Any]:
    """(label, whether it is points, reason) of a criterion, from the item itself or its grade; (None, …) without."""
    for found in (item, graded.get(named(item, "rubric_item_id"), {})):
        for keys, awarded in ((_MET, False), (_AWARDED, True)):
            if (given := first_of(found, keys)) is not None:
                return given, awarded, first_of(found, REASONS)
    return None, False, None


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    name, items = named(record, "task_id"), _criteria(record)
    beside = [found for key in _GRADES if isinstance(found := unpacked(record.get(key)), list)]
    if any(not is_list_of(found, "rubric_item_id") for found in beside):
        raise MalformedError(
            "has grades without a rubric_item_id, so it is not known of which criterion each is"
        )
    graded = {named(grade, "rubric_item_id"): grade for found in beside for grade in found}
    given = {named(item, "rubric_item_id"): _grade_of(item, graded) for item in items}
    known = any(value is not None for value, _, _ in given.values())
    if graded and not known:
        raise MalformedError(f"has grades without one of the fields {', '.join((*_MET[:3], *_AWARDED[:2]))}")
    system = setting.system_of(record) if known else ""
    yield query(name, record.get("prompt"), record.get("occupation"))
    if system:
        yield from answer(system, name, record.get("deliverable_text"))
    for item in items:
        key = named(item, "rubric_item_id")
        value, awarded, reason = given[key]
        most, (weight, polarity) = number(item.get("score")), points(item.get("score"))
        whole = awarded and most is not None and most > 0 and most.is_integer()
        yield rubric(
            name,
            key,
            item.get("criterion"),
            scale=(0, int(most)) if whole and most else (None, None),
            weight=weight,
            polarity=1 if awarded else polarity,
        )
        if system:
            yield label(system, name, key, setting.judge_of(record), value, reason=reason)


FORMATS = (
    NativeFormat(
        "gdpval",
        "GDPval tasks and grades",
        "records with task_id and a list rubric_json whose items have rubric_item_id, criterion and score (points)",
        lambda r: "task_id" in r and bool(_criteria(r)),
        _rows,
    ),
)
