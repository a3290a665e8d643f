"""What changes with other settings?"""

import streamlit as st

from crubric_core.ui import scenarios
from crubric_core.ui.page import open_study

study = open_study("Scenarios", settings=False)
saved = scenarios.scenarios_of(study)
study.answer(scenarios.answer(saved, study.dataset.name))
if not saved:
    st.write(
        "Tune settings and filters on any page, then choose “Save as a scenario” in the side bar. Here you can "
        "compare two scenarios: which rubrics enter or leave the bank, and which systems change tier."
    )
    if why := scenarios.why_not_saved():
        st.caption(why)
    st.stop()
scenarios.manage(study, saved)
st.subheader("Side by side", anchor=False)
first, second = scenarios.ask_two(saved, scenarios.shown_settings(study.dataset.name))
if first[0] == second[0]:
    st.write("Choose two different ones.")
    st.stop()
scenarios.show_change(study, scenarios.outcome(study, *first), scenarios.outcome(study, *second))
