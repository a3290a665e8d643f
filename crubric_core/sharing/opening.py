"""The reader's side: a token opens its view, or nothing. Nothing here says why, and nothing here writes."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import duckdb

from .content import read_content, sha256_of
from .state import Standing, ViewState, load_state
from .tokens import id_of, is_token, same, token_hash
from .view import SharedView


def open_view(views: str | Path, token: object, now: datetime | None = None) -> SharedView | None:
    """What the link shows; None alike for a wrong, expired or revoked token and a damaged or altered view."""
    looked_at = None
    while (state := open_state(views, token, now)) and state.version != looked_at:
        view = read_state(views, state)
        if view is not None:
            return view
        looked_at = state.version  # it may have been replaced in between: look again
    return None


def open_state(views: str | Path, token: object, now: datetime | None = None) -> ViewState | None:
    """The state of an open link, None otherwise: one small file is read, for a wrong token none.

    Cheap enough to ask at every run of a page: (id, version, sha256) is the key under which its content may be kept.
    """
    if not is_token(token):
        return None
    hashed = token_hash(str(token))
    state = load_state(Path(views), id_of(hashed))
    if state is None or not same(state.token_sha256, hashed) or state.standing(now) != "open":
        return None
    return state


def read_state(views: str | Path, state: ViewState) -> SharedView | None:
    """What a view holds; None unless its file is, byte for byte, the one that was published."""
    try:
        return read_content(state.content(Path(views))) if is_whole(views, state) else None
    except (OSError, duckdb.Error, ValueError, KeyError, TypeError, RecursionError):
        return None


def is_whole(views: str | Path, state: ViewState) -> bool:
    """Whether the content file is there and is, byte for byte, the one that was published."""
    found = sha256_of(state.content(Path(views)))
    return bool(found) and same(found, state.sha256)


def standing_of(views: str | Path, state: ViewState) -> Standing:
    """State of a link for its publisher: open, expired, revoked, or damaged and so shown to nobody."""
    standing = state.standing()
    return "damaged" if standing == "open" and not is_whole(views, state) else standing
