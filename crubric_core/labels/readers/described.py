"""Columns of a table of labels that describe its rubrics, queries or answers, once a row (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from .columns import SPECS, Kind, Type, plain_name
from .guess import Sample
from .plan import Columns, FilePlan
from .words import UNKNOWN, is_number, plain

KEYS: Mapping[Kind, tuple[str, ...]] = {
    "queries": ("query",),
    "rubrics": ("query", "rubric"),
    "answers": ("system", "query"),
}
# In a table of labels "text" or "score" would say nothing of whose it is: these names do.
_NAMES: Mapping[Kind, Mapping[str, tuple[str, ...]]] = {
    "queries": {
        "text": (
            *("query_text", "question_text", "prompt_text", "query", "question", "prompt", "user_prompt"),
            *("instruction", "input"),
        ),
        "domain": ("domain", "topic", "subject", "category"),
        "task_type": ("task_type",),
        "omega": ("omega", "query_weight"),
    },
    "rubrics": {
        "text": (
            *(
                "rubric_text",
                "criterion_text",
                "criteria_text",
                "rubric_description",
                "criterion_description",
            ),
            *("rubric", "criterion", "criteria", "requirement", "description"),
        ),
        "scale_min": ("scale_min", "min_score"),
        "scale_max": ("scale_max", "max_score"),
        "pass_mark": ("pass_mark", "pass_threshold", "passing_score"),
        "weight": ("weight", "rubric_weight", "criterion_weight", "importance", "points"),
        "dimension": ("dimension", "axis", "aspect", "category"),
        "severity": ("severity",),
        "polarity": ("polarity",),
        "tags": ("tags", "tag"),
    },
    "answers": {
        "text": (
            *(
                "answer",
                "answer_text",
                "response",
                "response_text",
                "model_response",
                "model_output",
                "output",
            ),
            *("completion", "generation", "reply"),
        ),
    },
}


def with_descriptions(plan: FilePlan, rows: Sample) -> FilePlan:
    """The plan of a table of labels with the columns that describe what it names.

    A column counts by its name, and only where the first rows never give two values of the same query, rubric or
    answer; one that later rows contradict is left out when the file is read.
    """
    if plan.kind != "labels" or plan.problem or not plan.mapping:
        return plan
    left = [c for c in plan.unused if c in plan.columns]
    described: dict[str, Columns] = {}
    for kind, names in _NAMES.items():
        if (keys := keys_of(plan, kind)) is None:
            continue
        for canonical, words in names.items():
            column = next(
                (
                    c
                    for word in words
                    for c in left
                    if plain_name(c) == word and _describes(plan, rows, keys, c, kind, canonical)
                ),
                None,
            )
            if column is not None:
                left.remove(column)
                described[kind] = {**described.get(kind, {}), canonical: column}
    return with_described(plan, described)


def with_described(plan: FilePlan, described: Mapping[str, Columns]) -> FilePlan:
    """The plan with those of these columns as descriptions that it does not use otherwise."""
    left = (*plan.unused, *_described_columns(plan))
    kept = {k: {c: v for c, v in columns.items() if v in left} for k, columns in described.items()}
    kept = {k: columns for k, columns in kept.items() if columns}
    found = replace(
        plan, described=kept, tables=(*(t for t in plan.tables if t not in plan.described), *kept)
    )
    taken = _described_columns(found)
    return replace(
        found,
        unused=tuple(c for c in plan.columns if c in left and c not in taken),
        suspects=tuple(c for c in plan.suspects if c not in taken),
    )


def described_parts(file: FilePlan) -> list[FilePlan]:
    """How what a table of labels says of its rubrics, queries and answers is read: a table each."""
    parts = []
    used = {c for v in (*file.mapping.values(), file.gold) for c in (v if isinstance(v, tuple) else (v,))}
    for kind in KEYS:
        columns = {c: v for c, v in file.described.get(kind, {}).items() if v not in used}
        if not columns:
            continue
        keys = {c: v for c, v in file.mapping.items() if c in KEYS[kind]}
        mapping = {
            **dict.fromkeys(SPECS[kind].columns, ""),
            **keys,
            **columns,
        }  # "": no other column by its name
        parts.append(replace(file, kind=kind, mapping=mapping, gold=(), described={}, words={}))
    return parts


def without_doubles(plans: Sequence[FilePlan]) -> list[FilePlan]:
    """Where a file of its own describes rubrics, queries or answers, the tables of labels do not."""
    own = {table for p in plans if not p.skip and not p.described for table in p.tables if table != "labels"}
    return [_without(p, own & set(p.described)) if p.described else p for p in plans]


def keys_of(plan: FilePlan, kind: Kind) -> tuple[str, ...] | None:
    """The columns that name what ``kind`` describes; None where the table does not name it row by row."""
    held = {c: plan.mapping.get(c) for c in KEYS[kind]}
    if any(held[c] is None for c in SPECS[kind].needed if c in held):
        return None
    if any(isinstance(v, tuple) for v in held.values()):
        return None
    return tuple(v for v in held.values() if isinstance(v, str) and v in plan.columns) or None


def _without(plan: FilePlan, kinds: Set[str]) -> FilePlan:
    return with_described(plan, {k: v for k, v in plan.described.items() if k not in kinds})


def _described_columns(plan: FilePlan) -> set[str]:
    return {v for columns in plan.described.values() for v in columns.values() if isinstance(v, str)}


def _describes(
    plan: FilePlan, rows: Sample, keys: tuple[str, ...], column: str, kind: Kind, canonical: str
) -> bool:
    """Whether the first rows give values of the right type, and one alone for each key."""
    at, of = plan.columns.index(column), [plan.columns.index(key) for key in keys]
    wanted = SPECS[kind].values[canonical]
    seen: dict[tuple[str | None, ...], str] = {}
    for row in rows:
        cell = row[at] if at < len(row) else None
        if cell is None or plain(cell) in UNKNOWN:
            continue
        if not _is_of_type(cell, wanted):
            return False
        key = tuple(row[k] if k < len(row) else None for k in of)
        if seen.setdefault(key, cell.strip()) != cell.strip():
            return False
    return bool(seen)


def _is_of_type(cell: str, wanted: Type) -> bool:
    return wanted == "text" or (is_number(cell) and (wanted != "sign" or float(cell) in (-1, 1)))
