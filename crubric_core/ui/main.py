"""The script behind every page: configuration, navigation, error boundary (see app.py)."""

from pathlib import Path

import streamlit as st

from crubric_core.ui.errors import boundary
from crubric_core.ui.loaders import PAGES

ICON = Path(__file__).with_name("icon.svg")
TITLES = ("Overview", "Data", "Task types", "Measurability", "Items", "Bank", "Leaderboard", "Experiments")

st.set_page_config(page_icon=ICON, layout="wide", initial_sidebar_state=240)
st.logo(ICON, size="large")
# One flat list: Streamlit's sections break the list for screen readers.
navigation = st.navigation(
    [
        st.Page(PAGES / f"{title.lower().replace(' ', '_')}.py", title=title, default=title == TITLES[0])
        for title in TITLES
    ]
)
st.set_page_config(page_title=f"{navigation.title} · Calibrated Rubric")
with boundary():
    navigation.run()
