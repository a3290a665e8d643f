"""JUDGE-BENCH: people's scores of single texts. Each text is a system, each metric a rubric, each person a judge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .base import NativeFormat, Record, Row, Setting, has, label, listed, mapped, named, number, query, rubric


def _metrics(name: str, record: Record) -> Iterator[Row]:
    for item in listed(record, "annotations"):
        found = mapped(item, "a metric")
        ends = [number(found.get(end)) for end in ("worst", "best")]
        low, high = (int(e) if e is not None and e.is_integer() else None for e in ends)
        flipped = low is not None and high is not None and low > high
        scale = (None, None) if low is None or high is None else (min(low, high), max(low, high))
        metric = named(found, "metric")
        yield rubric(
            name,
            metric,
            found.get("prompt"),
            scale=scale,
            dimension=metric,
            polarity=-1 if flipped else None,
        )


def _rows(record: Record, _setting: Setting) -> Iterator[Row]:
    name = named(record, "dataset")
    yield query(name, record.get("dataset_url"))
    yield from _metrics(name, record)
    for item in listed(record, "instances"):
        instance = mapped(item, "an instance")
        system = named(instance, "id")
        for metric, scores in mapped(instance.get("annotations"), "annotations").items():
            for position, score in enumerate(_scores(scores), 1):
                yield label(system, name, metric, f"human{position}", score)


def _scores(found: Any) -> list[Any]:
    """Each person's score; only their majority or mean if individual scores are missing."""
    if not isinstance(found, dict):
        return [found]
    people = found.get("individual_human_scores")
    if isinstance(people, list) and people:
        return people
    return [found.get("majority_human", found.get("mean_human"))]


FORMATS = (
    NativeFormat(
        "judge-bench",
        "JUDGE-BENCH human annotations",
        "an object with dataset, annotations (metrics) and instances",
        lambda r: has(r, "dataset", "annotations", "instances"),
        _rows,
    ),
)
