"""Who watches long work, and who may stop it."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from ..types import Progress


@dataclass(frozen=True)
class Watch:
    """Who hears (share done, what is done) of running work, and the event that stops it; None if unused."""

    progress: Progress | None = None
    cancel: threading.Event | None = None

    @property
    def stopped(self) -> bool:
        """Whether the work is to end."""
        return self.cancel is not None and self.cancel.is_set()

    def report(self, share: float, what: str) -> None:
        """Say how far it is."""
        if self.progress is not None:
            self.progress(share, what)


UNWATCHED = Watch()
