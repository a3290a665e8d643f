"""TheAgentCompany: a task's checkpoints with the points that were reached and those that can be; a file a task."""

from __future__ import annotations

from collections.abc import Iterator

from ...columns.query_names import NAMES_OF_QUERIES
from .base import (
    MalformedError,
    NativeFormat,
    Record,
    Row,
    Setting,
    first_called,
    is_list_of,
    label,
    mapped,
    number,
    rubric,
)


def _task(record: Record, setting: Setting) -> str:
    """The task that the record names, else the name of its file without ``eval_``."""
    found = first_called(record, ("task", "task_name", *NAMES_OF_QUERIES))
    file = setting.name.rpartition("/")[2].rsplit(".", 1)[0]
    return str(found) if found is not None else file.removeprefix("eval_")


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    task, system = _task(record, setting), setting.system_of(record)
    if system == task:  # the name of the file, which is that of the task
        raise MalformedError(
            "is of a system that nothing names, as the file is named after the task: put the files of each system into "
            'a folder of its name, or give the mapping {"system": "=…"}'
        )
    for position, item in enumerate(record["checkpoints"], 1):
        found = mapped(item, "a checkpoint")
        result, total = number(found.get("result")), number(found.get("total"))
        if total is None or not total.is_integer() or total < 1:
            raise MalformedError(
                f"has a checkpoint whose total, {found.get('total')!r}, is no number of points"
            )
        yield rubric(task, f"checkpoint {position}", scale=(0, int(total)), weight=total)
        yield label(system, task, f"checkpoint {position}", setting.judge("checkpoints"), result)


FORMATS = (
    NativeFormat(
        "agent-company",
        "TheAgentCompany checkpoints",
        "an object with checkpoints that carry result and total, and final_score; system and task from the path",
        lambda r: is_list_of(r.get("checkpoints"), "result", "total") and "final_score" in r,
        _rows,
    ),
)
