"""Where published views are kept, and what their links look like; knows nothing of the workspace."""

from __future__ import annotations

import os

from ..environment import views_folder

__all__ = ["view_link", "views_folder"]


def view_link(token: str) -> str:
    """The address that opens a view; CRUBRIC_VIEWER_URL names the server of shared views."""
    base = os.environ.get("CRUBRIC_VIEWER_URL") or "http://localhost:8502"
    return f"{base.rstrip('/')}/?view={token}"
