"""Half-open connections are closed whatever else is installed beside uvicorn."""

from __future__ import annotations

import pytest
import uvicorn
from uvicorn.config import HTTP_PROTOCOLS
from uvicorn.protocols.http import auto
from uvicorn.protocols.http.h11_impl import H11Protocol

from crubric_core.server.half_open import close_half_open


class AnotherProtocol:
    """What uvicorn takes by itself where a faster parser is installed."""


async def nothing(scope: object, receive: object, send: object) -> None:
    """An application."""


def test_requests_are_read_by_the_protocol_that_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "AutoHTTPProtocol", AnotherProtocol)
    monkeypatch.setitem(HTTP_PROTOCOLS, "auto", HTTP_PROTOCOLS["auto"])  # as it was, afterwards
    for name in ("connection_made", "data_received"):
        monkeypatch.setattr(H11Protocol, name, getattr(H11Protocol, name))
    monkeypatch.setattr(H11Protocol, "_watched", False, raising=False)
    made = H11Protocol.connection_made
    close_half_open()
    config = uvicorn.Config(nothing)
    config.load()
    assert config.http_protocol_class is H11Protocol
    assert H11Protocol.connection_made is not made
