"""One search box for the rubrics of Measurability, Items and Bank; what is searched stands in the address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from ..analysis.search import find_rubrics

if TYPE_CHECKING:
    import pandas as pd

    from ..types import BoolArray


def search_rubrics(rubrics: pd.DataFrame) -> BoolArray:
    """The box, and (J,) which rubrics it finds; all while it is empty."""
    words = st.text_input(
        "Find rubrics",
        key="search",
        bind="query-params",
        placeholder="name, text, query, tag, dimension or severity",
    )
    found = find_rubrics(rubrics, words or "")
    if words and not found.any():
        st.caption("No rubric contains all of these words.")
    return found
