"""Which rubrics separate systems, and where?"""

import numpy as np
import streamlit as st

from crubric_core.figures import items as figures
from crubric_core.ui import loaders, tables, widgets
from crubric_core.ui.charts import drawn
from crubric_core.ui.items import checks, model_check
from crubric_core.ui.nothing_passes import nothing_passes
from crubric_core.ui.page import open_study
from crubric_core.ui.parts import part
from crubric_core.ui.search import search_rubrics
from crubric_core.ui.text import count

study = open_study("Items")
if nothing_passes(study):
    st.stop()
reduction, fitted = study.reduction(), study.calibration()
fit = fitted.fit
items = loaders.items_table(study)
responses, information = study.curves()

sharpest = np.sort(fitted.nu)[::-1].cumsum()
constant = int(fit.constant.sum())
half = int(np.searchsorted(sharpest, sharpest[-1] / 2)) + 1
study.answer(
    f"Half of all information about these systems comes from {half:,} of {count(len(items), 'rubric')}.",
    f"{constant:,} {'gives' if constant == 1 else 'give'} none: the same label for every system."
    if constant
    else "",
)
if not fit.converged:
    st.warning("The fit did not converge: read these figures as provisional.")

views = ("Rubrics", *model_check.SECTIONS)
view = st.segmented_control("View", views, default=views[0], required=True, key="view", bind="query-params")
if view in model_check.SECTIONS:
    model_check.SECTIONS[view](study, items)
    st.stop()

above_left, above_right = st.columns(2, gap="large")
which = st.segmented_control(
    "Rubrics",
    tables.INFORMATIVE,
    default="all",
    required=True,
    key="items",
    bind="query-params",
    help="Negative item–rest correlation: here weaker systems passed these rubrics more often. Chance gives some; "
    "where it is far below 0, look whether the wording is reversed.",
)
found = search_rubrics(reduction.rubrics)


def rubrics_table() -> list[int]:
    """The table with the bank as it is now; the rows whose curves are shown."""
    items = loaders.items_table(study.now())
    shown = tables.items(items, reduction, which)
    shown = shown[found[shown.index]]
    chosen = widgets.pick_some(
        shown, tables.ITEMS, key="item rubrics", rows=7, start=tables.typical(shown), on_pick=st.rerun
    )
    widgets.download("Download items.csv", items, "items.csv")
    return chosen


# The bank follows from these. Where it is what the table lists, a move changes the curves, too: the whole page.
reads = () if which == tables.IN_BANK else ("tau_c", "budget")
chosen = part("table of rubrics", rubrics_table, reads) or []
names = items["rubric"].tolist()
systems, observed = reduction.systems, reduction.y[:, chosen] / (reduction.levels[chosen] - 1)

with above_left:
    scale = "expected share of the full mark" if fit.model == "GRM" else "probability of passing"
    curves = (fitted.nodes, responses, chosen, names, scale)
    widgets.show(
        drawn(figures.curves_and_labels, *curves, fit.theta, observed, systems),
        alt="Item characteristic curves of the chosen rubrics with the systems' labels",
        title="Probability of passing by ability",
        look="Look for labels far off their curve: a weak system that passes, a strong one that fails.",
    )
with above_right:
    widgets.show(
        drawn(figures.information_curves, fitted.nodes, information, chosen, names),
        alt="Item information of the chosen rubrics",
        title="Information of each rubric, by ability",
        look="Look for the peak: the rubric separates systems there; elsewhere it costs a label and adds little.",
    )
left, right = st.columns(2, gap="large")
with left:
    widgets.show(
        drawn(figures.information_heat_map, fitted.grid.theta, fitted.info, fit.b),
        alt="Item information by difficulty and ability",
        title="Where rubrics separate systems",
        look="Look for abilities where no row is bright: systems there are measured imprecisely.",
    )


said_of_abilities = checks.about_abilities(study)  # once: it looks at every label


def wright_map() -> None:
    """Rubrics and systems on one scale, with the bank as it is now."""
    now = study.now()
    low, high = checks.ability_interval(now)
    widgets.show(
        drawn(
            figures.wright_map,
            fit.b,
            loaders.items_table(now)["in_bank"].to_numpy(),
            fit.theta,
            low,
            high,
            systems,
        ),
        alt="Wright map: rubric difficulties and system abilities on one scale",
        title="Do the rubrics cover the systems? (Wright map)",
        look="Look for systems above or below all bars: no rubric is hard, or easy, enough for them. The highest is on "
        f"the left. {said_of_abilities}",
    )


with right:
    part("Wright map", wright_map, reads)
