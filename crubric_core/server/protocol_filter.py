"""Filter the messages on the WebSocket: what a browser may request, and what it need not know.

Streamlit accepts its whole protocol from any client, including the commands of its developer menu: one visitor could
clear the caches of all visitors, and so end running experiments, or have files installed beside the program. It also
sends every client its path on the disk and the versions and platform on which it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .streamlit_internals import BackMsg, ForwardMsg, asked_for

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Send

FROM_ANYBODY = frozenset(("rerun_script", "stop_script", "app_heartbeat", "deferred_file", "dataframe_chunk"))
FROM_EDITORS = FROM_ANYBODY | {"file_urls_request"}
FIRST = 16_384  # bytes; the first message of a run is far shorter
NOTHING = BackMsg(app_heartbeat=True).SerializeToString()


def filtered(receive: Receive, allowed: frozenset[str], longest: int) -> Receive:
    """``receive`` that replaces a message by a heartbeat if it has more than ``longest`` bytes or is not allowed.

    allowed: kinds of message, as ``asked_for`` names them.
    """

    async def receive_allowed() -> Message:
        message = await receive()
        if message["type"] == "websocket.receive" and not _is_allowed(message.get("bytes"), allowed, longest):
            return {"type": "websocket.receive", "bytes": NOTHING}
        return message

    return receive_allowed


def discreet(send: Send) -> Send:
    """``send`` that removes the server's paths and versions from the first message of a run."""

    async def send_less(message: Message) -> None:
        data = message.get("bytes")
        if message["type"] == "websocket.send" and data and len(data) < FIRST:
            message = {"type": "websocket.send", "bytes": _without_the_server(data)}
        await send(message)

    return send_less


def _without_the_server(data: bytes) -> bytes:
    message = ForwardMsg.FromString(data)
    if message.WhichOneof("type") != "new_session":
        return data
    session = message.new_session
    session.main_script_path = ""
    for part in (session.initialize.user_info, session.initialize.environment_info):
        for field, _ in part.ListFields():
            if field.name != "streamlit_version":  # the page compares it with its own
                part.ClearField(field.name)
    return bytes(message.SerializeToString())


def _is_allowed(data: bytes | None, allowed: frozenset[str], longest: int) -> bool:
    if data is None or len(data) > longest:  # None: a text frame, no message of the protocol
        return False
    try:
        return asked_for(BackMsg.FromString(data)) in allowed
    except Exception:  # noqa: BLE001 - protobuf's own class of error has no types
        return False
