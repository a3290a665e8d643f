"""The search boxes for rubrics (Measurability, Items, Bank) and for systems; the page's address holds the words.

Streamlit's own binding to the address would overwrite the step before in the browser's history, so that Back would
undo both steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from ..analysis.search import find_rubrics
from . import state
from .parts import standing_at

if TYPE_CHECKING:
    import pandas as pd

    from ..types import BoolArray


def search_rubrics(rubrics: pd.DataFrame) -> BoolArray:
    """Show the search box; (J,) which rubrics match its words, all if it is empty."""
    words = search_box(
        "Find rubrics",
        state.SEARCH,
        placeholder="name, text, query, tag, dimension or severity",
    )
    found = find_rubrics(rubrics, words)
    if words and not found.any():
        st.caption("No rubric contains all of these words.")
    return found


def search_box(label: str, name: str, **look: Any) -> str:
    """Show a search box and return its words. name: parameter of the address. look: options of st.text_input."""
    with standing_at(name, state.held_words(name)):
        return st.text_input(label, key=name, on_change=_searched, args=(name,), **look) or ""


def _searched(name: str) -> None:
    state.hold_words(name, st.session_state[name] or "")
