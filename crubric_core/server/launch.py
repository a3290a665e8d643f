"""Start Streamlit's server in this process, on the app of this package."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence

from ..access import Role
from ..environment import APP
from ..errors import SettingsError
from .streamlit_internals import streamlit_command

# A reader sends a few bytes and is sent one page.
_OPTIONS: dict[Role, tuple[str, ...]] = {
    "editor": (),
    "viewer": ("--server.maxUploadSize", "1", "--server.maxMessageSize", "16"),
}


def serve(role: Role, port: int, options: Sequence[str] = ()) -> None:
    """Serve until the process is stopped. options: further ones of ``streamlit run``; they go before ours.

    Raises SettingsError where the port is taken.
    """
    if _answers(port):
        raise SettingsError(
            f"Port {port} is taken: stop what runs there, or choose another one with --port (`make` has PORT=)."
        )
    os.environ["CRUBRIC_ROLE"] = role
    fixed = ("--server.headless", "true", "--server.port", str(port), *_OPTIONS[role])
    streamlit_command("run", str(APP / "app.py"), *fixed, *options)


def _answers(port: int) -> bool:
    """Whether something on this machine listens there already."""
    try:
        with socket.create_connection(("localhost", port), timeout=1):
            return True
    except OSError:
        return False
