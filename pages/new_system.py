"""Where does mine stand?"""

import streamlit as st

from crubric_core.placement.place import place_systems
from crubric_core.ui import new_system, recalibration, widgets
from crubric_core.ui.nothing_passes import nothing_passes
from crubric_core.ui.page import open_study
from crubric_core.ui.text import count

study = open_study("New system")
if nothing_passes(study):
    st.stop()
st.markdown(
    "A system that was never judged here needs labels on the bank's rubrics alone: the bank's parameters stay as they "
    "are, and its ability follows at once."
)
chosen = new_system.choose(study)
if chosen is None:
    study.answer(
        "No labels yet: upload the labels of your system, or hold out one of these systems to see how it "
        "works."
    )
    st.stop()
bank_scale, labels = chosen
found = place_systems(bank_scale, labels)
one = found.systems[0]
if len(found.systems) > 1:
    one = st.selectbox(f"System, of {count(len(found.systems), 'new one')}", found.systems, key="placed")
n = found.systems.index(one)
new_system.answer(study, bank_scale, one, found.placements[n])
widgets.notes(new_system.notes(found))
if one in study.dataset.systems and one not in bank_scale.systems:
    new_system.comparison(study, one)
new_system.show(study, bank_scale, found, n)
which = (bank_scale.systems, labels.systems, labels.judges, labels.y.tobytes())
recalibration.section((study.fingerprint, study.dataset.name, study.settings, *which), bank_scale, labels)
