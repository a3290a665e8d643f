"""Limit the rate at which several threads send requests to one endpoint."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Pace:
    """Gives threads turns that are at least 60 / requests_per_minute seconds apart, and can pause all threads.

    requests_per_minute: None for no limit.
    """

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
        """Give no thread a turn for that many seconds."""
        with self._lock:
            self._next = max(self._next, self._clock() + seconds)
