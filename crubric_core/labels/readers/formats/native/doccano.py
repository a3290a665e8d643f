"""Read doccano's export of a text classification: one file for each annotator, named only by the file.

If the annotators of a project share their labels, the file is called ``all`` and names no annotator.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from .base import MalformedError, NativeFormat, Record, Row, Setting, answer, label, listed, named
from .label_studio import called

_MARKS = ("Comments", "annotation_approver")  # fields that doccano adds to what was imported
_TEXTS = ("text", "data", "filename")
_SHARED = "all"


def _labels(record: Record) -> list[Any]:
    """The labels of a text, given as a list or, in CSV, as a text separated by #."""
    given = record["label"]
    if given is None or isinstance(given, str):
        return [part for part in (given or "").split("#") if part]
    return listed(record, "label")


def _fits(record: Record) -> bool:
    whole = "id" in record and "label" in record and any(t in record for t in _TEXTS)
    if not whole or not any(mark in record for mark in _MARKS):
        return False
    given = record["label"]
    return (
        given is None
        or isinstance(given, str)
        or (isinstance(given, list) and not any(isinstance(item, (list, dict)) for item in given))
    )


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    stem = PurePosixPath(setting.name).stem
    system, judge = called(record, "system"), setting.judge(None if stem == _SHARED else stem)
    name = str(called(record, "query") or named(record, "id"))
    whose = setting.unknown("system") if system is None else setting.system(system)
    if system is not None:
        yield from answer(whose, name, next((record[t] for t in _TEXTS if record.get(t)), None))
    given = _labels(record)
    if len(given) > 1:
        some = ", ".join(map(str, given[:3]))
        raise MalformedError(
            f"has several labels ({some}), and a rubric's label is one: export a project for each criterion"
        )
    for value in given:
        yield label(whose, name, "label", judge, value)


FORMATS = (
    NativeFormat(
        "doccano",
        "doccano labels",
        "records with id, text, label and Comments; each file is an annotator's, who is the judge",
        _fits,
        _rows,
    ),
)
