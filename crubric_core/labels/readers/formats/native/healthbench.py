"""HealthBench: its examples, graded runs in several layouts, and the physicians' meta-evaluation.

Criteria have no names: each is named by its position, which is the same in the examples and in every graded run.
A negative-point criterion is met by a bad answer: labels stay as given, and the rubric's polarity is -1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .base import (
    MalformedError,
    NativeFormat,
    Record,
    Row,
    Setting,
    answer,
    fingerprint,
    gold,
    has,
    is_list_of,
    label,
    listed,
    mapped,
    named,
    points,
    query,
    rubric,
)
from .verdicts import VERDICTS, first_of


def _tags(item: Record) -> list[str]:
    tags = item.get("tags", item.get("example_tags"))
    return [str(tag) for tag in tags] if isinstance(tags, list) else []


def _tagged(item: Record, prefix: str) -> str | None:
    """The value of the first tag with a prefix: "accuracy" for axis:accuracy; None without one."""
    values = [tag for tag in _tags(item) if tag.startswith(prefix)]
    return values[0].removeprefix(prefix) if values else None


def _criteria(prompt_id: str, items: list[Any]) -> Iterator[Row]:
    for position, item in enumerate(items):
        found = mapped(item, "a criterion")
        weight, polarity = points(found.get("points"))
        text = found.get("criterion", found.get("criteria"))
        yield rubric(
            prompt_id,
            str(position),
            text,
            scale=(0, 1),
            weight=weight,
            dimension=_tagged(found, "axis:"),
            polarity=polarity,
            tags=",".join(_tags(found)) or None,
        )


def _example_rows(record: Record, _setting: Setting) -> Iterator[Row]:
    prompt_id = named(record, "prompt_id")
    yield query(prompt_id, record.get("prompt"), _tagged(record, "theme:"))
    yield from _criteria(prompt_id, listed(record, "rubrics"))


def _graded(record: Record, key: str, setting: Setting) -> Iterator[Row]:
    """The rows of a record whose criteria, in the list ``key``, hold their grades."""
    prompt_id, items = named(record, "prompt_id"), listed(record, key)
    prompt = record.get("prompt", record.get("conversations"))
    yield query(prompt_id, prompt if key == "rubric_items" else _asked(prompt))
    yield from _criteria(prompt_id, items)
    system, judge = setting.system_of(record), setting.judge_of(record)
    yield from answer(system, prompt_id, _answered(record, prompt if key == "rubrics" else None))
    for position, item in enumerate(items):
        grades = _grades(item)
        for key, grade in grades.items() or [("", {})]:
            who = judge if len(grades) < 2 else setting.judge(key)
            verdict, reason = grade.get("criteria_met"), grade.get("explanation")
            yield label(system, prompt_id, str(position), who, verdict, reason=reason)


def _grades(item: Any) -> dict[str, Record]:
    """Key → object with ``criteria_met``: the criterion, under "", else objects in it. Several keys name judges."""
    if has(item, "criteria_met"):
        return {"": mapped(item, "a grade")}
    inside = item.items() if isinstance(item, dict) else ()
    return {key: mapped(value, "a grade") for key, value in inside if has(value, "criteria_met")}


def _carries_grades(record: Record, key: str) -> bool:
    items = record.get(key)
    return has(record, "prompt_id") and isinstance(items, list) and any(_grades(item) for item in items)


def _is_example(record: Record) -> bool:
    """Whether a record has criteria with points, and none of them has a label."""
    items = record.get("rubrics")
    known = has(record, "prompt_id") and is_list_of(items, "criterion", "points")
    return (
        known
        and first_of({k: v for item in listed(record, "rubrics") for k, v in item.items()}, VERDICTS) is None
    )


def _asked(messages: Any) -> Any:
    """A conversation without the answer at its end."""
    if is_list_of(messages, "role") and messages[-1].get("role") == "assistant":
        return messages[:-1]
    return messages


def _answered(record: Record, messages: Any) -> Any:
    """The answer: the field ``completion``, else the assistant's message that ends the conversation; else None."""
    if record.get("completion") is not None:
        return record["completion"]
    if is_list_of(messages, "role") and messages[-1].get("role") == "assistant":
        return messages[-1].get("content")
    return None


def _all_results_rows(record: Record, setting: Setting) -> Iterator[Row]:
    for example in listed(record.get("metadata", record), "example_level_metadata"):
        yield from _graded(mapped(example, "an example"), "rubric_items", setting)


