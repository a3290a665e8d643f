"""The folder of published views and the form of their links; independent of the workspace."""

from __future__ import annotations

import os

from ..environment import views_folder

__all__ = ["view_link", "viewer_base", "views_folder"]

DEFAULT = "http://localhost:8502"


def viewer_base() -> str:
    """The address of the server of shared views: CRUBRIC_VIEWER_URL, or its default on this machine."""
    return (os.environ.get("CRUBRIC_VIEWER_URL") or DEFAULT).rstrip("/")


def view_link(token: str) -> str:
    """The address that opens a view."""
    return f"{viewer_base()}/?view={token}"
