"""Close the connections of requests that are begun and not finished. uvicorn itself waits for ever."""

from __future__ import annotations

import asyncio
import os
from functools import wraps
from typing import Any

import h11
from uvicorn.config import HTTP_PROTOCOLS
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS = 20.0  # seconds within which the whole head of a request must arrive
BODY = 60.0  # seconds without a byte of its body


def close_half_open() -> None:
    """From now on, close any connection of this process that waits too long for the rest of a request. Idempotent.

    Call it before uvicorn loads its configuration. It makes uvicorn parse with h11 even if httptools is installed,
    because the connections of httptools cannot be watched. The environment variable CRUBRIC_PATIENCE (whole seconds)
    replaces both HEADERS and BODY.
    """
    HTTP_PROTOCOLS["auto"] = HTTP_PROTOCOLS["h11"]
    patience = os.environ.get("CRUBRIC_PATIENCE", "")
    headers, body = (float(patience),) * 2 if patience.isdecimal() else (HEADERS, BODY)
    protocol: Any = H11Protocol
    if getattr(protocol, "_watched", False):
        return
    protocol._watched = True
    made, received = protocol.connection_made, protocol.data_received

    @wraps(made)
    def connection_made(self: Any, transport: Any) -> None:
        made(self, transport)
        _wait(self, headers, body)

    @wraps(received)
    def data_received(self: Any, data: bytes) -> None:
        received(self, data)
        _wait(self, headers, body)

    protocol.connection_made = connection_made
    protocol.data_received = data_received


def _wait(connection: Any, headers: float, body: float) -> None:
    """Start the timer for the part of a request that the connection waits for now, or cancel it.

    Further bytes of the same head do not restart its timer; bytes of a body do.
    """
    waits, clock = _waits_for(connection), getattr(connection, "_clock", None)
    if clock is not None and (waits != "head" or connection._waits != "head"):
        clock.cancel()
        clock = None
    connection._waits, connection._clock = waits, clock
    if waits and clock is None:
        seconds = headers if waits == "head" else body
        connection._clock = asyncio.get_running_loop().call_later(seconds, _close, connection)


def _waits_for(connection: Any) -> str:
    """Which part of a request is incomplete: "head", "body", or "" for neither and for a WebSocket."""
    if connection.transport.get_protocol() is not connection:
        return ""
    return {h11.IDLE: "head", h11.SEND_BODY: "body"}.get(connection.conn.their_state, "")


def _close(connection: Any) -> None:
    connection._clock = None
    if _waits_for(connection) and not connection.transport.is_closing():
        connection.transport.close()
