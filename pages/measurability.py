"""Which rubrics can judges apply alike?"""

import streamlit as st

from crubric_core.figures import measurability as figures
from crubric_core.judges.consensus import baseline_mask
from crubric_core.judges.measurability import gate_is_off
from crubric_core.ui import loaders, tables, widgets
from crubric_core.ui.page import open_study
from crubric_core.ui.text import count, shorten

study = open_study("Measurability")
facts, reduction, gate = loaders.facts(study), loaders.reduction(study), loaders.gate(study)
tau_c, total = study.settings.tau_c, len(gate)
kept, off = int(gate["feasible"].sum()), gate_is_off(reduction)

if off:
    study.answer(
        f"Nothing was labelled by two judges, so agreement is unknown: the gate is off and all "
        f"{count(total, 'rubric')} stay."
    )
else:
    study.answer(
        f"{kept:,} of {count(total, 'rubric')} pass τ_c = {tau_c:.2f}; {total - kept:,} do not.",
        f"On the median rubric the judges agree {gate['q_mean'].median():.0%} of the time.",
    )

consistent, discriminating = baseline_mask(reduction)
left, right = st.columns([3, 2], gap="large")
with left:
    widgets.show(
        figures.measurability_histogram(
            gate["q_mean"].to_numpy(), gate["feasible"].to_numpy(), None if off else tau_c
        ),
        alt="Rubrics by measurability, kept and dropped",
        title="Rubrics by measurability",
    )
with right:
    rules = {
        f"measurability at least {tau_c:.2f}": kept,
        "all judges agree on every system": int(consistent.sum()),
        "… and some systems pass, some fail": int((consistent & discriminating).sum()),
    }
    widgets.show(
        figures.baseline_bars(rules, total),
        alt="Rubrics that each rule keeps",
        title="Beside rules that need perfect agreement",
    )

which = st.segmented_control(
    "Rubrics",
    ["all", "kept", "dropped", "flagged"],
    default="all",
    required=True,
    key="which",
    bind="query-params",
)
shown = tables.measurability(gate, reduction, which)
row = widgets.pick_one(shown, tables.MEASURABILITY, key="measurability rubric")
widgets.download("Download measurability.csv", gate, "measurability.csv")
if row is not None:
    rubric = reduction.rubrics.iloc[row]
    st.subheader(widgets.plain(f"Labels of {rubric['rubric']}"), anchor=False)
    if isinstance(rubric["text"], str):
        st.text(shorten(rubric["text"], 600))
    widgets.show(
        figures.label_grid(
            loaders.panel(study)[:, row, :],
            facts.systems,
            facts.judges,
            int(reduction.levels[row]),
            facts.scale.minimum,
        ),
        alt="Labels of the chosen rubric, systems by judges",
    )
