"""Start Streamlit's server in this process, on the app of this package."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..access import Role
from ..environment import APP
from .streamlit_internals import streamlit_command

# A reader sends a few bytes and is sent one page.
_OPTIONS: dict[Role, tuple[str, ...]] = {
    "editor": (),
    "viewer": ("--server.maxUploadSize", "1", "--server.maxMessageSize", "16"),
}


def serve(role: Role, port: int, options: Sequence[str] = ()) -> None:
    """Serve until the process is stopped. options: further ones of ``streamlit run``; they go before ours."""
    os.environ["CRUBRIC_ROLE"] = role
    fixed = ("--server.headless", "true", "--server.port", str(port), *_OPTIONS[role])
    streamlit_command("run", str(APP / "app.py"), *fixed, *options)
