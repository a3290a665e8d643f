"""The dashboard: ``crubric app`` (or ``make app``). Shared views alone: ``crubric viewer`` (or ``make viewer``).

The script that Streamlit runs is in ``crubric_core/ui/``. It is not this file, because with a ``pages/``
folder beside the script a first visit to a page runs that page alone, past all that the script guards.
"""

import sys

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route

from crubric_core.access import process_role
from crubric_core.environment import PACKAGE, use_one_thread
from crubric_core.errors import CrubricError
from crubric_core.server.entrance import entrance
from crubric_core.server.half_open import close_half_open
from crubric_core.server.logs import end_in_silence
from crubric_core.server.middleware import RequestFilter, dashboard, healthz, viewer
from crubric_core.server.sign_in import guard
from crubric_core.ui.errors import report
from crubric_core.ui.loading import load_ahead, load_views_ahead

end_in_silence()
use_one_thread()
close_half_open()
try:
    role = process_role()
    people = None if role == "viewer" else guard()
    rules = viewer() if role == "viewer" else dashboard(people, None if people else entrance())
except CrubricError as error:
    sys.exit(f"Not started. {error}")

SCRIPTS = {"editor": PACKAGE / "ui" / "main.py", "viewer": PACKAGE / "ui" / "viewer_main.py"}
app = st.App(
    SCRIPTS[role],
    lifespan=load_ahead if role == "editor" else load_views_ahead,
    routes=[Route("/healthz", healthz)],
    middleware=[Middleware(RequestFilter, rules=rules)],
    on_script_error=report,
)
