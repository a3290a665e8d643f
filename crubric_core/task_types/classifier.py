"""The interface of all task-type classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..endpoints.watch import UNWATCHED, Watch
from ..types import FloatArray

__all__ = ["UNWATCHED", "TaskTypeClassifier", "Watch"]


class TaskTypeClassifier(Protocol):
    """Estimates the probability of each task type from the text of a query."""

    @property
    def name(self) -> str:
        """The name that is stored with its results, for example ``offline`` or ``prompted:<model>``."""

    def probabilities(self, texts: Sequence[str | None], watch: Watch = UNWATCHED) -> FloatArray:
        """(N, 4) probabilities in the order of TASK_TYPES; NaN rows for blank or unanswered texts.

        watch: receives the progress, and can stop the work.
        """
