"""Which rubrics separate systems, and where?"""

import streamlit as st

from crubric_core.ui import loaders, widgets
from crubric_core.ui.items import model_check, sections
from crubric_core.ui.nothing_passes import nothing_passes
from crubric_core.ui.page import open_study

study = open_study("Items")
if nothing_passes(study):
    st.stop()
items = loaders.items_table(study)
sections.answer(study)

views = {"Rubrics": sections.rubrics, **model_check.SECTIONS}
views[widgets.choose_one("View", tuple(views), "view")](study, items)
