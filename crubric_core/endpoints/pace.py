"""How fast many threads may ask one endpoint."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Pace:
    """Slots at least 60 / requests_per_minute seconds apart, and a pause that holds for everybody."""

    def __init__(
        self, requests_per_minute: float | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._gap = 60 / requests_per_minute if requests_per_minute else 0.0
        self._clock = clock
        self._next = clock()
        self._lock = threading.Lock()

    def wait(self, cancel: threading.Event) -> bool:
        """Sleep until the caller's turn; False if ``cancel`` was set meanwhile."""
        while True:
            with self._lock:
                delay = self._next - self._clock()
                if delay <= 0:
                    self._next = self._clock() + self._gap
                    return not cancel.is_set()
            if cancel.wait(delay):
                return False

    def hold(self, seconds: float) -> None:
        """Nobody asks for that long."""
        with self._lock:
            self._next = max(self._next, self._clock() + seconds)
