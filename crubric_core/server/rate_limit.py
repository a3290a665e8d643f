"""Limit how often wrong links may be tried: per client address, and more strictly while many are tried at once.

A link that has opened before is never refused, and neither is an address that has tried no wrong link, whatever other
clients do. All counts are in memory, and their number is bounded.
"""

from __future__ import annotations

import hashlib
import ipaddress
import time
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Attempts:
    """An allowance of wrong links. most: how many may be tried in a row. refill: how many more per second."""

    most: float
    refill: float


EACH, EVERYBODY = Attempts(20, 1 / 3), Attempts(200, 10)
FEW = 5  # in place of EACH.most, while the allowance EVERYBODY is used up
REMEMBERED = 10_000  # addresses, and links that have opened


class Guesses:
    """Counts of wrong links; safe to use from any number of threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, remembered: int = REMEMBERED) -> None:
        self._clock, self._remembered, self._lock = clock, remembered, Lock()
        self._used: OrderedDict[str, tuple[float, float]] = (
            OrderedDict()
        )  # address: wrong links used of its allowance, and the time of that count
        self._all = (0.0, clock())
        self._opened: OrderedDict[bytes, None] = OrderedDict()

    def allows(self, token: str, address: str) -> bool:
        """Whether this link may be looked up now for a client at this address."""
        with self._lock:
            if _digest(token) in self._opened:
                return True
            used = self._now(self._used.get(network(address), (0.0, 0.0)), EACH)
            crowded = self._now(self._all, EVERYBODY) + 1 > EVERYBODY.most
            return used + 1 <= (FEW if crowded else EACH.most)

    def wrong(self, address: str) -> None:
        """Count a wrong link, one that opened nothing, for the client's address and for all clients."""
        with self._lock:
            key, now = network(address), self._clock()
            self._used[key] = (self._now(self._used.pop(key, (0.0, now)), EACH) + 1, now)
            self._all = (min(self._now(self._all, EVERYBODY) + 1, EVERYBODY.most), now)
            if len(self._used) > self._remembered:
                self._used.popitem(last=False)

    def right(self, token: str) -> None:
        """Remember a link that opened its view, so that it is always allowed."""
        with self._lock:
            self._opened[_digest(token)] = None
            self._opened.move_to_end(_digest(token))
            if len(self._opened) > self._remembered:
                self._opened.popitem(last=False)

    def _now(self, count: tuple[float, float], allowance: Attempts) -> float:
        used, when = count
        return max(0.0, used - (self._clock() - when) * allowance.refill)


def network(address: str) -> str:
    """The address, or its /64 network for IPv6, in which one machine can take any address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, 64), strict=False))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="replace")).digest()
