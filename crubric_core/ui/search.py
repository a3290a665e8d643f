"""The search boxes, for rubrics on Measurability, Items and Bank, and for systems; what is searched is in the address.

Streamlit's own binding would write it over the step before, so that Back undid both.
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
    """The box, and (J,) which rubrics it finds; all while it is empty."""
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
    """A box for the words of a search, and the words."""
    with standing_at(name, state.held_words(name)):
        return st.text_input(label, key=name, on_change=_searched, args=(name,), **look) or ""


def _searched(name: str) -> None:
    state.hold_words(name, st.session_state[name] or "")
