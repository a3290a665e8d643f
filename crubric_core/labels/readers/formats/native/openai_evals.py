"""Read the log of a run of OpenAI Evals: its specification, then one event per line, then the report.

An event ``match`` holds whether a sample's answer is correct, an event ``metrics`` one number for each metric. Events
``sampling`` (prompts and replies) hold no label.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...word_lists import word_list
from .base import MalformedError, NativeFormat, Record, Row, Setting, answer, has, label, mapped, named

_SYSTEM = "system"
_TYPES = word_list("match metrics sampling raw_sample cond_logp embedding function_call error extra")


def _fits(record: Record) -> bool:
    spec = record.get("spec")
    event = has(record, "run_id", "event_id", "sample_id", "type", "data") and record["type"] in _TYPES
    return (
        event
        or (isinstance(spec, dict) and has(spec, "eval_name", "run_id"))
        or set(record) == {"final_report"}
    )


def _model(spec: Record) -> object:
    """The answering model: the first of ``completion_fns``, or ``model_name`` in the first versions."""
    given = spec.get("completion_fns") or spec.get("model_name")
    return given[0] if isinstance(given, list) and given else given


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    if "spec" in record:
        setting.memory[_SYSTEM] = _model(mapped(record["spec"], "a spec"))
        return
    if record.get("type") not in ("match", "metrics"):
        return
    if _SYSTEM not in setting.memory:
        raise MalformedError("comes before the specification of its run, which names the system")
    system, name, data = (
        setting.system(setting.memory[_SYSTEM]),
        named(record, "sample_id"),
        mapped(record["data"], "data"),
    )
    if record["type"] == "match":
        yield label(system, name, "correct", setting.judge(), data.get("correct"))
        yield from answer(system, name, data.get("sampled"))
        return
    for metric, value in data.items():
        if isinstance(value, (bool, int, float)):
            yield label(system, name, metric, setting.judge(), value)


FORMATS = (
    NativeFormat(
        "openai-evals",
        "the log of a run of OpenAI Evals",
        "a record with spec, then events with run_id, sample_id, type and data",
        _fits,
        _rows,
    ),
)
