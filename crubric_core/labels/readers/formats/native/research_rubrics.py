"""Read ResearchRubrics: criteria with a column <system>_present for each system, in three steps; prompts apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .base import NativeFormat, Record, Row, Setting, label, points, query, rubric

_SUFFIX = "_present"
_STEPS = {"not satisfied": 0, "partially satisfied": 1, "satisfied": 2}


def _criterion(record: Record) -> str:
    return str(record.get("title") or record.get("criterion") or "").strip()


def _step(value: Any) -> Any:
    """0, 1 or 2 for the words of the three steps; other values unchanged."""
    text = " ".join(str(value or "").replace("_", " ").lower().split())
    return _STEPS.get(text, value)


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    prompt, memory = str(record.get("prompt") or "").strip(), setting.memory
    if prompt and prompt != memory.get("prompt"):
        begins = not _criterion(record) and not memory.get(
            "open"
        )  # links follow the prompt in rows of their own
        if begins or _criterion(record):
            memory["count"] = memory.get("count", 0) + 1
            memory["prompt"], memory["position"] = prompt, 0
            yield query(f"prompt{memory['count']}", prompt)
    memory["open"] = not _criterion(record)
    if not _criterion(record):
        return
    name, position = f"prompt{memory.setdefault('count', 1)}", memory.get("position", 0)
    memory["position"] = position + 1
    weight, polarity = points(record.get("weight"))
    yield rubric(
        name,
        str(position),
        _criterion(record),
        scale=(0, 2),
        weight=weight,
        dimension=record.get("category"),
        polarity=polarity,
    )
    for column, value in record.items():
        if column.endswith(_SUFFIX):
            system = column.removesuffix(_SUFFIX)
            yield label(system, name, str(position), setting.judge(), _step(value))


FORMATS = (
    NativeFormat(
        "research-rubrics",
        "ResearchRubrics",
        "a table with prompt, title, weight and columns <system>_present",
        lambda r: (
            "prompt" in r and ("title" in r or "criterion" in r) and any(k.endswith(_SUFFIX) for k in r)
        ),
        _rows,
    ),
)
