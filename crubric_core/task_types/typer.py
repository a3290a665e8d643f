"""What every typer of queries can do, whatever it asks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from ..arrays import FloatArray

Progress = Callable[[float, str], None]


class TaskTyper(Protocol):
    """Reads the texts of queries and says how likely each task type is."""

    @property
    def name(self) -> str:
        """What the result is marked with, such as ``offline`` or ``prompted:<model>``."""

    def probabilities(
        self,
        texts: Sequence[str | None],
        progress: Progress | None = None,
        cancel: threading.Event | None = None,
    ) -> FloatArray:
        """(N, 4) in the order of TASK_TYPES, rows that sum to 1; NaN rows for blank or unanswered texts."""
