"""Connections of the server send what they have at once."""

import asyncio
import socket

from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from crubric_core.server.connections import prepare_connections


async def _sends_at_once(listening: socket.socket) -> int:
    """Whether a connection to a socket that is opened as Streamlit opens its own has TCP_NODELAY."""
    state, config = ServerState(), Config(lambda scope, receive, send: None)
    config.load()
    server = await asyncio.get_running_loop().create_server(
        lambda: H11Protocol(config, state, {}), sock=listening
    )
    _, writer = await asyncio.open_connection(*listening.getsockname())
    while not state.connections:
        await asyncio.sleep(0)
    (made,) = state.connections
    found: int = made.transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    writer.close()
    server.close()
    return found


def test_a_connection_does_not_wait_for_acknowledgements_before_it_sends() -> None:
    prepare_connections()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        assert asyncio.run(_sends_at_once(listening)) == 1
