"""pytest-json-report: each test is a rubric of its file; a test that was skipped has no label."""

from __future__ import annotations

from collections.abc import Iterator

from .base import NativeFormat, Record, Row, Setting, has, is_list_of, label, mapped, named, rubric

_OUTCOMES = {"passed": 1, "xpassed": 1, "failed": 0, "error": 0}


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    system, judge = setting.system(), setting.judge("tests")
    for item in record["tests"]:
        found = mapped(item, "a test")
        file, _, test = named(found, "nodeid").partition("::")
        outcome = found.get("outcome")
        if outcome not in _OUTCOMES:
            setting.remark(f"tests whose outcome is {outcome!r} have no label")
        yield rubric(file, test or file, scale=(0, 1))
        yield label(system, file, test or file, judge, _OUTCOMES.get(str(outcome)))


FORMATS = (
    NativeFormat(
        "pytest-report",
        "pytest-json-report",
        "one object with exitcode and tests that carry nodeid and outcome; the system from the file's name",
        lambda r: has(r, "exitcode") and is_list_of(r.get("tests"), "nodeid", "outcome"),
        _rows,
    ),
)
