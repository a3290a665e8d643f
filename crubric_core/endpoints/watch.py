"""Progress reports and cancellation of long work."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from ..types import Progress


@dataclass(frozen=True)
class Watch:
    """Progress reports and cancellation of running work.

    progress: called with (share done in [0, 1], description), or None. cancel: event that stops the work, or None.
    """

    progress: Progress | None = None
    cancel: threading.Event | None = None

    @property
    def stopped(self) -> bool:
        """Whether the work should end."""
        return self.cancel is not None and self.cancel.is_set()

    def report(self, share: float, what: str) -> None:
        """Report the progress: share done in [0, 1], and what is being done."""
        if self.progress is not None:
            self.progress(share, what)


UNWATCHED = Watch()
