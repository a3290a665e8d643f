"""Read LangSmith: feedback on an experiment's runs, or the runs with their feedback.

The experiment is the system and the example the query. A run is one answer, and names neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .base import MalformedError, NativeFormat, Record, Row, Setting, has, label, mapped, named

_EXPERIMENTS = ("model", "experiment", "session_name", "session_id")
_EXAMPLES = ("example_id", "reference_example_id")


def _system(record: Record, setting: Setting) -> str:
    return setting.system(next((record[k] for k in _EXPERIMENTS if record.get(k)), None))


def _query(record: Record) -> str:
    if not any(record.get(key) for key in _EXAMPLES):
        raise MalformedError(
            "names its run and no example, so that no two systems would share a query: add the run's "
            "reference_example_id to it as example_id"
        )
    return named(record, *_EXAMPLES)


def _judge(record: Record, setting: Setting) -> str:
    source = record.get("feedback_source")
    known: dict[str, Any] = source if isinstance(source, dict) else {}
    return setting.judge(known.get("user_name") or known.get("user_id") or known.get("type"))


def _feedback_rows(record: Record, setting: Setting) -> Iterator[Row]:
    score = record.get("score")
    value = record.get("value") if score in (None, "") else score
    system, name = _system(record, setting), _query(record)
    yield label(
        system, name, named(record, "key"), _judge(record, setting), value, reason=record.get("comment")
    )


def _run_rows(record: Record, setting: Setting) -> Iterator[Row]:
    system, name = _system(record, setting), _query(record)
    for key, found in mapped(record["feedback_stats"], "feedback_stats").items():
        stats = mapped(found, "feedback_stats")
        if stats.get("n") not in (None, 1):
            raise MalformedError(
                f"has one mean of {stats['n']} scores of {key!r}: export the feedback itself"
            )
        yield label(system, name, key, setting.judge(), _value(key, stats))


def _value(key: str, stats: Record) -> Any:
    """The label of a feedback key: its average score, else its only category.

    stats: the statistics of the key, with the number of each category. Raises MalformedError for several categories.
    """
    values = stats.get("values")
    if stats.get("avg") is not None or not isinstance(values, dict) or not values:
        return stats.get("avg")
    if len(values) > 1:
        raise MalformedError(f"has several values of {key!r}: export the feedback itself")
    return next(iter(values))


FORMATS = (
    NativeFormat(
        "langsmith",
        "LangSmith feedback",
        "records with session_id, run_id, key and score",
        lambda r: has(r, "session_id", "run_id", "key", "score"),
        _feedback_rows,
    ),
    NativeFormat(
        "langsmith-runs",
        "LangSmith runs with feedback",
        "records with session_id, reference_example_id and feedback_stats",
        lambda r: has(r, "session_id", "reference_example_id") and isinstance(r.get("feedback_stats"), dict),
        _run_rows,
    ),
)
