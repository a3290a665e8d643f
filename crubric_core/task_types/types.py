"""The four cognitive task types (tab:tasktypes), their aliases, and the type by which each query is scored."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..errors import DatasetError
from ..types import BoolArray, FloatArray

EVIDENCE = "evidence_reasoning"
DECISION = "decision_support"
HIGH_RISK = "high_risk_constraint"
CREATIVE = "creative_divergent"
TASK_TYPES = (EVIDENCE, DECISION, HIGH_RISK, CREATIVE)
SHARES = [f"p_{name}" for name in TASK_TYPES]
"""The columns of ``Dataset.queries`` with the probability of each type, in the order of TASK_TYPES."""

_ALIASES = {
    EVIDENCE: ("evidence", "reasoning_evidence"),
    DECISION: ("decision", "support_decision"),
    HIGH_RISK: ("high_risk", "safety_critical", "safety", "risk", "constraint"),
    CREATIVE: ("creative", "divergent_creative", "divergent", "creativity"),
}
_CANONICAL = {alias: name for name, aliases in _ALIASES.items() for alias in (name, *aliases)}

ObjectArray = NDArray[np.object_]


@dataclass(frozen=True)
class QueryTypes:
    """The task types whose rules score N queries.

    task_type: (N,) canonical name; None if no type is known or probable enough: the query is scored by pass or fail.
    fallback: (N,) True if probabilities are known and none reaches tau_t.
    unrecognised: given names that are not task types; they count as unknown.
    """

    task_type: ObjectArray
    fallback: BoolArray
    unrecognised: tuple[str, ...]


def parse_task_type(name: Any) -> str | None:
    """The canonical name of a task type or alias, whatever its case and punctuation; None for a blank or missing value.

    Raises DatasetError for another name.
    """
    if _is_blank(name):
        return None
    canonical = _lookup(name)
    if canonical is None:
        raise DatasetError(
            f"{name!r} is not a task type: use one of {', '.join(TASK_TYPES)}, or leave it empty."
        )
    return canonical


def resolve_task_types(
    task_type: Sequence[Any] | ObjectArray | None,
    probabilities: FloatArray | None,
    tau_t: float,
    n_queries: int,
) -> QueryTypes:
    """The given types, else the most probable; None if probabilities are known and below tau_t (docs/method.md §9).

    The last rule holds even for a given type. task_type: (N,) names or aliases, None or NaN unknown. probabilities:
    (N, 4) in the order of TASK_TYPES, NaN unknown.
    """
    names = [None] * n_queries if task_type is None else list(task_type)
    resolved = np.array([_lookup(name) for name in names], dtype=object)
    invalid = {str(name) for name in names if not _is_blank(name) and _lookup(name) is None}
    fallback = np.zeros(n_queries, dtype=bool)
    if probabilities is not None:
        known = np.where(np.isfinite(probabilities), probabilities, -np.inf)
        likely = known.max(axis=1)
        fallback = np.isfinite(likely) & (likely < tau_t)
        likeliest = np.array(TASK_TYPES, dtype=object)[known.argmax(axis=1)]
        unclassified = pd.isna(resolved) & np.isfinite(likely)
        resolved = np.where(unclassified, likeliest, resolved)
    resolved[fallback] = None
    return QueryTypes(resolved, fallback, tuple(sorted(invalid)))


def types_of_queries(queries: pd.DataFrame, tau_t: float) -> QueryTypes:
    """``resolve_task_types`` for N rows of ``Dataset.queries``, with the columns task_type and SHARES."""
    given, probabilities = queries["task_type"].to_numpy(dtype=object), queries[SHARES].to_numpy(dtype=float)
    return resolve_task_types(given, probabilities, tau_t, len(queries))


@lru_cache(maxsize=1024, typed=True)  # thousands of rubrics have only a few dimensions and severities
def fold_case(value: object) -> str:
    """A name in the form for comparison: case-folded, and without blanks around it."""
    return str(value).strip().casefold()


def _lookup(name: object) -> str | None:
    return _CANONICAL.get(re.sub(r"[\W_]+", "_", str(name).strip().casefold()).strip("_"))


def _is_blank(name: Any) -> bool:
    return bool(pd.isna(name)) or not str(name).strip()
