"""SWE-bench's report of a run: lists of resolved and unresolved instances; the model is in the file's name."""

from __future__ import annotations

from collections.abc import Iterator

from ..records import as_text
from .base import MalformedError, NativeFormat, Record, Row, Setting, label, listed, query, rubric

RESOLVED = "resolved"
_LISTS = {"resolved_ids": 1, "unresolved_ids": 0, "empty_patch_ids": 0, "error_ids": 0}


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    found: dict[str, str] = {}
    for name in _LISTS:
        for instance in map(as_text, listed(record, name) if record.get(name) is not None else ()):
            if _LISTS[found.setdefault(instance, name)] != _LISTS[name]:
                raise MalformedError(f"has {instance!r} in {found[instance]!r} and in {name!r}")
    system, judge = setting.system(), setting.judge("tests")
    for instance, name in found.items():
        yield query(instance, None, instance.partition("__")[0] if "__" in instance else None)
        yield rubric(instance, RESOLVED, "All tests of the issue pass.", scale=(0, 1))
        yield label(system, instance, RESOLVED, judge, _LISTS[name], reason=name.removesuffix("_ids"))
    if record.get("error_ids"):
        setting.remark("the instances in error_ids count as not resolved")
    if record.get("incomplete_ids"):
        setting.remark("the instances in incomplete_ids have no label")


FORMATS = (
    NativeFormat(
        "swe-bench",
        "SWE-bench reports",
        "one object with the lists resolved_ids and unresolved_ids; the system from the file's name",
        lambda r: isinstance(r.get("resolved_ids"), list) and isinstance(r.get("unresolved_ids"), list),
        _rows,
    ),
)
