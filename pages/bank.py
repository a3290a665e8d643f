"""How few rubrics are enough?"""

from functools import partial

import streamlit as st

from crubric_core.analysis.tables import bank_table
from crubric_core.analysis.warnings import fit_warnings
from crubric_core.ui import tables, widgets
from crubric_core.ui.bank import sections
from crubric_core.ui.bank_file import download_bank
from crubric_core.ui.page import open_study
from crubric_core.ui.search import search_rubrics

study = open_study("Bank")
worth = study.worth()
sections.answer(study, worth)
widgets.notes(fit_warnings(study.calibration(), study.feasible, study.settings))
if worth is not None:
    sections.worth_chart(study, worth)
sections.price(study)

st.markdown("**The bank**")
table = bank_table(study.queries(), study.reduction(), study.calibration(), study.order(), study.settings)
found = search_rubrics(study.reduction().rubrics)[study.bank()]
widgets.table(table[found], tables.BANK, height=340)
left, right = st.columns([1, 3])
with left:
    widgets.download("Download bank.csv", table, "bank.csv")
with right:
    download_bank(study)
parts = {name: partial(section, study) for name, section in sections.SECTIONS.items()}
widgets.lazy_tabs(parts, key="part")
