"""How many pages may be open at once: together, and from one client address. Each holds memory of the server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from .rate_limit import network

ALL, EACH = 400, 100


class Seats:
    """Open pages by client address; safe to use from any number of threads."""

    def __init__(self, everybody: int = ALL, each: int = EACH) -> None:
        self._everybody, self._each, self._lock = everybody, each, Lock()
        self._taken: Counter[str] = Counter()

    @contextmanager
    def taken(self, address: str) -> Iterator[bool]:
        """Whether there is a seat, which is kept until the context is left."""
        key = network(address)
        with self._lock:
            free = self._taken.total() < self._everybody and self._taken[key] < self._each
            self._taken[key] += free
        try:
            yield free
        finally:
            with self._lock:
                self._taken[key] -= free
                if not self._taken[key]:
                    del self._taken[key]
