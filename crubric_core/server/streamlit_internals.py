"""All that this program uses of Streamlit's private parts; requirements.txt pins the minor version they belong to.

tests/server/test_streamlit_internals.py checks the contract of each function and name here. After an upgrade of
Streamlit that test shows what has changed, and this is the only file to adapt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamlit import config
from streamlit.errors import StreamlitInvalidLayoutContextError as PlaceNotDrawnError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState
from streamlit.web import cli
from streamlit.web.server.starlette import starlette_websocket
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BackMsg",
    "ForwardMsg",
    "PlaceNotDrawnError",
    "asked_for",
    "claims_of",
    "is_from_own_fragment",
    "is_host_allowed",
    "is_step_back",
    "on_a_page",
    "option",
    "streamlit_command",
]


def streamlit_command(*words: str) -> None:
    """Run the command ``streamlit …`` in this process, and exit when it ends."""
    cli.main(list(words), prog_name="streamlit")


def option(name: str) -> Any:
    """The value of a configuration option, such as "server.address"."""
    return config.get_option(name)


def on_a_page() -> bool:
    """Whether this thread runs the script of a page for a visitor."""
    return get_script_run_ctx(suppress_warning=True) is not None


def is_step_back() -> bool:
    """Whether this run of a page follows a step through the browser's history, Back or Forward."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation


def is_from_own_fragment() -> bool:
    """In a widget's callback: whether the browser's message came from the fragment of that widget.

    A message contains the values of all widgets of a page, so a callback may run for a change elsewhere.
    """
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.fragment_ids_this_run == [ThreadState.get().fragment_id]


def claims_of(cookies: Mapping[str, str], origin: str) -> dict[str, Any]:
    """The claims about the user in the login's signed cookie; {} without a cookie or if its signature is not valid."""
    signed = starlette_websocket._get_signed_cookie_with_chunks(dict(cookies), USER_COOKIE_NAME)
    return dict(starlette_websocket._parse_decoded_user_cookie(signed, origin)) if signed else {}


def asked_for(message: BackMsg) -> str | None:
    """The kind of a browser's request; for an operation outside a run of the script, the name of the operation."""
    kind: str | None = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return message.backend_operation_request.WhichOneof("payload")
    return kind
