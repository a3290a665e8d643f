"""Which rubrics separate systems, and where?"""

import streamlit as st

from crubric_core.ui import loaders, state
from crubric_core.ui.items import model_check, sections
from crubric_core.ui.nothing_passes import nothing_passes
from crubric_core.ui.page import open_study

study = open_study("Items")
if nothing_passes(study):
    st.stop()
items = loaders.items_table(study)
sections.answer(study)

views = {"Rubrics": sections.rubrics, **model_check.SECTIONS}
default = next(iter(views))
state.check_choices("view", views)
views[
    st.segmented_control("View", views, default=default, required=True, key="view", bind="query-params")
    or default
](study, items)
