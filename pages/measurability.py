"""Which rubrics do judges apply alike?"""

from functools import partial

import streamlit as st

from crubric_core.judges.gate import gate_is_off
from crubric_core.ui import table_widgets, tables, widgets
from crubric_core.ui.measurability import gate as gate_section
from crubric_core.ui.measurability import sections as judges_sections
from crubric_core.ui.measurability.opened import table_and_rubric
from crubric_core.ui.page import StudyPage, open_study
from crubric_core.ui.parts import part
from crubric_core.ui.search import search_rubrics

study = open_study("Measurability")
views = ("Rubrics", *judges_sections.SECTIONS)
view = widgets.choose_one("View", views, "view")
if view in judges_sections.SECTIONS:
    gate_section.answer(study)
    judges_sections.show(view, study, off=gate_is_off(study.reduction()))
    st.stop()

reads = ("tau_c",)


def rubrics() -> None:
    """The table of rubrics, and the one that is chosen."""
    now = study.now()
    table_and_rubric(now, partial(table, now), "Choose a rubric to see its labels.")


def table(now: StudyPage) -> int | None:
    """The rubrics that are asked for; the position of the chosen one."""
    reduction, gate, statistic = now.reduction(), now.measurability(), now.gating().statistic
    every = tables.measurability(gate, reduction, tables.ALL, statistic)
    kept = (tables.ALL,) if gate_is_off(reduction) else tables.KEPT
    which = widgets.choose_one("Rubrics", kept, "which")
    found = gate_section.of_the_bar(now.gating()) & search_rubrics(reduction.rubrics)
    shown = tables.measurability(gate, reduction, which, statistic)
    shown = shown[found[shown.index]]
    columns = tables.measurability_columns(statistic)
    row = table_widgets.pick_one(
        shown, columns, key="measurability rubric", rows=12, others=table_widgets.SEARCHED, every=every
    )
    table_widgets.download(
        tables.file_of_all("measurability.csv", shown, gate), gate, "measurability.csv", columns
    )
    return row


def gate() -> None:
    """How many rubrics pass, by their statistic, and what that costs."""
    now = study.now()
    gate_section.answer(now)
    gate_section.show(now)


part("gate", gate, reads, first=True)
part("rubrics", rubrics, reads)  # of the bar in which a range is dragged
