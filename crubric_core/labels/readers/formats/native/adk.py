"""Evaluation results of Google's Agent Development Kit: labels on the rubrics of a metric, or on the metric itself.

Metrics of each turn (invocation) are read. A metric of the whole case is read only if no turn has it, because otherwise
it sums up the turns. Fields have their Python names (``eval_id``) or their JavaScript names (``evalId``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from .base import (
    NativeFormat,
    Record,
    Row,
    Setting,
    answer,
    is_list_of,
    label,
    mapped,
    named,
    query,
    rubric,
    words,
)

_STATUS = {1: 1, "1": 1, "PASSED": 1, 2: 0, "2": 0, "FAILED": 0}  # 3: not evaluated


def _of(record: Any, name: str) -> Any:
    """A field by its Python name (``eval_id``), else by its JavaScript name (``evalId``); None without either."""
    camel = re.sub(r"_(\w)", lambda found: found[1].upper(), name)
    return record.get(name, record.get(camel)) if isinstance(record, dict) else None


def _list(record: Any, name: str) -> list[Record]:
    return [item for item in _of(record, name) or () if isinstance(item, dict)]


def _text_of(content: Any) -> str | None:
    """The joined text parts of a message; None if it has no text."""
    return words("\n\n".join(str(part["text"]) for part in _list(content, "parts") if part.get("text")))


def _paired(case: Record) -> list[Record]:
    """The metrics as older versions write them: pairs (metric, result), each merged into one object."""
    pairs = _of(case, "eval_metric_results") or ()
    return [asked | found for asked, found in pairs if isinstance(asked, dict) and isinstance(found, dict)]


def _app(record: Record, cases: list[Record]) -> Any:
    """The agent: ``app_name`` of a session, else what precedes the set's id in ``eval_set_result_id``; else None."""
    named_so = (_of(_of(case, "session_details"), "app_name") for case in cases)
    result, of_set = (str(_of(record, key) or "") for key in ("eval_set_result_id", "eval_set_id"))
    return next(filter(None, named_so), None) or result.rpartition(f"_{of_set}_")[0] or None


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    cases = [mapped(case, "a case") for case in _of(record, "eval_case_results")]
    system = setting.system(_app(record, cases))
    runs = Counter[str]()
    for case in cases:
        name = named(case, "eval_id", "evalId")
        runs[name] += 1
        repeated = sum(_of(other, "eval_id") == name for other in cases) > 1
        run = runs[name] if repeated else None
        turns = _list(case, "eval_metric_result_per_invocation")
        rated: set[Any] = set()
        for number, turn in enumerate(turns, 1):
            place = name if len(turns) == 1 else f"{name}/turn {number}"
            happened = _of(turn, "actual_invocation")
            yield query(place, _text_of(_of(happened, "user_content")))
            if not repeated:
                yield from answer(system, place, _text_of(_of(happened, "final_response")))
            for metric in _list(turn, "eval_metric_results"):
                rated.add(_of(metric, "metric_name"))
                yield from _labels(metric, system, place, run, setting)
        for metric in _list(case, "overall_eval_metric_results") or _paired(case):
            if _of(metric, "metric_name") not in rated:
                yield query(name)
                yield from _labels(metric, system, name, run, setting)


def _labels(metric: Record, system: str, place: str, run: int | None, setting: Setting) -> Iterator[Row]:
    """The rubrics of a metric and their labels; for one without rubrics, whether it is passed (``eval_status``)."""
    name, asked = named(metric, "metric_name", "metricName"), _of(metric, "criterion")
    options = _of(asked, "judge_model_options") or metric.get("judge_model_options")
    judge = setting.judge(_of(options, "judge_model") or _of(metric, "judge_model"))
    texts = {
        _of(r, "rubric_id"): _of(_of(r, "rubric_content"), "text_property") for r in _list(asked, "rubrics")
    }
    verdicts = _list(_of(metric, "details"), "rubric_scores")
    for verdict in verdicts:
        key = named(verdict, "rubric_id", "rubricId")
        yield rubric(place, f"{name}/{key}", texts.get(key), dimension=name)
        yield label(
            system,
            place,
            f"{name}/{key}",
            judge,
            verdict.get("score"),
            run=run,
            reason=verdict.get("rationale"),
        )
    if not verdicts:
        yield rubric(place, name, scale=(0, 1))
        yield label(system, place, name, judge, _STATUS.get(_of(metric, "eval_status")), run=run)


FORMATS = (
    NativeFormat(
        "adk",
        "evaluation results of Google's Agent Development Kit",
        "an object with eval_case_results that have metrics; the system is the agent",
        lambda r: (
            is_list_of(r.get("eval_case_results"), "eval_id")
            or is_list_of(r.get("evalCaseResults"), "evalId")
        ),
        _rows,
    ),
)
