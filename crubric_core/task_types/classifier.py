"""What every task-type classifier can do."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..types import FloatArray, Progress


@dataclass(frozen=True)
class Watch:
    """Who hears (share done, what is done) of a running classifier, and the event that stops it; None if unused."""

    progress: Progress | None = None
    cancel: threading.Event | None = None

    @property
    def stopped(self) -> bool:
        """Whether the typer is to end."""
        return self.cancel is not None and self.cancel.is_set()

    def report(self, share: float, what: str) -> None:
        """Say how far it is."""
        if self.progress is not None:
            self.progress(share, what)


UNWATCHED = Watch()


class TaskTypeClassifier(Protocol):
    """Reads the texts of queries and says how likely each task type is."""

    @property
    def name(self) -> str:
        """What the result is marked with, such as ``offline`` or ``prompted:<model>``."""

    def probabilities(self, texts: Sequence[str | None], watch: Watch = UNWATCHED) -> FloatArray:
        """(N, 4) in the order of TASK_TYPES, rows that sum to 1; NaN rows for blank or unanswered texts."""
