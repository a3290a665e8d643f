"""lm-evaluation-harness samples: each metric is a rubric; task in the file's name, model in the folder's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...word_lists import word_set
from .base import NativeFormat, Record, Row, Setting, has, label, named, query, rubric

_OWN = word_set(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash target_hash"
)


def _task(name: str) -> str:
    """The task by the file's name: arc_easy for samples_arc_easy_2024-05-01T10-00-00.000000.jsonl."""
    stem = name.rsplit("/", 1)[-1].rsplit(".jsonl", 1)[0].removeprefix("samples_")
    return re.sub(r"_\d{4}-\d{2}-\d{2}T[\d\-.]+$", "", stem)


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    name = f"{_task(setting.name)}/{named(record, 'doc_id')}"
    system, judge = setting.system_of(record), setting.judge()
    yield query(name, record.get("doc"), _task(setting.name))
    metrics = record.get("metrics")
    keys = list(map(str, metrics)) if isinstance(metrics, list) else [k for k in record if k not in _OWN]
    kind = record.get("filter")
    for metric in keys:
        value = record.get(metric)
        if isinstance(value, (list, dict)):
            setting.remark(f"{metric!r} holds no single label, and is not used")
        elif not isinstance(value, str) or isinstance(
            metrics, list
        ):  # text is a label only in the fields that ``metrics`` lists
            criterion = str(metric) if kind in (None, "none") else f"{metric},{kind}"
            yield rubric(name, criterion, dimension=str(metric))
            yield label(system, name, criterion, judge, value)


FORMATS = (
    NativeFormat(
        "lm-eval",
        "lm-evaluation-harness samples",
        "records with doc_id and resps or filtered_resps; the system from the file's folder",
        lambda r: has(r, "doc_id") and ("resps" in r or "filtered_resps" in r),
        _rows,
    ),
)
