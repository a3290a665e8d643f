"""How is each query scored?"""

import streamlit as st

from crubric_core.ui.page import open_study
from crubric_core.ui.task_types import types as task_type_views
from crubric_core.ui.task_types.sections import SECTIONS, show_message
from crubric_core.ui.text import count

study = open_study("Task types", show_tau_t=True)
table = task_type_views.typed(study)
below, unclassified = ((table["status"] == status).sum() for status in ("below τ_t", "no type"))
by_type = len(table) - below - unclassified

if unclassified == len(table):
    study.answer(f"None of {count(len(table), 'query', 'queries')} has a type: all are scored pass or fail.")
else:
    study.answer(
        f"{by_type:,} of {count(len(table), 'query', 'queries')} are scored by the rules of their type;",
        f"{below:,} stay below τ_t = {study.settings.tau_t:.2f} and {unclassified:,} have no type: pass or fail.",
    )
show_message()

view = st.segmented_control(
    "View", tuple(SECTIONS), default=next(iter(SECTIONS)), required=True, key="view", bind="query-params"
)
SECTIONS[view](study, table)
