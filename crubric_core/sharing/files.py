"""What readers may take along, where downloads are allowed."""

from __future__ import annotations

from ..exports import csv_bytes, json_bytes
from .view import SharedView


def leaderboard_csv(view: SharedView) -> bytes:
    """The leaderboard as CSV, safe for spreadsheets; empty where the view has none."""
    return b"" if view.leaderboard is None else csv_bytes(view.leaderboard)


def rubrics_csv(view: SharedView) -> bytes:
    """The rubrics of the bank as CSV, safe for spreadsheets; empty where the view has none."""
    return b"" if view.rubrics is None else csv_bytes(view.rubrics)


def view_json(view: SharedView) -> bytes:
    """All that the view shows, as JSON."""
    return json_bytes(view.as_dict())


def view_files(view: SharedView) -> dict[str, bytes]:
    """Name → content of every file that readers are offered; none where downloads are not allowed."""
    if not view.downloads:
        return {}
    tables = {"leaderboard.csv": leaderboard_csv(view), "bank.csv": rubrics_csv(view)}
    return {name: content for name, content in tables.items() if content} | {"view.json": view_json(view)}
