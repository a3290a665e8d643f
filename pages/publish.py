"""Who may see what?"""

import streamlit as st

from crubric_core.ui import loaders, widgets
from crubric_core.ui.nothing_passes import nothing_passes
from crubric_core.ui.page import open_study
from crubric_core.ui.publish import form as publish
from crubric_core.ui.publish import links as publish_links

found = publish_links.links()
if loaders.datasets().empty and found:  # links outlive their dataset
    st.title("Publish", anchor=False)
    widgets.answer(st.empty(), publish_links.summary(found))
    publish_links.manage(found)
    st.stop()
study = open_study("Publish")
study.answer(publish_links.summary(found))
making, links = st.tabs(["New view", "Links"])
with making:
    # The words about what is computed, too: what is typed below keeps its place meanwhile.
    with st.container():
        publish.show_viewer()
        empty = nothing_passes(study)
    if not empty:
        publish.make(study, found)
with links:
    publish_links.manage(found)
