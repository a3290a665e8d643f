"""The script behind every page: configuration, navigation, error boundary (see app.py)."""

from pathlib import Path

import streamlit as st

from crubric_core.ui.errors import boundary
from crubric_core.ui.loaders import PAGES

ICON = Path(__file__).with_name("icon.svg")

st.set_page_config(page_icon=ICON, layout="wide", initial_sidebar_state=240)

navigation = st.navigation(
    {
        "Study": [
            st.Page(PAGES / "overview.py", title="Overview", default=True),
            st.Page(PAGES / "data.py", title="Data"),
        ],
        "Analysis": [
            st.Page(PAGES / "measurability.py", title="Measurability"),
            st.Page(PAGES / "items.py", title="Items"),
            st.Page(PAGES / "bank.py", title="Bank"),
            st.Page(PAGES / "leaderboard.py", title="Leaderboard"),
        ],
    }
)
st.set_page_config(page_title=f"{navigation.title} · Calibrated Rubric")
with boundary():
    navigation.run()
