"""Can it be read?"""

from pathlib import Path

import streamlit as st

from crubric_core.demo import write_demo
from crubric_core.ui import loaders, upload, widgets
from crubric_core.ui.text import count

st.title("Data", anchor=False)
place = st.empty()
workspace = loaders.workspace()

left, right = st.columns([4, 1], vertical_alignment="bottom")
files = left.file_uploader(
    "Tables of labels, rubrics, queries, gold labels or a reference ranking",
    type=list(upload.TYPES),
    accept_multiple_files=True,
    help="CSV, TSV, Parquet, JSON Lines or JSON. Labels: one row each with system, query, rubric, judge, label.",
)
if "demo" not in loaders.datasets()["name"].tolist() and right.button(
    "Load the demo study", help="Simulated: 15 systems, 104 queries, 3 judges, known truth."
):
    with st.spinner("Simulating 15 systems under 3 judges …"):
        write_demo(workspace)
        loaders.datasets_changed()
    st.session_state["dataset"] = st.session_state["detail"] = "demo"
    st.rerun()

described = [upload.describe(file) for file in files]
if files:
    uploads = [one for one in described if one is not None]
    one, two = st.columns(2)
    dataset = one.text_input("Name of the dataset", Path(files[0].name).stem, max_chars=80)
    conflict = two.segmented_control(
        "Of two rows that contradict each other",
        ["reject", "last"],
        format_func={"reject": "leave both out", "last": "the later one counts"}.__getitem__,
        default="reject",
        required=True,
    )
    ready = len(uploads) == len(files) and dataset.strip()
    if not ready:
        st.caption("To go on, name the dataset and mend, or take away, the files with a red remark.")
    if st.button(f"Read {count(len(files), 'file')}", type="primary", disabled=not ready):
        upload.read_all(uploads, dataset.strip(), conflict)
        st.session_state["dataset"] = st.session_state["detail"] = dataset.strip()

found = loaders.datasets()
if found.empty:
    widgets.answer(place, "No dataset yet: load the demo study, or upload a table of judge labels.")
    st.stop()
widgets.answer(
    place, f"{count(len(found), 'dataset')} with {count(int(found['labels'].sum()), 'label')} can be read."
)
st.subheader("Datasets", anchor=False)
widgets.table(found, widgets.DATASETS)
st.page_link(loaders.PAGES / "overview.py", label="What is in it, and what is wrong with it?", icon="➡️")

name = st.selectbox("A dataset in detail", found["name"].tolist(), key="detail")
st.markdown("**Files it was made from**")
widgets.table(workspace.ingests(name), widgets.INGESTS)
rejects = workspace.rejects(name)
if len(rejects):
    st.markdown(f"**{count(len(rejects), 'row')} left out**")
    widgets.table(rejects, {column: column for column in rejects.columns}, height=240)
    widgets.download("Download them", rejects, "rejected_rows.csv")
with st.expander("Delete this dataset"):
    typed = st.text_input("Type its name to delete it for good", key=f"delete {name}")
    if st.button("Delete", disabled=typed != name):
        workspace.delete(name)
        loaders.datasets_changed()
        st.session_state.pop("dataset", None)
        st.rerun()
