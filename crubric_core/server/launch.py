"""Start Streamlit's server in this process with the app of this package."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence

from ..access import Role
from ..environment import APP
from ..errors import SettingsError
from .streamlit_internals import streamlit_command

# A reader sends a few bytes and receives one page.
_OPTIONS: dict[Role, tuple[str, ...]] = {
    "editor": (),
    "viewer": ("--server.maxUploadSize", "1", "--server.maxMessageSize", "16"),
}


def serve(role: Role, port: int, options: Sequence[str] = ()) -> None:
    """Serve the dashboard (editor) or the viewer until the process is stopped.

    options: further options of ``streamlit run``, which override the ones set here. Raises SettingsError if the port
    is taken.
    """
    if _answers(port):
        raise SettingsError(
            f"Port {port} is taken: stop what runs there, or choose another one with --port (`make` has PORT=)."
        )
    os.environ["CRUBRIC_ROLE"] = role
    fixed = ("--server.headless", "true", "--server.port", str(port), *_OPTIONS[role])
    streamlit_command("run", str(APP / "app.py"), *fixed, *options)


def _answers(port: int) -> bool:
    """Whether a program on this machine already listens on the port."""
    try:
        with socket.create_connection(("localhost", port), timeout=1):
            return True
    except OSError:
        return False
