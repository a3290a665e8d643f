"""Read results of Azure AI Evaluation: rows with inputs and each evaluator's metrics.

Fields derived from a metric are no labels: its threshold, whether it is reached, its reason and, in older versions, a
copy of the metric (``gpt_…``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .base import (
    MalformedError,
    NativeFormat,
    Record,
    Row,
    Setting,
    answer,
    is_list_of,
    label,
    listed,
    name_of_text,
    query,
    rubric,
    words,
)
from .label_studio import called

_IN, _OUT = "inputs.", "outputs."
_MADE = re.compile(  # endings of fields that are derived from a metric
    r"score|passed|result|(finish_)?reason|threshold|details|status|properties|model|sample_(in|out)put|\w+_tokens"
)
_HARMS = ("violence", "sexual", "self_harm", "hate_unfairness", "hate_fairness")


def _part(row: dict[str, Any], start: str) -> dict[str, Any]:
    """The fields of a row whose names begin with ``start``, without marking them as read."""
    return {key.removeprefix(start): value for key, value in dict.items(row) if key.startswith(start)}


def _metrics(found: Record) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (evaluator, metric, derived fields) for each numeric metric; for a harm its score, not its severity."""
    for key in found:
        evaluator, point, metric = key.rpartition(".")
        beside = [k.rpartition(".")[2] for k in found if k.startswith(f"{evaluator}.")]
        numbers = [m for m in beside if isinstance(found[f"{evaluator}.{m}"], (bool, int, float, type(None)))]
        if point and metric in numbers and not any(_is_part(metric, other) for other in numbers):
            of_it = [m for m in beside if _is_part(m, metric) or _is_part(m, metric.removesuffix("_score"))]
            yield evaluator, metric, of_it


def _is_part(metric: str, whole: str) -> bool:
    """Whether a field is derived from the metric ``whole``: ``relevance_passed``, ``gpt_relevance``."""
    made = metric.startswith(f"{whole}_") and _MADE.fullmatch(metric.removeprefix(f"{whole}_"))
    return metric == f"gpt_{whole}" or bool(made) or metric.endswith("_threshold")


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    for row in listed(record, "rows"):
        if not isinstance(row, dict):
            raise MalformedError("has a row that is not an object")
        given, found = _part(row, _IN), _part(row, _OUT)
        asked, model = called(given, "query"), called(given, "system")
        if asked is None:
            raise MalformedError("has a row without inputs.query, which tells queries apart")
        for key in (k for k, value in given.items() if value in (asked, model)):
            row.get(f"{_IN}{key}")  # marks it as read
        name, system = name_of_text(str(asked)), setting.system(model)
        yield query(name, words(asked))
        yield from answer(system, name, row.get(f"{_IN}response") or row.get(f"{_OUT}response"))
        for evaluator, metric, made_of_it in _metrics(found):
            base = metric.removesuffix("_score")
            criterion = evaluator if base == evaluator else f"{evaluator}/{metric}"
            parts = {m: row[f"{_OUT}{evaluator}.{m}"] for m in (metric, *made_of_it)}
            why = parts.get(f"{base}_reason") or parts.get(f"{metric}_reason")
            yield rubric(name, criterion, polarity=-1 if base in _HARMS else None)
            yield label(system, name, criterion, setting.judge(), parts[metric], reason=why)


def _fits(record: Record) -> bool:
    rows: Any = record.get("rows")
    return is_list_of(rows) and all(any(k.startswith(start) for k in rows[0]) for start in (_IN, _OUT))


FORMATS = (
    NativeFormat(
        "azure",
        "results of Azure AI Evaluation",
        "an object with rows whose fields begin with inputs. and outputs.; each metric is a rubric",
        _fits,
        _rows,
    ),
)
