"""Open the view of a link: it is looked up at every run, and every few seconds while it is shown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import streamlit as st

from ...server.rate_limit import Guesses
from ...server.views_folder import views_folder
from ...sharing import ViewState, open_state, read_newest, read_state
from .content import ViewFigure, figures_of, render

if TYPE_CHECKING:
    from ...sharing import SharedView

PARAMETER = "view"
LOOK = 2.0  # seconds between two checks whether the link of a shown view is still open
WAIT = 3.0  # seconds between two tries of a link that the rate limit refused
SHOWN = "a view was shown"
KEPT = 32  # views kept in memory
GUESSES = Guesses()


class DamagedError(Exception):
    """A view's file is not the one that was published."""


def show_link() -> None:
    """Show the view of the token in the page's address, or the page that says that the link opens nothing."""
    token = st.query_params.get(PARAMETER, "")
    state = _looked_up(token)
    found = read_newest(state, lambda: open_state(views_folder(), token), _content_of) if state else None
    if found is None:
        if st.session_state.pop(SHOWN, False):
            st.rerun()  # Streamlit drops the files of downloads at the second run that does not offer them
        closed()
        return
    state, (view, figures) = found
    st.session_state[SHOWN] = True
    st.set_page_config(page_title=" ".join(view.title.split()) or "Shared view")
    watch(token, state.version)
    render(view, figures, state.expires_at)


def closed() -> None:
    """Show the same page for a wrong, an expired, a revoked and a missing link."""
    st.title("This link opens nothing", anchor=False)
    st.write("It may be incomplete, or no longer open. Ask the person who sent it to you.")


@st.fragment(run_every=LOOK)
def watch(token: str, version: int) -> None:
    """Rerun the page, every LOOK seconds, if its link was closed or has a newer version."""
    state = open_state(views_folder(), token)
    if state is None or state.version != version:
        st.rerun()


@st.fragment(run_every=WAIT)
def _try_again(token: str) -> None:
    if GUESSES.allows(token, _client()):
        st.rerun()


def _looked_up(token: str) -> ViewState | None:
    if not token:
        return None
    client = _client()
    if not GUESSES.allows(token, client):
        _try_again(token)
        return None
    state = open_state(views_folder(), token)
    if state is None:
        GUESSES.wrong(client)
    else:
        GUESSES.right(token)
    return state


def _content_of(state: ViewState) -> tuple[SharedView, list[ViewFigure]] | None:
    try:
        return _content(state.id, state.version, state.sha256, state)
    except DamagedError:
        return None


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _content(
    view_id: str, version: int, sha256: str, _state: ViewState
) -> tuple[SharedView, list[ViewFigure]]:
    """A view's content and its figures, cached by id, version and hash of its file; DamagedError if it is damaged."""
    view = read_state(views_folder(), _state)
    if view is None:
        raise DamagedError
    return view, figures_of(view)


def _client() -> str:
    """The client's address for the rate limit; several readers may share one.

    uvicorn trusts a proxy on this machine by default; here a proxy is trusted only if FORWARDED_ALLOW_IPS is set.
    """
    if "X-Forwarded-For" in st.context.headers and "FORWARDED_ALLOW_IPS" not in os.environ:
        return "a proxy that is not trusted"
    return st.context.ip_address or "this machine"
