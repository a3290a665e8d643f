"""The dashboard: ``streamlit run app.py`` (or ``make app``).

The script that Streamlit runs is ``crubric_core/ui/main.py``. It is not this file, because with a ``pages/``
folder beside the script a first visit to a page runs that page alone, past all that the script guards.
"""

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route

from crubric_core.ui.errors import report
from crubric_core.ui.security import SecurityHeaders, healthz

app = st.App(
    "crubric_core/ui/main.py",
    routes=[Route("/healthz", healthz)],
    middleware=[Middleware(SecurityHeaders)],
    on_script_error=report,
)
