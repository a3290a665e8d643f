"""Read Potato's annotated_instances.jsonl: one file for each annotator, named by the folder; a question is a rubric.

The label is the choice, or its number on a Likert scale. Several choices of one question become a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .base import NativeFormat, Record, Row, Setting, answer, label, mapped, named, number
from .custom_ids import identity

# Fields with written values, which are no choices.
_FIELDS = ("text_box", "textbox", "number", "slider", "free_response")
_LEFT = (None, "", False, "false", "False")  # a choice that is not made; 0 equals False, too
_POINT = re.compile(r"(?:scale_)?(\d+)")
_KEPT_BESIDE = (
    *("annotation_state.json", "assigned_user_data.json", "behavioral_data.json"),
    *("user_config.json", "user_state.json"),
)


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    known = identity("id", named(record, "id", "instance_id"), setting)
    folder = setting.name.rpartition("/")[0].rpartition("/")[2]
    judge = setting.judge(record.get("user_id") or folder or None)
    system, name = known["system"], known["query"]
    yield from answer(system, name, record.get("displayed_text"))
    for question, given in mapped(record["label_annotations"], "label_annotations").items():
        chosen = list(_chosen(mapped(given, "an annotation")))
        if chosen:
            yield label(system, name, question, judge, chosen[0] if len(chosen) == 1 else chosen)


def _chosen(given: Record) -> Iterator[Any]:
    """Yield the choices of a question, or the written number; written texts are no labels."""
    for choice, value in given.items():
        if choice in _FIELDS:
            if number(value) is not None:
                yield value
        elif value not in _LEFT:
            point = _POINT.fullmatch(choice)
            yield point[1] if point else choice


FORMATS = (
    NativeFormat(
        "potato",
        "Potato's annotations",
        "records with id and label_annotations; each question is a rubric, each folder an annotator, who is the judge, "
        "and texts that were written are not used",
        lambda r: (
            isinstance(r.get("label_annotations"), dict)
            and ("displayed_text" in r or "span_annotations" in r)
            and ("id" in r or "instance_id" in r)
        ),
        _rows,
        companions=_KEPT_BESIDE,
    ),
)