def _panel_rows(record: Record, setting: Setting) -> Iterator[Row]:
    """The labels in the order of the rubrics: a list of true and false, or a list of the grader's replies."""
    prompt_id = named(record, "prompt_id")
    system, judge = setting.system_of(record), setting.judge_of(record)
    if "criteria_met" in record:
        verdicts = [(met, None) for met in listed(record, "criteria_met")]
    else:
        grades = [mapped(g, "a grade") for g in listed(record, "grades")]
        verdicts = [(g.get("criteria_met"), g.get("explanation")) for g in grades]
    if is_list_of(record.get("rubrics"), "criterion", "points"):
        if len(record["rubrics"]) != len(verdicts):
            raise MalformedError(f"has {len(verdicts)} grades for {len(record['rubrics'])} rubrics")
        yield from _example_rows(record, setting)
    for position, (verdict, reason) in enumerate(verdicts):
        yield label(system, prompt_id, str(position), judge, verdict, reason=reason)


def _reply_rows(_record: Record, _setting: Setting) -> Iterator[Row]:
    raise MalformedError(
        "is one grader's reply, which names neither prompt nor criterion: use the graded run that holds the replies "
        "(example_level_metadata, or one {prompt_id, grades} a line)"
    )


def _meta_rows(record: Record, _setting: Setting) -> Iterator[Row]:
    prompt_id, completion = named(record, "prompt_id"), named(record, "completion_id")
    text = named(record, "rubric")
    name = f"{record.get('category') or 'criterion'}:{fingerprint(text)}"
    yield query(prompt_id, record.get("prompt"))
    yield from answer(completion, prompt_id, record.get("completion"))
    yield rubric(prompt_id, name, text, scale=(0, 1), dimension=record.get("category"))
    verdicts = listed(record, "binary_labels")
    physicians = record.get("anonymized_physician_ids")
    named_all = isinstance(physicians, list) and len(physicians) == len(verdicts)
    for position, verdict in enumerate(verdicts):
        who = str(physicians[position]) if named_all and physicians else f"physician{position + 1}"
        yield gold(completion, prompt_id, name, who, verdict)


def _is_panel(record: Record) -> bool:
    met = record.get("criteria_met")
    return has(record, "prompt_id") and (
        isinstance(met, list) or is_list_of(record.get("grades"), "criteria_met")
    )


def _is_all_results(record: Record) -> bool:
    return has(record, "example_level_metadata") or has(record.get("metadata"), "example_level_metadata")


FORMATS = (
    NativeFormat(
        "healthbench-results",
        "HealthBench, a graded run (simple-evals)",
        "an object with example_level_metadata",
        _is_all_results,
        _all_results_rows,
    ),
    NativeFormat(
        "healthbench-graded",
        "HealthBench, graded examples",
        "records with prompt_id and rubric_items that carry criteria_met",
        lambda r: _carries_grades(r, "rubric_items"),
        lambda r, setting: _graded(r, "rubric_items", setting),
    ),
    NativeFormat(
        "healthbench-srh",
        "HealthBench, graded conversations (SRH)",
        "records with prompt_id and rubrics that carry criteria_met",
        lambda r: _carries_grades(r, "rubrics"),
        lambda r, setting: _graded(r, "rubrics", setting),
    ),
    NativeFormat(
        "healthbench-panel",
        "HealthBench, grades in the rubrics' order",
        "records with prompt_id and a list criteria_met, or grades that carry criteria_met",
        _is_panel,
        _panel_rows,
    ),
    NativeFormat(
        "healthbench-meta",
        "HealthBench meta-evaluation: physicians' labels",
        "records with prompt_id, completion_id, rubric and binary_labels",
        lambda r: has(r, "prompt_id", "completion_id", "rubric", "binary_labels"),
        _meta_rows,
    ),
    NativeFormat(
        "healthbench-examples",
        "HealthBench, prompts and rubrics",
        "records with prompt_id and rubrics that carry criterion and points",
        _is_example,
        _example_rows,
    ),
    NativeFormat(
        "healthbench-replies",
        "HealthBench, bare grader replies",
        "records with explanation and criteria_met alone",
        lambda r: has(r, "criteria_met") and set(r) <= {"explanation", "criteria_met"},
        _reply_rows,
    ),
)
