"""Which rubrics do judges apply alike?"""

import streamlit as st

from crubric_core.judges.measurability import gate_is_off
from crubric_core.ui import tables, widgets
from crubric_core.ui.measurability import gate as gate_section
from crubric_core.ui.measurability import sections as judges_sections
from crubric_core.ui.measurability.opened import show_rubric
from crubric_core.ui.page import open_study
from crubric_core.ui.search import search_rubrics

study = open_study("Measurability")
reduction, gate = study.reduction(), study.measurability()
gate_section.answer(study)

views = ("Rubrics", *judges_sections.SECTIONS)
view = st.segmented_control("View", views, default=views[0], required=True, key="view", bind="query-params")
if view in judges_sections.SECTIONS:
    judges_sections.show(view, study, off=gate_is_off(reduction))
    st.stop()

clicked = gate_section.show(study)

left, right = st.columns([3, 2], gap="large")
with left:
    which = st.segmented_control(
        "Rubrics", tables.KEPT, default="all", required=True, key="which", bind="query-params"
    )
    found = clicked & search_rubrics(reduction.rubrics)
    statistic = study.gating().statistic
    shown = tables.measurability(gate, reduction, which, statistic)
    shown = shown[found[shown.index]]
    row = widgets.pick_one(
        shown, tables.measurability_columns(statistic), key="measurability rubric", rows=12
    )
    widgets.download("Download measurability.csv", gate, "measurability.csv")
with right:
    if row is None:
        st.write("Choose a rubric to see its labels.")
        st.stop()
    show_rubric(study, row)
