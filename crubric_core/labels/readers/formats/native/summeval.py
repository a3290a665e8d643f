"""Read SummEval and DialSummEval: people's ratings of summaries from 1 to 5, with a list of annotators per record."""

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
    mapped,
    named,
    query,
    rubric,
)

_GROUPS = {"annotations": "annotator", "expert_annotations": "expert", "turker_annotations": "turker"}


def _is_rating(value: object) -> bool:
    return isinstance(value, dict) and any(isinstance(v, (int, float)) for v in value.values())


def _fits(record: Record) -> bool:
    groups = [record[g] for g in _GROUPS if isinstance(record.get(g), list)]
    return "model_id" in record and any(group and _is_rating(group[0]) for group in groups)


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    name, system = named(record, "id"), setting.system_of(record, "model_id")
    yield query(name, record.get("dialogue", record.get("text")))
    yield from answer(system, name, record.get("decoded", record.get("summary")))
    groups = [group for group in _GROUPS if record.get(group) is not None]
    if not groups:
        raise MalformedError("has no annotations")
    for group in groups:
        for position, item in enumerate(listed(record, group), 1):
            for dimension, value in mapped(item, "an annotation").items():
                yield rubric(name, dimension, f"{dimension} (1-5)", scale=(1, 5), dimension=dimension)
                yield label(system, name, dimension, f"{_GROUPS[group]}{position}", value)


FORMATS = (
    NativeFormat(
        "summeval",
        "SummEval, DialSummEval ratings",
        "records with model_id and a list annotations, expert_annotations or turker_annotations",
        _fits,
        _rows,
    ),
)
