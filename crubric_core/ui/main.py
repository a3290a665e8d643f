"""The script behind every page: configuration, navigation, error boundary (see app.py)."""

# ruff: noqa: E402 - no module is loaded here while the server's thread still loads them
from pathlib import Path

import streamlit as st

from crubric_core.ui.loading import wait_for_modules

wait_for_modules()
from crubric_core.access import current_role
from crubric_core.server.sign_in import ask_to_sign_in, offer_to_sign_out
from crubric_core.ui.errors import boundary
from crubric_core.ui.loaders import PAGES
from crubric_core.ui.parts import begin_page, end_page
from crubric_core.ui.tour import offer_own_data

ICON = Path(__file__).with_name("icon.svg")
TITLES = (
    "Overview",
    "Data",
    "Task types",
    "Measurability",
    "Items",
    "Bank",
    "Leaderboard",
    "New system",
    "Scenarios",
    "Experiments",
    "Publish",
)
EDITORS_ONLY = {"Data", "Publish"}

st.set_page_config(page_icon=ICON, layout="wide", initial_sidebar_state=240)
st.logo(ICON, size="large")
for name in ("focus.css", "narrow.css"):
    st.html(Path(__file__).with_name(name))
if st.context.theme.type == "dark":
    st.html(Path(__file__).with_name("dark.css"))
role = current_role()
if role is None:
    ask_to_sign_in()
# One flat list: Streamlit's sections break the list for screen readers.
FILES = {title: PAGES / f"{title.lower().replace(' ', '_')}.py" for title in TITLES}
# The first page's own address is "/"; its hidden twin sends "/overview" there, which would be "Page not found".
first = st.Page(FILES[TITLES[0]], title=TITLES[0], url_path="start", default=True)
twin = st.Page(FILES[TITLES[0]], title=TITLES[0], url_path="overview", visibility="hidden")
others = [
    st.Page(FILES[title], title=title)
    for title in TITLES[1:]
    if role == "editor" or title not in EDITORS_ONLY
]
navigation = st.navigation([first, *others, twin])
if navigation == twin:
    asked = st.query_params
    st.switch_page(first, query_params=[(key, value) for key in asked for value in asked.get_all(key)])
st.set_page_config(page_title=f"{navigation.title} · Calibrated Rubric")
if role == "editor":
    offer_own_data()
offer_to_sign_out()
begin_page(navigation.url_path)
with boundary():
    navigation.run()
    end_page()
