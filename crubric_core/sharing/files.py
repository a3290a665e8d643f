"""The files that readers of a view may download, if downloads are allowed."""

from __future__ import annotations

from ..analysis.columns import ABILITY, SCORE, rests_on_scores
from ..files import csv_bytes, json_bytes
from .budget import for_files
from .view import SharedView

DIGITS = 4
"""Decimals in readers' CSV files; view.json has unrounded numbers."""


def leaderboard_csv(view: SharedView) -> bytes:
    """The leaderboard as CSV, safe for spreadsheets; b"" if the view has none.

    Of abilities and scores, only the measure that ranks the systems has its interval in the file.
    """
    if view.leaderboard is None:
        return b""
    unknown = ABILITY[1:] if rests_on_scores(view.leaderboard) else SCORE[1:]
    return csv_bytes(view.leaderboard.drop(columns=[*unknown], errors="ignore").round(DIGITS))


def rubrics_csv(view: SharedView) -> bytes:
    """The rubrics of the bank as CSV, safe for spreadsheets; b"" if the view has none."""
    return b"" if view.rubrics is None else csv_bytes(view.rubrics.round(DIGITS))


def view_json(view: SharedView) -> bytes:
    """All that the view shows, as JSON; without the matrix of all pairs if there are many systems (``for_files``)."""
    return json_bytes(for_files(view).as_dict())


FILES = {"leaderboard.csv": leaderboard_csv, "bank.csv": rubrics_csv, "view.json": view_json}


def file_names(view: SharedView) -> tuple[str, ...]:
    """The names of the files that readers are offered; () if downloads are not allowed."""
    there = {
        "leaderboard.csv": view.leaderboard is not None,
        "bank.csv": view.rubrics is not None,
        "view.json": True,
    }
    return tuple(name for name, given in there.items() if given and view.downloads)


def view_file(view: SharedView, name: str) -> bytes:
    """The content of one of the FILES."""
    return FILES[name](view)


def view_files(view: SharedView) -> dict[str, bytes]:
    """Name → content of every file that readers are offered; {} if downloads are not allowed."""
    return {name: view_file(view, name) for name in file_names(view)}
