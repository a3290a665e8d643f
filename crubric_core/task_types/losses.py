"""The cost of a violated rubric, by the losses entered with the scoring rules (docs/method.md §15)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..declarations import choice_words
from ..scoring_rules import ANY, Loss
from .types import fold_case

if TYPE_CHECKING:
    from ..types import IntArray
    from .types import ObjectArray


def fitting_loss(losses: Sequence[Loss], severity: Sequence[Any], task_type: ObjectArray) -> IntArray:
    """(J,) position of the first loss that matches each rubric; -1 if none does.

    severity: (J,) names in upper or lower case, None or NaN unknown. task_type: (J,) canonical names of the task types
    of the rubrics' queries, None unknown.
    """
    word: ObjectArray = np.array(
        ["" if pd.isna(each) else fold_case(each) for each in severity], dtype=object
    )
    found = np.full(len(word), -1, dtype=np.int64)
    for at, loss in reversed([*enumerate(losses)]):
        fits = np.full(len(word), fill_value=True)
        if loss.task_type != ANY:
            fits &= np.asarray(task_type == loss.task_type)
        if loss.severity.strip() != ANY:
            fits &= np.asarray(word == fold_case(loss.severity))
        found[fits] = at
    return found


def kind_words(loss: Loss, noun: str = "rubric") -> str:
    """The rubrics of a loss in words: ``critical rubric (high-risk constraint)``, ``other rubric``."""
    severity = "other" if loss.severity.strip() == ANY else loss.severity.strip()
    of = "" if loss.task_type == ANY else f" ({choice_words(loss.task_type)})"
    return f"{severity} {noun}{of}"


def ratio_sentence(losses: Sequence[Loss]) -> str:
    """A sentence: how many violations of each other kind cost as much as one of the costliest kind.

    "" if fewer than two losses are above 0.
    """
    costly = [loss for loss in losses if loss.loss > 0]
    if len(costly) < 2:
        return ""
    most = max(costly, key=lambda loss: loss.loss)
    ratios = [
        f"{most.loss / loss.loss:.3g} {kind_words(loss, 'rubric' if loss.loss == most.loss else 'rubrics')}"
        for loss in costly
        if loss is not most
    ]
    return f"One violated {kind_words(most)} is as bad as {', or '.join(ratios)}."
