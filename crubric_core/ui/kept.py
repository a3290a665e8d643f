"""Results that all sessions of the process share, the latest used of them, each made once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock, RLock
from typing import Any

PAUSE = 0.5  # seconds between two calls of who waits


class _Turn:
    """Whose turn it is to make a result. users: how many make it or wait for it; the turn goes with the last one."""

    def __init__(self) -> None:
        self.lock, self.users = RLock(), 0


class Kept:
    """The ``most`` results that were used last; safe to use from any number of threads.

    Who asks for a result that another thread is making waits for it, and is called every half second meanwhile. One
    that fails is not kept: the next who asks makes it.
    """

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._results: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, _Turn] = {}

    def once(
        self, key: Hashable, make: Callable[[], Any], waiting: Callable[[], object] = lambda: None
    ) -> Any:
        """What ``make`` gives, made only if nothing is kept under ``key``; what ``waiting`` raises ends the wait."""
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
