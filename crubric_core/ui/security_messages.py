"""What a browser may ask for on the WebSocket; every other message is dropped before Streamlit sees it.

Streamlit takes its whole protocol from any client, its developer's menu too: one visitor could empty the caches of
all, and so end the experiments under way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamlit.proto.BackMsg_pb2 import BackMsg

if TYPE_CHECKING:
    from starlette.types import Message, Receive

FROM_ANYBODY = frozenset(("rerun_script", "stop_script", "app_heartbeat", "backend_operation_request"))
FROM_EDITORS = FROM_ANYBODY | {"file_urls_request"}
NOTHING = BackMsg(app_heartbeat=True).SerializeToString()


def filtered(receive: Receive, allowed: frozenset[str], longest: int) -> Receive:
    """``receive``, with a heartbeat in place of every message that is longer (in bytes) or not allowed."""

    async def receive_allowed() -> Message:
        message = await receive()
        if message["type"] == "websocket.receive" and not _is_allowed(message.get("bytes"), allowed, longest):
            return {"type": "websocket.receive", "bytes": NOTHING}
        return message

    return receive_allowed


def _is_allowed(data: bytes | None, allowed: frozenset[str], longest: int) -> bool:
    if data is None or len(data) > longest:  # None: a text frame, no message of the protocol
        return False
    try:
        return BackMsg.FromString(data).WhichOneof("type") in allowed
    except Exception:  # noqa: BLE001 - protobuf's own class of error has no types
        return False
