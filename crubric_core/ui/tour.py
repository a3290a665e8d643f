"""A short tour for first-time users of the dashboard, and a link to the page for the user's own data."""

from __future__ import annotations

import streamlit as st

from . import loaders

DONE = "tour done"
STEPS = (
    ("leaderboard", "Who is ahead?", "A tier ends before the first system that is separated from its best."),
    (
        "leaderboard",
        "Why there?",
        "Click a system's mark: its rubrics and their labels, with answers and judges' reasons if the data have them.",
    ),
    ("measurability", "Tune the gate", "Drag on the histogram to move the threshold τ_c of agreement."),
    ("bank", "How few are enough?", "What a small bank is worth for a system that it has not seen."),
    ("publish", "Share it", "A read-only link for others."),
)


def show_tour(*, editor: bool) -> None:
    """Show the steps of the tour until the reader closes it, for the rest of the session. editor: with publishing."""
    if st.session_state.get(DONE):
        return
    with st.container(border=True, key="tour"):
        st.markdown(
            "**New here? The tour in five steps**" if editor else "**New here? The tour in four steps**"
        )
        for page, title, what in STEPS:
            if page != "publish" or editor:
                with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                    st.page_link(loaders.PAGES / f"{page}.py", label=title)
                    st.caption(what)
        st.button("Close the tour", on_click=_close, key="close tour")


def _close() -> None:
    st.session_state[DONE] = True


def offer_own_data() -> None:
    """Show a link in the side bar of every page to the Data page, where users upload their own data."""
    st.sidebar.page_link(loaders.PAGES / "data.py", label="Use my own data")
