"""One search box for the rubrics of Measurability, Items and Bank; what is searched stands in the address of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from ..analysis.search import find_rubrics
from . import state

if TYPE_CHECKING:
    import pandas as pd

    from ..types import BoolArray


def search_rubrics(rubrics: pd.DataFrame) -> BoolArray:
    """The box, and (J,) which rubrics it finds; all while it is empty."""
    held, session = state.held_search(), st.session_state
    if session.get(state.SEARCH) != held:  # told without need, the box would lose what is being typed
        session[state.SEARCH] = held
    words = st.text_input(
        "Find rubrics",
        key=state.SEARCH,
        on_change=_searched,
        placeholder="name, text, query, tag, dimension or severity",
    )
    found = find_rubrics(rubrics, words or "")
    if words and not found.any():
        st.caption("No rubric contains all of these words.")
    return found


def _searched() -> None:
    state.hold_search(st.session_state[state.SEARCH] or "")
