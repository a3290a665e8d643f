"""Inspect evaluation logs: a JSON log, or an ``.eval`` archive read without the inspect library."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .....errors import IngestError
from ..archive import entry_names, read_entry
from .base import MalformedError, NativeFormat, Record, Row, Setting, has, label, mapped, named, query, rubric

_GRADES = {"C": 1, "I": 0, "P": 0.5, "N": 0}  # correct, incorrect, partial, no answer


def read_archive(path: Path, name: str) -> Iterator[tuple[int, Any]]:
    """One record a sample: the log's header with that sample alone, so that no more is held at a time."""
    entries = entry_names(path, name)
    if "header.json" not in entries:
        raise IngestError(
            f"{name} is an Inspect log that was not finished (no header.json): export it again."
        )
    header = _load(path, name, "header.json")
    samples = sorted(e for e in entries if e.startswith("samples/") and e.endswith(".json"))
    if not samples:
        raise IngestError(f"{name} is an Inspect log without samples: nothing was scored.")
    for number, entry in enumerate(samples, 1):
        yield number, {**header, "samples": [_load(path, name, entry)]}


def _load(path: Path, name: str, entry: str) -> Any:
    try:
        found = json.loads(read_entry(path, name, entry))
    except (ValueError, RecursionError) as error:
        raise IngestError(f"{entry} in {name} is no valid JSON: export the log again.") from error
    if not isinstance(found, dict):
        raise IngestError(f"{entry} in {name} is no object: export the log again.")
    return found


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    spec = mapped(record.get("eval"), "an eval")
    system = setting.system(spec.get("model"))
    samples = record.get("samples")
    if not isinstance(samples, list):
        raise MalformedError("is an Inspect log without samples: read it with them, not the header alone")
    for item in samples:
        yield from _sample(mapped(item, "a sample"), system, setting)


def _sample(sample: Record, system: str, setting: Setting) -> Iterator[Row]:
    name = named(sample, "id")
    epoch = sample.get("epoch", 1)
    yield query(name, sample.get("input"))
    scores = sample.get("scores") or ({"score": sample["score"]} if has(sample.get("score"), "value") else {})
    for scorer, score in mapped(scores, "scores").items():
        found = mapped(score, "a score")
        judge = setting.judge(_grader(found))
        value = found.get("value")
        parts = (
            value.items()
            if isinstance(value, dict)
            else enumerate(value)
            if isinstance(value, list)
            else None
        )
        cells = [(scorer, value)] if parts is None else [(f"{scorer}/{part}", v) for part, v in parts]
        for criterion, cell in cells:
            yield rubric(name, criterion, dimension=scorer)
            yield label(_run(system, epoch), name, criterion, judge, _value(cell))


def _run(system: str, epoch: Any) -> str:
    """A repeated epoch is another run of the system, told apart by its number."""
    return system if epoch in (1, None) else f"{system} (epoch {epoch})"


def _grader(score: Record) -> Any:
    details = score.get("metadata")
    return (
        details.get("grader_model", details.get("grader", details.get("judge")))
        if isinstance(details, dict)
        else None
    )


def _value(cell: Any) -> Any:
    """C and I as 1 and 0; NaN is unscored."""
    if isinstance(cell, float) and math.isnan(cell):
        return None
    return _GRADES.get(cell, cell) if isinstance(cell, str) else cell


FORMATS = (
    NativeFormat(
        "inspect",
        "Inspect evaluation log",
        "an object with eval and samples, or an .eval archive with header.json",
        lambda r: (
            has(r, "eval")
            and has(r["eval"], "model", "task")
            and ("samples" in r or "results" in r or "status" in r)
        ),
        _rows,
    ),
)
