"""The reader's side: a token opens its view, or None without a reason. No function here writes to the folder."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import duckdb

from .content import read_content, sha256_of
from .state import Standing, ViewState, load_state
from .tokens import id_of, is_token, same, token_hash
from .view import SharedView

T = TypeVar("T")


def open_view(views: str | Path, token: object, now: datetime | None = None) -> SharedView | None:
    """The view of a link; None alike for a wrong, expired or revoked token and for a damaged or altered view."""
    state = open_state(views, token, now)
    found = state and read_newest(
        state, lambda: open_state(views, token, now), lambda newest: read_state(views, newest)
    )
    return found[1] if found else None


def read_newest(
    state: ViewState, look: Callable[[], ViewState | None], read: Callable[[ViewState], T | None]
) -> tuple[ViewState, T] | None:
    """(state, ``read(state)``) for the newest state of a view; None if its link was closed or its file is damaged.

    read: returns None if the content file of a state cannot be read. The file of a view that was replaced after its
    state was read no longer exists; the state is then read again with ``look``.
    """
    while (found := read(state)) is None:
        newest = look()
        if newest is None or newest.version == state.version:
            return None
        state = newest
    return state, found


def open_state(views: str | Path, token: object, now: datetime | None = None) -> ViewState | None:
    """The state of an open link; None if the token is wrong, or its link expired or revoked.

    It reads one small file, so it is cheap enough for every run of a page. (id, version, sha256) of the state is the
    key under which a caller may cache the content.
    """
    if not is_token(token):
        return None
    hashed = token_hash(str(token))
    state = load_state(Path(views), id_of(hashed))
    if state is None or not same(state.token_sha256, hashed) or state.standing(now) != "open":
        return None
    return state


def read_state(views: str | Path, state: ViewState) -> SharedView | None:
    """The content of a view; None unless its file is, byte for byte, the one that was published."""
    try:
        return read_content(state.content(Path(views))) if is_whole(views, state) else None
    except (OSError, duckdb.Error, ValueError, KeyError, TypeError, RecursionError):
        return None


def is_whole(views: str | Path, state: ViewState) -> bool:
    """Whether the content file exists and is, byte for byte, the one that was published."""
    found = sha256_of(state.content(Path(views)))
    return bool(found) and same(found, state.sha256)


def standing_of(views: str | Path, state: ViewState) -> Standing:
    """Status of a link for its publisher: open, expired, revoked, or damaged (not shown to readers)."""
    standing = state.standing()
    return "damaged" if standing == "open" and not is_whole(views, state) else standing
