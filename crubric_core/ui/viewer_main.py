"""The only script of a viewer's process: it shows one shared view to a reader with its link (see app.py)."""

# ruff: noqa: E402 - no module is loaded here while the server's thread still loads them
from pathlib import Path

import streamlit as st

from crubric_core.ui.loading import wait_for_modules

wait_for_modules()
from crubric_core.ui.errors import boundary
from crubric_core.ui.shared_view.link import show_link

st.set_page_config(page_title="Shared view", page_icon=Path(__file__).with_name("icon.svg"), layout="wide")
st.html("<style>[data-testid='stMainBlockContainer'] { max-width: 72rem; margin-inline: auto; }</style>")
with boundary():
    show_link()
