"""Limit how many pages are open at once, in total and from one client address. Each page uses memory of the server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from .rate_limit import network

ALL, EACH = 400, 100


class Seats:
    """Counts of open pages by client address. Thread-safe. everybody, each: the limits in total and per address."""

    def __init__(self, everybody: int = ALL, each: int = EACH) -> None:
        self._everybody, self._each, self._lock = everybody, each, Lock()
        self._taken: Counter[str] = Counter()

    @contextmanager
    def taken(self, address: str) -> Iterator[bool]:
        """Take a seat for a page, until the context is left; yields False if none is free."""
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
