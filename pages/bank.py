"""How few rubrics are enough?"""

from functools import partial

import streamlit as st

from crubric_core.analysis.composition import composition_notes
from crubric_core.analysis.tables import bank_table
from crubric_core.errors import CrubricError
from crubric_core.ui import table_widgets, tables, widgets
from crubric_core.ui.bank import composing, sections
from crubric_core.ui.bank_file import download_bank, download_form
from crubric_core.ui.nothing_passes import nothing_passes
from crubric_core.ui.page import open_study
from crubric_core.ui.parts import part
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
# Filled last: all else is on the page before the systems are placed one by one.
enough, worth = st.container(), st.container()
reads = ("tau_c", "budget")
tried = (*reads, "larger")
part("price", lambda: sections.price(study.now()), reads)


def bank() -> None:
    """The rubrics of the bank as a table to work on, and as files."""
    now = study.now()
    st.markdown("**The bank**")
    composing.working_table(now, search_rubrics(now.reduction().rubrics))
    widgets.notes(composition_notes(now.settings, now.constraints(), now.order(), now.feasible))
    widgets.lazy_tabs({name: partial(show, now) for name, show in composing.PARTS.items()}, "compose")
    of_table = now.reduction(), now.calibration(), now.order(), now.settings
    with st.container(horizontal=True, vertical_alignment="bottom"):
        table_widgets.download("Download bank.csv", partial(bank_table, *of_table), "bank.csv", tables.BANK)
        download_bank(now)
        download_form(now)


def more() -> None:
    """Further views, of which the open one is computed."""
    now = study.now()
    widgets.lazy_tabs({name: partial(show, now) for name, show in sections.SECTIONS.items()}, "part")


part("bank", bank, reads)
part("more", more, reads, first=True)
with worth:
    part("worth", lambda: sections.worth_by_size(study.now()), tried, first=True, slow=["tau_c"])
with enough:
    part("answer", lambda: sections.enough(study.now()), tried, slow=["tau_c"])
