"""Where published views are kept, and what their links look like; knows nothing of the workspace."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def views_folder() -> Path:
    """The folder of all views; CRUBRIC_VIEWS names another one."""
    return Path(os.environ.get("CRUBRIC_VIEWS") or ROOT / "data" / "views")


def view_link(token: str) -> str:
    """The address that opens a view; CRUBRIC_VIEWER_URL names the server of shared views."""
    base = os.environ.get("CRUBRIC_VIEWER_URL") or "http://localhost:8502"
    return f"{base.rstrip('/')}/?view={token}"
