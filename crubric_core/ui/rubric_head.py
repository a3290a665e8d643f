"""The head of an opened rubric: its name, text, query and scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from .text import plain, shorten

if TYPE_CHECKING:
    import pandas as pd

LONGEST = 600  # characters of a text that are shown


def show(rubric: pd.Series[Any], more: str = "", *, ordered: bool = False) -> None:
    """Show the head of a rubric. rubric: a row of a reduction's rubrics. more: text after the sentence on its scale.

    ordered: whether the model reads its levels.
    """
    st.markdown(f"**{plain(shorten(rubric['rubric']))}**")
    if isinstance(rubric["text"], str) and rubric["text"]:
        st.text(shorten(rubric["text"], LONGEST))
    st.caption(plain(f"Query {shorten(rubric['query'])}. {scale_sentence(rubric, ordered=ordered)}{more}"))


def scale_sentence(rubric: pd.Series[Any], *, ordered: bool) -> str:
    """A sentence on the labels that the rubric can have, and on which of them count as met unless ``ordered``."""
    low, high, mark = (float(str(rubric[name])) for name in ("scale_min", "scale_max", "pass_mark"))
    bad = " Meeting it is bad: labels are shown reversed, as they count." if rubric["polarity"] == -1 else ""
    if rubric["levels"] == 2:
        return f"Met or not.{bad}"
    met = "" if ordered else f"; {mark:g} and above counts as met"
    return f"Labels from {low:g} to {high:g}{met}.{bad}"
