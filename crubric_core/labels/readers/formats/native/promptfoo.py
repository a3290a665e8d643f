"""promptfoo results: one label for each assertion, true if it passed; the judge is the provider that graded it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...word_lists import word_list
from ..records import as_text
from .base import (
    MalformedError,
    NativeFormat,
    Record,
    Row,
    Setting,
    answer,
    fingerprint,
    has,
    is_list_of,
    label,
    mapped,
    number,
    query,
    rubric,
)

_MODEL_GRADED = word_list(
    "llm-rubric model-graded-closedqa model-graded-factuality factuality g-eval answer-relevance "
    "context-faithfulness context-recall context-relevance search-rubric pi select-best"
)
_LONGEST = 200  # characters of a query's name
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
    first: dict[Any, int] = setting.memory.setdefault("prompts", {})
    for result in _results(record):
        found = result if isinstance(result, dict) else {}
        name, index = _id(found.get("provider")), found.get("promptIdx")
        if isinstance(name, str) and isinstance(index, int):
            first[name] = min(index, first.get(name, index))
    for result in _results(record):
        yield from _rows(mapped(result, "a result"), setting)


def _inner(record: Record, key: str) -> Record:
    """The object in a field of a record; {} if there is none."""
    found = record.get(key)
    return found if isinstance(found, dict) else {}


def _rows(result: Record, setting: Setting) -> Iterator[Row]:
    variables = result.get("vars", _inner(result, "testCase").get("vars"))
    shown = json.dumps(variables, ensure_ascii=False, sort_keys=True)
    name = shown[:_LONGEST]
    if result.get("testIdx") is not None:
        place = f"test{result['testIdx']}"
        name = setting.query(place, f"{place} {shown}"[:_LONGEST])
    system, grading = setting.system(_system(result, setting)), _inner(result, "gradingResult")
    yield query(name, shown)
    yield from answer(system, name, _inner(result, "response").get("output"))
    if is_list_of(grading.get("componentResults"), "pass"):
        yield from _components(name, system, grading["componentResults"], _grader(result), setting)
        return
    failed = result.get("failureReason") == _ERROR or (result.get("error") and not grading)
    yield rubric(name, "pass", "all assertions hold", scale=(0, 1))
    passed = None if failed else grading.get("pass", result.get("success"))
    yield label(system, name, "pass", setting.judge(), passed, reason=grading.get("reason"))


def _grader(result: Record) -> Any:
    """The grading provider of a test, for its assertions that name no provider."""
    return _inner(_inner(result, "testCase"), "options").get("provider")


def _components(name: str, system: str, parts: list[Any], grader: Any, setting: Setting) -> Iterator[Row]:
    seen: dict[str, list[tuple[Any, set[Any]]]] = {}
    for part in parts:
        found = mapped(part, "a component result")
        assertion = _inner(found, "assertion")
        graded = str(assertion.get("type") or "").removeprefix("not-") in _MODEL_GRADED
        provider = _id(assertion.get("provider") or (grader if graded else None))
        criterion = _criterion(assertion)
        number_there = _place(seen.setdefault(criterion, []), assertion.get("value"), provider)
        criterion = criterion if number_there == 1 else f"{criterion} ({number_there})"
        yield rubric(
            name,
            criterion,
            assertion.get("value", assertion.get("type")),
            scale=(0, 1),
            weight=number(assertion.get("weight")),
            dimension=assertion.get("metric"),
        )
        yield label(
            system, name, criterion, setting.judge(provider), found.get("pass"), reason=found.get("reason")
        )


def _place(there: list[tuple[Any, set[Any]]], value: Any, provider: Any) -> int:
    """The number, from 1, of an assertion's rubric among those with its name; adds the assertion to ``there``.

    Assertions with one value, but different graders, share a rubric. there: (value, graders) of each rubric.
    """
    for number_there, (known, graders) in enumerate(there, 1):
        if known == value and provider not in graders:
            graders.add(provider)
            return number_there
    there.append((value, {provider}))
    return len(there)


def _criterion(assertion: Record) -> str:
    """The name of an assertion's rubric: its metric, else its type with a hash of its value, if it has a value."""
    if assertion.get("metric"):
        return as_text(assertion["metric"])
    kind = as_text(assertion.get("type") or "assertion")
    value = assertion.get("value")
    return kind if value in (None, "") else f"{kind}:{fingerprint(as_text(value))}"


def _id(provider: Any) -> Any:
    """A provider's name: as it is, or the ``label`` or ``id`` of an object, or the name of its ``text`` provider."""
    if isinstance(provider, dict):
        return provider.get("label") or provider.get("id") or _id(provider.get("text"))
    return provider


def _system(result: Record, setting: Setting) -> str | None:
    """The provider's name; with a second prompt it is another system, ``<provider> (prompt <promptIdx>)``.

    promptIdx numbers all pairs of prompt and provider, so that it is 1 for the second of two providers, too.
    """
    name, index = _id(result.get("provider")), result.get("promptIdx")
    if not isinstance(name, str) or not isinstance(index, int):
        return name
    first = setting.memory.setdefault("prompts", {}).setdefault(name, index)
    return name if index == first else f"{name} (prompt {index})"


_APART = "~ {query} {vars}"

FORMATS = (
    NativeFormat(
        "promptfoo",
        "promptfoo results",
        "an object whose results hold provider and gradingResult",
        _is_document,
        _document_rows,
        apart=_APART,
    ),
    NativeFormat(
        "promptfoo-lines",
        "promptfoo results, one a line",
        "records with provider and gradingResult",
        _is_result,
        _rows,
        apart=_APART,
    ),
)
