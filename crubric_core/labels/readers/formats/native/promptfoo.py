"""promptfoo results: one label an assertion, true where it passed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .base import (
    MalformedError,
    NativeFormat,
    Record,
    Row,
    Setting,
    has,
    is_list_of,
    label,
    mapped,
    number,
    query,
    rubric,
)

_ERROR = 2  # failureReason of a test whose provider or grader failed


def _is_result(record: Any) -> bool:
    graded = has(record, "gradingResult") or has(record, "success")
    return graded and any(key in record for key in ("provider", "testCase", "vars"))


def _is_document(record: Record) -> bool:
    inner = record.get("results")
    found = inner.get("results") if isinstance(inner, dict) else inner
    return isinstance(found, list) and bool(found) and _is_result(found[0])


def _results(record: Record) -> list[Any]:
    inner = record.get("results")
    found = inner.get("results") if isinstance(inner, dict) else inner
    if not isinstance(found, list):
        raise MalformedError("has no list of results: export them with `promptfoo eval -o results.json`")
    return found


def _document_rows(record: Record, setting: Setting) -> Iterator[Row]:
    for result in _results(record):
        yield from _rows(mapped(result, "a result"), setting)


def _inner(record: Record, key: str) -> Record:
    """An object within a record; an empty one where there is none."""
    found = record.get(key)
    return found if isinstance(found, dict) else {}


def _rows(result: Record, setting: Setting) -> Iterator[Row]:
    variables = result.get("vars", _inner(result, "testCase").get("vars"))
    shown = json.dumps(variables, ensure_ascii=False, sort_keys=True)
    name = f"test{result['testIdx']}" if result.get("testIdx") is not None else shown[:200]
    system, grading = setting.system(_system(result)), _inner(result, "gradingResult")
    yield query(name, shown)
    if is_list_of(grading.get("componentResults"), "pass"):
        yield from _components(name, system, grading["componentResults"], setting)
        return
    failed = result.get("failureReason") == _ERROR or (result.get("error") and not grading)
    yield rubric(name, "pass", "all assertions hold", scale=(0, 1))
    yield label(
        system, name, "pass", setting.judge(), None if failed else grading.get("pass", result.get("success"))
    )


def _components(name: str, system: str, parts: list[Any], setting: Setting) -> Iterator[Row]:
    for position, part in enumerate(parts):
        found = mapped(part, "a component result")
        assertion = _inner(found, "assertion")
        metric, kind, judge = (assertion.get(k) for k in ("metric", "type", "provider"))
        criterion = f"{position}:{metric or kind or 'assertion'}"
        yield rubric(
            name,
            criterion,
            assertion.get("value", kind),
            scale=(0, 1),
            weight=number(assertion.get("weight")),
            dimension=metric,
        )
        yield label(
            system,
            name,
            criterion,
            setting.judge(judge if isinstance(judge, str) else None),
            found.get("pass"),
        )


def _system(result: Record) -> str | None:
    """The provider; a second prompt makes it another system."""
    provider = result.get("provider")
    name = provider.get("label") or provider.get("id") if isinstance(provider, dict) else provider
    index = result.get("promptIdx", 0)
    return name if not name or index in (0, None) else f"{name} (prompt {index})"


FORMATS = (
    NativeFormat(
        "promptfoo",
        "promptfoo results",
        "an object whose results hold provider and gradingResult",
        _is_document,
        _document_rows,
    ),
    NativeFormat(
        "promptfoo-lines",
        "promptfoo results, one a line",
        "records with provider and gradingResult",
        _is_result,
        _rows,
    ),
)
