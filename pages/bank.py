"""How few rubrics are enough?"""

from functools import partial

import streamlit as st

from crubric_core.analysis.composition import composition_notes
from crubric_core.analysis.tables import bank_table
from crubric_core.analysis.warnings import fit_warnings
from crubric_core.errors import CrubricError
from crubric_core.ui import widgets
from crubric_core.ui.bank import composing, sections
from crubric_core.ui.bank_file import download_bank, download_form
from crubric_core.ui.nothing_passes import nothing_passes
from crubric_core.ui.page import open_study
from crubric_core.ui.search import search_rubrics

study = open_study("Bank")
if nothing_passes(study):
    st.stop()
try:
    study.order()
except CrubricError as error:
    if study.settings.composition is None:
        raise
    composing.refused(study, error)
    st.stop()
held_out = st.container()  # filled last: all else is on the page before the systems are placed one by one
sections.price(study)

st.markdown("**The bank**")
composing.working_table(study, search_rubrics(study.reduction().rubrics))
widgets.notes(composition_notes(study.settings, study.constraints(), study.order(), study.feasible))
widgets.lazy_tabs({name: partial(part, study) for name, part in composing.PARTS.items()}, "compose")
parts_of_table = study.reduction(), study.calibration(), study.order(), study.settings
with st.container(horizontal=True, vertical_alignment="bottom"):
    widgets.download("Download bank.csv", partial(bank_table, *parts_of_table), "bank.csv")
    download_bank(study)
    download_form(study)
parts = {name: partial(section, study) for name, section in sections.SECTIONS.items()}
widgets.lazy_tabs(parts, key="part")
with held_out:
    worth = study.worth()
    sections.answer(study, worth)
    widgets.notes(fit_warnings(study.calibration(), study.feasible, study.settings))
    if worth is not None:
        sections.worth_chart(study, worth)
