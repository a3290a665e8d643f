"""What columns each kind of table has, and which column of a file is meant by each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...errors import IngestError

Kind = Literal["labels", "rubrics", "queries", "gold", "reference", "anchors"]
Type = Literal["text", "number", "whole", "share", "positive", "sign", "bit"]

TASK_TYPES = ("evidence_reasoning", "decision_support", "high_risk_constraint", "creative_divergent")


@dataclass(frozen=True)
class TableSpec:
    """One kind of table.

    keys: the columns that name things; a file must have ``needed``.
    values: the further columns with their type; ``any_of``: at least one of them must be there.
    """

    keys: tuple[str, ...]
    needed: tuple[str, ...]
    values: Mapping[str, Type]
    any_of: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All canonical columns."""
        return (*self.keys, *self.values)


SPECS: Mapping[str, TableSpec] = {
    "labels": TableSpec(
        ("system", "query", "rubric", "judge"), ("system", "rubric", "label"), {"label": "whole"}
    ),
    "gold": TableSpec(
        ("system", "query", "rubric", "annotator"), ("system", "rubric", "label"), {"label": "whole"}
    ),
    "rubrics": TableSpec(
        ("query", "rubric"),
        ("rubric",),
        {
            "text": "text",
            "scale_min": "whole",
            "scale_max": "whole",
            "weight": "number",
            "dimension": "text",
            "severity": "text",
            "polarity": "sign",
            "tags": "text",
        },
    ),
    "queries": TableSpec(
        ("query",),
        ("query",),
        {
            "text": "text",
            "domain": "text",
            "task_type": "text",
            **{f"p_{name}": "share" for name in TASK_TYPES},
            "type_source": "text",
            "omega": "positive",
        },
    ),
    "reference": TableSpec(
        ("system",), ("system",), {"rank": "positive", "score": "number"}, any_of=("rank", "score")
    ),
    "anchors": TableSpec(("query", "rubric", "annotator"), ("rubric", "label"), {"label": "bit"}),
}

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "system": ("system_id", "model", "model_id", "model_name", "system_name"),
    "query": ("query_id", "question", "question_id", "prompt_id", "task_id", "prompt"),
    "rubric": ("rubric_id", "criterion", "criterion_id", "criteria", "item", "item_id", "rubric_name"),
    "judge": ("judge_id", "grader", "grader_id", "rater", "annotator", "evaluator", "judge_model"),
    "annotator": ("annotator_id", "judge", "rater", "expert", "grader"),
    "label": (
        "score",
        "verdict",
        "rating",
        "grade",
        "judgment",
        "judgement",
        "value",
        "vote",
        "valid",
        "validity",
    ),
    "text": ("description", "criterion_text", "rubric_text", "query_text", "prompt_text", "content"),
    "scale_min": ("min", "minimum", "min_score", "scale_minimum"),
    "scale_max": ("max", "maximum", "max_score", "scale_maximum"),
    "weight": ("points", "importance"),
    "dimension": ("axis", "aspect", "category"),
    "severity": ("level_of_severity",),
    "polarity": ("sign", "direction"),
    "tags": ("tag",),
    "domain": ("topic", "subject", "category"),
    "task_type": ("type", "tasktype"),
    "omega": ("query_weight", "weight"),
    "rank": ("ranking", "position", "place"),
    "score": ("rating", "elo", "value"),
    "p_evidence_reasoning": ("p_evidence",),
    "p_decision_support": ("p_decision",),
    "p_high_risk_constraint": ("p_high_risk", "p_safety_critical"),
    "p_creative_divergent": ("p_creative", "p_divergent_creative"),
}


def choose_columns(
    kind: Kind, columns: Sequence[str], mapping: Mapping[str, str] | None, source: str
) -> dict[str, int]:
    """Which column (by position) of the file holds each canonical column of ``kind``.

    ``mapping`` (canonical name → the file's name, "" for none of them) goes first, then the canonical names,
    then synonyms, all in any case. Raises IngestError where a needed column is missing or two columns fit one name.
    """
    _refuse_duplicates(columns, source)
    chosen = _mapped(kind, columns, mapping or {}, source)
    for names in ({c: (c,) for c in SPECS[kind].columns}, SYNONYMS):
        for canonical in SPECS[kind].columns:
            if canonical not in chosen and (mapping or {}).get(canonical) != "":
                chosen |= _unique_fit(canonical, names.get(canonical, ()), columns, chosen, source)
    _require_needed(kind, columns, chosen, source)
    return chosen


def _refuse_duplicates(columns: Sequence[str], source: str) -> None:
    named = [c.strip() for c in columns if c.strip()]
    for name in named:
        if named.count(name) > 1:
            raise IngestError(
                f"{source} has the column {name!r} {named.count(name)} times: rename or drop the others."
            )


def _mapped(kind: Kind, columns: Sequence[str], mapping: Mapping[str, str], source: str) -> dict[str, int]:
    chosen = {}
    for canonical, name in mapping.items():
        if canonical not in SPECS[kind].columns:
            raise IngestError(
                f"The mapping names {canonical!r}, which a {kind} table does not have: "
                f"use {', '.join(SPECS[kind].columns)}."
            )
        if name == "":
            continue
        if name not in columns:
            raise IngestError(
                f"The mapping takes {canonical} from the column {name!r}, which {source} does not have: "
                f"its columns are {_listed(columns)}."
            )
        chosen[canonical] = list(columns).index(name)
    return chosen


def _unique_fit(
    canonical: str, names: Sequence[str], columns: Sequence[str], chosen: Mapping[str, int], source: str
) -> dict[str, int]:
    taken = set(chosen.values())
    fits = [i for i, c in enumerate(columns) if i not in taken and plain_name(c) in names]
    if len(fits) > 1:
        both = " and ".join(repr(columns[i]) for i in fits)
        raise IngestError(
            f"In {source} the columns {both} could each be the {canonical}: say which (mapping)."
        )
    return {canonical: fits[0]} if fits else {}


def _require_needed(kind: Kind, columns: Sequence[str], chosen: Mapping[str, int], source: str) -> None:
    spec = SPECS[kind]
    missing = [c for c in spec.needed if c not in chosen]
    if not missing and spec.any_of and not any(c in chosen for c in spec.any_of):
        missing = [" or ".join(spec.any_of)]
    if missing:
        raise IngestError(
            f"{source} has no column for {' and '.join(missing)}, which a {kind} table needs: its columns are "
            f"{_listed(columns)}; rename one or say which it is (mapping)."
        )


def plain_name(name: str) -> str:
    """A column's name as it is compared: no case, underscores for all that parts its words."""
    return re.sub(r"[\s\-.]+", "_", name.strip().lower())


def _listed(columns: Sequence[str]) -> str:
    shown = ", ".join(repr(c if len(c) <= 40 else c[:39] + "…") for c in columns[:12])
    return shown + (f" and {len(columns) - 12} more" if len(columns) > 12 else "")
