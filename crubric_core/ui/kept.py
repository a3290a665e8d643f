"""A cache of the most recently used results, shared by all sessions of the process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock, RLock
from typing import Any

PAUSE = 0.5  # seconds between two calls of ``waiting``


class _Turn:
    """The lock under which one result is made. users: threads that make it or wait; the last one removes the lock."""

    def __init__(self) -> None:
        self.lock, self.users = RLock(), 0


class Kept:
    """A thread-safe cache of the ``most`` results that were used last.

    A thread that asks for a result which another thread is making waits for it; meanwhile its ``waiting`` is called
    every half second. If making a result fails, nothing is kept, and the next thread that asks makes it.
    """

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._results: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, _Turn] = {}

    def once(
        self, key: Hashable, make: Callable[[], Any], waiting: Callable[[], object] = lambda: None
    ) -> Any:
        """The result kept under ``key``, or else that of ``make``, which is then kept.

        waiting: called while another thread makes the result; an exception that it raises ends the wait.
        """
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return self._results[key]
            turn = self._making.setdefault(key, _Turn())
            turn.users += 1
        try:
            while not turn.lock.acquire(timeout=PAUSE):
                waiting()
            try:
                with self._lock:
                    if key in self._results:
                        return self._results[key]
                found = make()
                self._keep(key, found)
            finally:
                turn.lock.release()
        finally:
            with self._lock:
                turn.users -= 1
                if not turn.users:
                    self._making.pop(key)
        return found

    def _keep(self, key: Hashable, found: Any) -> None:
        with self._lock:
            self._results[key] = found
            while len(self._results) > self._most:
                self._results.popitem(last=False)
