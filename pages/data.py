"""Can it be read?"""

import streamlit as st

from crubric_core.demo import write_demo
from crubric_core.ui import loaders, state, table_widgets, tables, widgets
from crubric_core.ui.data import details as data_details
from crubric_core.ui.data import report as upload_report
from crubric_core.ui.data import upload
from crubric_core.ui.text import count, plain, shorten

st.title("Data", anchor=False)
place = st.empty()
state.keep_address()
workspace = loaders.workspace()
upload.take_report()
found = loaders.datasets()
files = upload.drop_zone()
if (
    "demo" not in found["name"].tolist()
    and not files
    and st.button("Load the demo study", help="Simulated: 15 systems, 104 queries, 3 judges, known truth.")
):
    with st.spinner("Simulating 15 systems under 3 judges …"):
        write_demo(workspace)
        loaders.datasets_changed()
    state.show_dataset("demo")
    st.session_state["detail"] = "demo"
    st.rerun()

message_place = st.container()  # there without a message too: the tabs below stay open when one goes
if message := st.session_state.pop("message", None):
    message_place.success(plain(message))
if "report" in st.session_state:
    with st.container(border=True):
        upload_report.show(st.session_state["report"], "after")
        st.page_link(
            loaders.PAGES / "overview.py",
            label="What is in it, and what is wrong with it?",
            icon=":material/arrow_forward:",
        )
if files:
    upload.section(files)

if found.empty:
    widgets.answer(place, "No dataset yet: load the demo study, or upload a table of judge labels.")
    st.stop()
names = found["name"].tolist()
if (gone := state.gone(names)) is not None:
    said = "it was renamed or deleted, or the address is of another workspace"
    st.warning(f"There is no dataset “{plain(shorten(gone, 80))}” here: {said}.")
widgets.answer(
    place, f"{count(len(found), 'dataset')} with {count(int(found['labels'].sum()), 'label')} can be read."
)
st.subheader("Datasets", anchor=False, divider=True)
table_widgets.table(found, tables.DATASETS)
if files:
    st.stop()  # checks of another dataset would be taken for those of the files
if "detail" not in st.session_state and state.held_dataset() in names:
    st.session_state["detail"] = state.held_dataset()
name = st.selectbox("A dataset in detail", names, key="detail", width=420)
data_details.show(name, found["fingerprint"].iloc[names.index(name)])
