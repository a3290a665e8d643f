"""What every task-type classifier can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..endpoints.watch import UNWATCHED, Watch
from ..types import FloatArray

__all__ = ["UNWATCHED", "TaskTypeClassifier", "Watch"]


class TaskTypeClassifier(Protocol):
    """Reads the texts of queries and says how likely each task type is."""

    @property
    def name(self) -> str:
        """What the result is marked with, such as ``offline`` or ``prompted:<model>``."""

    def probabilities(self, texts: Sequence[str | None], watch: Watch = UNWATCHED) -> FloatArray:
        """(N, 4) in the order of TASK_TYPES, rows that sum to 1; NaN rows for blank or unanswered texts."""
