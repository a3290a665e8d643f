"""Requests that are begun and not finished: their connections are closed. uvicorn itself waits for ever."""

from __future__ import annotations

import asyncio
import os
from functools import wraps
from typing import Any

import h11
from uvicorn.config import HTTP_PROTOCOLS
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS = 20.0  # seconds until the whole head of a request is there
BODY = 60.0  # seconds without a byte of its body


def close_half_open() -> None:
    """From now on no connection of this process waits for ever for the rest of a request. Done twice, done once.

    To be called before uvicorn loads its configuration: it then reads with h11, also where httptools is installed,
    whose connections cannot be watched. CRUBRIC_PATIENCE: seconds, in place of HEADERS and BODY.
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
    """Set the clock of whatever the connection waits for now; it runs on while more of the same head drips in."""
    waits, clock = _waits_for(connection), getattr(connection, "_clock", None)
    if clock is not None and (waits != "head" or connection._waits != "head"):
        clock.cancel()
        clock = None
    connection._waits, connection._clock = waits, clock
    if waits and clock is None:
        seconds = headers if waits == "head" else body
        connection._clock = asyncio.get_running_loop().call_later(seconds, _close, connection)


def _waits_for(connection: Any) -> str:
    """The head or the body of a request; "" for neither, and where the connection has become a WebSocket."""
    if connection.transport.get_protocol() is not connection:
        return ""
    return {h11.IDLE: "head", h11.SEND_BODY: "body"}.get(connection.conn.their_state, "")


def _close(connection: Any) -> None:
    connection._clock = None
    if _waits_for(connection) and not connection.transport.is_closing():
        connection.transport.close()
