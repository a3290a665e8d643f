"""Read Label Studio's JSON export: tasks whose annotations hold ratings, choices and numbers; a control is a rubric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...columns.query_names import IDS_OF_ANSWERS, NAMES_OF_QUERIES
from ...columns.specs import plain_name, synonyms_of
from .base import NativeFormat, Record, Row, Setting, gold, is_list_of, label, mapped, named

_HOLDERS = ("rating", "number", "choices")


def called(data: Record, canonical: str) -> Any:
    """The value of a task's field with the name of a canonical column or a synonym; None if there is none."""
    others = [n for n in NAMES_OF_QUERIES if n not in IDS_OF_ANSWERS] if canonical == "query" else ()
    words = (canonical, *synonyms_of("labels", canonical), *others)
    named_so = (k for k in data if plain_name(k) in words)
    fits = [k for k in named_so if isinstance(data[k], (str, int))]
    return data[min(fits, key=lambda k: words.index(plain_name(k)))] if fits else None


def _person(annotation: Record) -> Any:
    """The annotator: a number, or the email or id in an object."""
    who = annotation.get("completed_by")
    return who.get("email") or who.get("id") if isinstance(who, dict) else who


def _verdicts(annotation: Record) -> Iterator[tuple[str, Any]]:
    """Yield (control, chosen value) of an annotation; several choices are a list."""
    for item in annotation.get("result") or ():
        value = item.get("value") if isinstance(item, dict) else None
        held = next((value[h] for h in _HOLDERS if h in value), ()) if isinstance(value, dict) else ()
        if held != ():
            chosen = held[0] if isinstance(held, list) and len(held) == 1 else held
            yield named(item, "from_name"), chosen


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    data = mapped(record["data"], "data")
    name = str(called(data, "query") or named(record, "id"))
    system = setting.system(called(data, "system"))
    for annotation in record["annotations"]:
        if not annotation.get("was_cancelled"):
            judge = setting.judge(_person(annotation))
            for control, chosen in _verdicts(annotation):
                truth = annotation.get("ground_truth") is True
                yield (gold if truth else label)(system, name, control, judge, chosen)


FORMATS = (
    NativeFormat(
        "label-studio",
        "Label Studio tasks",
        "records with data and annotations that hold a result; each control is a rubric, each annotator a judge",
        lambda r: (
            isinstance(r.get("data"), dict) and is_list_of(r.get("annotations"), "result", "completed_by")
        ),
        _rows,
    ),
)
