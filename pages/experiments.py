"""Does it hold on my data?"""

import streamlit as st

from crubric_core.experiments import EXPERIMENTS
from crubric_core.ui.experiments import runs as experiments
from crubric_core.ui.page import open_study
from crubric_core.ui.text import plain

study = open_study("Experiments")
name = experiments.choose()
st.markdown(plain(EXPERIMENTS[name].question))
seen = experiments.background().changes  # before the result is looked for: what ends meanwhile is noticed
result = experiments.stored(study, name)
if result is None:
    experiments.run_or_watch(study, name)
else:
    experiments.show_result(study, result)
    experiments.downloads(study, result)
experiments.follow(study, name, seen)
