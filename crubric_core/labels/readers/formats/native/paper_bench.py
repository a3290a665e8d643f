"""PaperBench: a tree of weighted requirements, its leaves graded 0 or 1; ``model_name`` is the judge's."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator
from typing import Any

from .base import MalformedError, NativeFormat, Record, Row, Setting, label, mapped, named, number, rubric

_DEEPEST = 100
# keys of a run's result under which the judge's output is
_AROUND = ("pb_result", "paperbench_result", "grader_output", "judge_output")


def _flat(record: Record) -> Record:
    """The fields of a judge's output together with those of the result that it is in."""
    found: ChainMap[str, Any] = ChainMap(record)  # type: ignore[arg-type]
    for key in _AROUND:
        inner = found.get(key)
        found = ChainMap(inner, *found.maps) if isinstance(inner, dict) else found
    return found


def _leaves(node: Record, share: float = 1.0, depth: int = 0) -> Iterator[tuple[Record, float]]:
    """(leaf, its share of the whole score) at any depth: a node's weight is relative to those of its siblings."""
    below = [mapped(n, "a node of its tree") for n in node.get("sub_tasks") or ()]
    if depth > _DEEPEST:
        raise MalformedError("has a tree that is too deep")
    weights = [number(n.get("weight")) or 0.0 for n in below]
    for inner, weight in zip(below, weights, strict=True):
        yield from _leaves(inner, share * weight / (sum(weights) or 1.0), depth + 1)
    if not below:
        yield node, share


def _system_and_run(paper: str, setting: Setting) -> tuple[str, str | None]:
    """(system, run) by a path ``…_run-group_<system>/<paper>_<run>/grade.json``; else the usual system, and no run."""
    group, _, folder = setting.name.rpartition("/")[0].rpartition("/")
    if not folder.startswith(f"{paper}_"):
        return setting.system(), None
    name = group.rpartition("/")[2].rpartition("run-group_")[2]
    return setting.system(name) if name else setting.unknown("system"), folder


def _rows(record: Record, setting: Setting) -> Iterator[Row]:
    found = _flat(record)
    tree = mapped(found["graded_task_tree"], "a graded_task_tree")
    paper = named(found, "paper_id") if "paper_id" in found else named(tree, "id")
    asked = found.get("completer_config")
    judge = setting.judge(
        found.get("model_name") or (asked.get("model") if isinstance(asked, dict) else None)
    )
    system, run = _system_and_run(paper, setting)
    for leaf, share in _leaves(tree):
        name, known = named(leaf, "id"), leaf.get("valid_score", True)
        yield rubric(
            paper,
            name,
            leaf.get("requirements"),
            scale=(0, 1),
            weight=round(share, 6),
            dimension=leaf.get("task_category"),
        )
        score = leaf.get("score") if known else None
        yield label(system, paper, name, judge, score, run=run, reason=leaf.get("explanation"))


FORMATS = (
    NativeFormat(
        "paperbench",
        "PaperBench's graded tree",
        "a record with graded_task_tree; system from the file's path",
        lambda r: isinstance(_flat(r).get("graded_task_tree"), dict),
        _rows,
    ),
)
