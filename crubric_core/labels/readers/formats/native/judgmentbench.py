"""Read JudgmentBench: points for each criterion, joined with system and judge through the annotation.

Labels are points, and may be deductions. Systems are the outputs' quality levels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .base import MalformedError, NativeFormat, Record, Row, Setting, has, label, named, number, query, rubric

_ANNOTATIONS, _ITEMS, _TASKS = "annotations_rubric.csv", "rubric_items.csv", "tasks.csv"


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    if not setting.memory:
        yield from _begin(setting)
    annotation = setting.memory["annotations"].get(named(record, "annotation_id"))
    if annotation is None:
        raise MalformedError(
            f"names the annotation {record['annotation_id']!r}, which {_ANNOTATIONS} does not have"
        )
    task, system, judge = annotation
    order = named(record, "score_order", "rubric_item_id")
    yield label(system, task, order, judge, _whole(record.get("awarded_points")))


def _begin(setting: Setting) -> Iterator[Row]:
    """Read the companion files into ``setting.memory``, and yield the rows of tasks and items.

    Raises MalformedError if the file of annotations is missing.
    """
    annotations = list(setting.companion(_ANNOTATIONS))
    if not annotations:
        raise MalformedError(
            f"names annotations only: give the whole folder (or a ZIP of it), with {_ANNOTATIONS} beside this file"
        )
    setting.memory["annotations"] = _annotations(annotations, setting)
    for task in setting.companion(_TASKS):
        yield query(named(task, "task_id"), task.get("task"), task.get("task_category"))
    lowest = _lowest(setting)
    for item in setting.companion(_ITEMS):
        order, name = named(item, "item_order", "score_order", "rubric_item_id"), named(item, "task_id")
        weight, top = number(item.get("weight", item.get("points"))), number(item.get("max_score"))
        text = next(
            (item[k] for k in ("criterion", "description", "text", "item", "rubric_item") if item.get(k)),
            None,
        )
        high = int(max(0.0, top if top is not None else weight or 1.0))
        low = int(min(0.0, lowest.get((name, order), 0.0)))
        yield rubric(name, order, text, scale=(min(low, high - 1), high), weight=weight, polarity=1)


def _annotations(found: list[Record], setting: Setting) -> dict[str, tuple[str, str, str]]:
    """Annotation → (task, system, judge); a grader that judged the same again is distinguished by the run."""
    grader = setting.given.get("judge") or _grader(setting.name)
    seen: dict[tuple[str, str, str], int] = {}
    read = {}
    for annotation in found:
        task = named(annotation, "task_id")
        system = setting.system(annotation.get("output_quality_level") or annotation.get("output_id"))
        judge = grader or named(annotation, "annotator_id", "corresponding_annotator_id")
        run = seen[task, system, judge] = seen.get((task, system, judge), 0) + 1
        read[named(annotation, "annotation_id")] = (
            task,
            system,
            judge if run == 1 else f"{judge} (run {run})",
        )
    return read


def _grader(path: str) -> str | None:
    """The grader in a path: gpt_5_4 in autograders/gpt_5_4/rubric_item_scores.csv; None for other paths."""
    parts = path.split("/")
    return parts[-2] if len(parts) > 2 and parts[-3] == "autograders" else None


def _lowest(setting: Setting) -> dict[tuple[str, str], float]:
    """(task, item) → the largest deduction that any person or grader gave, as a number of at most 0."""
    task_of = {
        str(a.get("annotation_id")): str(a.get("task_id")) for a in setting.companion(f"*{_ANNOTATIONS}")
    }
    lowest: dict[tuple[str, str], float] = {}
    for score in setting.companion("*rubric_item_scores.csv"):
        key = (task_of.get(str(score.get("annotation_id")), ""), str(score.get("score_order")))
        lowest[key] = min(number(score.get("awarded_points")) or 0.0, lowest.get(key, 0.0))
    return lowest


def _whole(value: Any) -> Any:
    found = number(value)
    return int(found) if found is not None and found.is_integer() else value


FORMATS = (
    NativeFormat(
        "judgmentbench",
        "JudgmentBench points",
        "a folder with rubric_item_scores.csv and annotations_rubric.csv",
        lambda r: has(r, "annotation_id", "awarded_points"),
        _rows,
        companions=(
            _ANNOTATIONS,
            _ITEMS,
            _TASKS,
            "outputs.csv",
            "annotators.csv",
            "assignment_records.csv",
            "annotations_comparative_judgment.csv",
            "documents.csv",
            "annotator_experience_summary.csv",
        ),
    ),
)
