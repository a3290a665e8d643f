"""What readers may take along, where downloads are allowed."""

from __future__ import annotations

from ..analysis.columns import ABILITY, SCORE, rests_on_scores
from ..files import csv_bytes, json_bytes
from .budget import for_files
from .view import SharedView

DIGITS = 4
"""Decimals in readers' CSV files; view.json has the numbers as they are."""


def leaderboard_csv(view: SharedView) -> bytes:
    """The leaderboard as CSV, safe for spreadsheets, with the intervals of what ranks; empty where there is none."""
    if view.leaderboard is None:
        return b""
    unknown = ABILITY[1:] if rests_on_scores(view.leaderboard) else SCORE[1:]
    return csv_bytes(view.leaderboard.drop(columns=[*unknown], errors="ignore").round(DIGITS))


def rubrics_csv(view: SharedView) -> bytes:
    """The rubrics of the bank as CSV, safe for spreadsheets; empty where the view has none."""
    return b"" if view.rubrics is None else csv_bytes(view.rubrics.round(DIGITS))


def view_json(view: SharedView) -> bytes:
    """All that the view shows, as JSON; without the matrix of all pairs where the systems are many."""
    return json_bytes(for_files(view).as_dict())


FILES = {"leaderboard.csv": leaderboard_csv, "bank.csv": rubrics_csv, "view.json": view_json}


def file_names(view: SharedView) -> tuple[str, ...]:
    """The files that readers are offered; none where downloads are not allowed."""
    there = {
        "leaderboard.csv": view.leaderboard is not None,
        "bank.csv": view.rubrics is not None,
        "view.json": True,
    }
    return tuple(name for name, given in there.items() if given and view.downloads)


def view_file(view: SharedView, name: str) -> bytes:
    """The content of one of them."""
    return FILES[name](view)


def view_files(view: SharedView) -> dict[str, bytes]:
    """Name → content of every file that readers are offered; none where downloads are not allowed."""
    return {name: view_file(view, name) for name in file_names(view)}
