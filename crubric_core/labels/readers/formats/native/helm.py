"""HELM's per_instance_stats.json: each metric that shows whether an answer is right (``exact_match``) is a rubric.

Scenario and model are read from the folder's name, as HELM writes it: ``mmlu:subject=law,model=openai_gpt-4o``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
    listed,
    mapped,
    named,
    query,
    rubric,
)

_INSTANCES = "instances.json"
_RUN = ("run_spec.json", "scenario.json", "scenario_state.json", "stats.json", _INSTANCES)
_DISPLAYED = ("display_predictions.json", "display_requests.json")
_MODEL = re.compile(r",?(?<=[:,])model=(?P<model>[^,/]+)")
_LESS_STRICT = re.compile(r"^(quasi_|prefix_)+")
_RIGHT = re.compile(r"exact(_set)?_match|correct|equiv|(^|_)acc(uracy)?($|_)|(^|_)pass(ed)?($|_|@)")


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    run = setting.name.rpartition("/")[0].rpartition("/")[2]
    model = _MODEL.search(run)
    system = setting.system(model["model"]) if model else setting.unknown("system")
    scenario = _MODEL.sub("", run).rstrip(":") if model else ""
    instance = _instance(record, "instance_id")
    name = f"{scenario}/{instance}" if scenario else instance
    stats = [_stat(stat) for stat in listed(record, "stats")]
    right = _strictest([(metric, value) for metric, value in stats if _RIGHT.search(metric)], setting)
    if not right:
        raise MalformedError(
            "has no stat that says whether an answer is right, such as exact_match, and others "
            f"({', '.join(metric for metric, _ in stats)[:80]}) are no labels: write those that you mean into a table "
            "with system, query, rubric and label"
        )
    yield query(name, _texts(setting).get(instance), scenario.partition(":")[0] or None)
    for metric, value in right:
        yield rubric(name, metric, dimension=metric)
        yield label(system, name, metric, setting.judge(), value, run=record.get("train_trial_index"))


def _strictest(right: Sequence[tuple[str, Any]], setting: Setting) -> list[tuple[str, Any]]:
    """The (metric, value) pairs without less strict variants of others: quasi_exact_match beside exact_match."""
    strict = {metric: _LESS_STRICT.sub("", metric) for metric, _ in right}
    left = {metric for metric, other in strict.items() if other != metric and other in strict}
    for metric in sorted(left):
        setting.remark(f"{metric!r} is not used, because it repeats {strict[metric]!r} less strictly")
    return [(metric, value) for metric, value in right if metric not in left]


def _stat(stat: Any) -> tuple[str, Any]:
    """(name, mean) of a stat; the mean is None if the count is 0."""
    found = mapped(stat, "a stat")
    mean = found.get("mean")
    return named(mapped(found.get("name"), "a name"), "name"), mean if found.get("count") else None


def _instance(record: Record, key: str) -> str:
    """An instance's id (the field ``key``), followed by the perturbation of its text, if any: ``id5/typos``."""
    found = record.get("perturbation")
    changed = f"/{named(found, 'name')}" if isinstance(found, dict) else ""
    return named(record, key) + changed


def _texts(setting: Setting) -> dict[str, Any]:
    """Instance → its text, from ``instances.json``; {} if that file did not come with this one."""
    if "texts" not in setting.memory:
        setting.memory["texts"] = {
            _instance(item, "id"): item["input"].get("text")
            for item in setting.companion(_INSTANCES)
            if has(item, "id") and isinstance(item.get("input"), dict)
        }
    found: dict[str, Any] = setting.memory["texts"]
    return found


FORMATS = (
    NativeFormat(
        "helm",
        "HELM's stats of each instance",
        "records with instance_id and stats, of which those that say whether an answer is right are labels, and "
        "counts, times and scores are not; scenario and model from the folder's name",
        lambda r: (
            has(r, "instance_id")
            and is_list_of(r.get("stats"), "name", "count")
            and has(r["stats"][0]["name"], "name")
        ),
        _rows,
        companions=(*_RUN, *_DISPLAYED),
    ),
)
