"""Measure how often a task-type classifier is right, on queries whose type is known."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ..types import FloatArray, IntArray
from .types import TASK_TYPES, parse_task_type

UNDECIDED = "undecided"
_HELD_OUT = Path(__file__).with_name("held_out_queries.toml")


@dataclass(frozen=True)
class ClassifierEvaluation:
    """Accuracy of a classifier on N queries of known type.

    confusion: (4, 5) counts; row: the true type, column: the most probable type, or the last column if its probability
    is below tau_t. accuracy: share of queries whose most probable type is right, whatever tau_t. coverage: share of
    queries decided at tau_t. accuracy_decided: share of right ones among these. log_loss: mean -log Pr(true type);
    1.386 for equal probabilities. Shares and log_loss are NaN without queries.
    """

    confusion: IntArray
    accuracy: float
    coverage: float
    accuracy_decided: float
    log_loss: float

    def table(self) -> pd.DataFrame:
        """The confusion matrix with the names of the types."""
        return pd.DataFrame(self.confusion, index=list(TASK_TYPES), columns=[*TASK_TYPES, UNDECIDED])


def held_out_queries() -> tuple[list[str], list[str]]:
    """Texts and types of queries that were not used to build a classifier of this package."""
    by_type = tomllib.loads(_HELD_OUT.read_text("utf-8"))
    pairs = [(text, name) for name, texts in by_type.items() for text in texts]
    return [text for text, _ in pairs], [name for _, name in pairs]


def evaluate_classifier(
    probabilities: FloatArray, task_types: Sequence[str], tau_t: float = 0.5
) -> ClassifierEvaluation:
    """Compare (N, 4) probabilities with N true types; NaN rows are left out.

    task_types: canonical names or aliases. Raises DatasetError for an unknown name.
    """
    true = np.array([TASK_TYPES.index(parse_task_type(name) or "") for name in task_types], dtype=np.int64)
    known = np.isfinite(probabilities).all(axis=1)
    shares, true = probabilities[known], true[known]
    likeliest = shares.argmax(axis=1)
    decided = shares.max(axis=1) >= tau_t
    confusion = np.zeros((len(TASK_TYPES), len(TASK_TYPES) + 1), dtype=np.int64)
    np.add.at(confusion, (true, np.where(decided, likeliest, len(TASK_TYPES))), 1)
    of_true = shares[np.arange(len(true)), true]
    return ClassifierEvaluation(
        confusion=confusion,
        accuracy=_mean(likeliest == true),
        coverage=_mean(decided),
        accuracy_decided=_mean((likeliest == true)[decided]),
        log_loss=_mean(-np.log(np.maximum(of_true, np.finfo(np.float64).tiny))),
    )


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")
