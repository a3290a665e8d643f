"""Parts of a page that a slider redraws alone: the rest is neither run nor sent to the browser again.

A page declares which settings each of its parts reads (``part``); the slider's callback redraws these parts
(``redraw``). If more than these parts may change, the whole page runs, as after any other widget.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from ..errors import CrubricError
from ..server.streamlit_internals import PlaceNotDrawnError
from .errors import boundary

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

R = TypeVar("R")
_READ = "settings that parts read"  # name of a part → settings
_FIRST = "parts drawn first"
_SLOW = "settings after which parts take long"  # name of a part → settings
_PAGE = "page"
_WHOLE = "page drawn to its end"
_OLD = "parts not drawn since"  # parts to be redrawn that have not finished: a later move may stop them


def begin_page(name: str) -> None:
    """Call it before a page runs as a whole: it forgets the parts of the page before."""
    st.session_state[_PAGE] = name
    st.session_state[_READ], st.session_state[_OLD], st.session_state[_WHOLE] = {}, [], False
    st.session_state[_FIRST], st.session_state[_SLOW] = set(), {}


def end_page() -> None:
    """Call it after the page has run to its end: until then a move of a slider redraws the whole page."""
    st.session_state[_WHOLE] = True


def current_page() -> str:
    """The name of the page that began last."""
    return str(st.session_state.get(_PAGE, ""))


def part(
    name: str,
    show: Callable[[], R],
    reads: Collection[str],
    *,
    first: bool = False,
    slow: Collection[str] = (),
) -> R | None:
    """Draw a part of the page and return the result of ``show``; None if it raises an error, which is shown.

    reads: settings after whose move the part is redrawn alone. name: unique on its page. first: whether it is redrawn
    before the others. slow: settings after whose move it takes longer than the others and is redrawn last. A widget
    inside reruns only the part, unless its callback calls ``st.rerun``.
    """

    @st.fragment(key=name)
    def run() -> R | None:
        found = None
        with boundary():
            try:
                found = show()
            except CrubricError:
                if st.session_state[_WHOLE]:
                    st.rerun()  # the page says what is wrong, and what helps
                raise
            except PlaceNotDrawnError:
                st.rerun()  # the run of the page that would have made a place outside the part was stopped before
        old = st.session_state[_OLD]
        st.session_state[_OLD] = [other for other in old if other != name]
        return found

    st.session_state[_READ][name] = frozenset(reads)
    st.session_state[_SLOW][name] = frozenset(slow)
    if first:
        st.session_state[_FIRST].add(name)
    found: R | None = run()
    return found


@contextmanager
def standing_at(name: str, value: object, *made: Any) -> Iterator[None]:
    """Make the widget with key ``name``, which is created in this context, show ``value``.

    A widget that already shows the value is not set again, because it would lose what the user types or moves
    meanwhile. On another page, or with other parameters ``made``, it counts as a new widget.
    """
    session, known, new = st.session_state, f"{name} made", (current_page(), *made)
    if session.get(known) != new or name not in session or session[name] != value:
        session[known] = None  # set again if a move stops the run before the widget is made
        session[name] = value
    yield
    session[known] = new


def redraw(setting: str, *beside: str) -> None:
    """Redraw the parts that read this setting, or the whole page if there are none; call it last in a callback.

    beside: names of further parts to redraw, such as those of the settings themselves. Parts of an earlier redrawing
    that this move stopped are redrawn too.
    """
    parts: dict[str, frozenset[str]] = st.session_state.get(_READ, {})
    old = {name for name, read in parts.items() if setting in read}
    if not old or not st.session_state.get(_WHOLE):
        st.rerun()
    old.update(beside, st.session_state[_OLD])
    # Last first: charts before tables, which take the browser longer, and the settings' own part at the end.
    first, slow, place = st.session_state[_FIRST], st.session_state[_SLOW], list(parts).index
    st.session_state[_OLD] = sorted(
        old, key=lambda name: (setting not in slow[name], name in first, place(name)), reverse=True
    )
    st.rerun(st.session_state[_OLD])
