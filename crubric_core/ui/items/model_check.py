"""The second half of the Items page: which response model the labels support, and whether it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from ...analysis.dimensions import dimension_list
from ...experiments.model_check import EXPERIMENT, LISTED
from ...figures import diagnostics as figures
from ...irt.information import response_curve
from ...irt.item_fit import REPLICATES, curve_band, empirical_curve
from .. import table_widgets, widgets
from ..experiments.tables import page_columns, show_table
from ..loaders import PAGES
from ..text import count, percent, plain, rounded
from . import checks

if TYPE_CHECKING:
    from ...irt.item_fit import ItemFit
    from ..page import StudyPage

MOST_MISFITS = 200
SHOWN = (
    "The residuals show more than one ability.",
    "Their first eigenvalue stands out more than in 95% of tables simulated from the model.",
)
NOT_SHOWN = ("The residuals show no second ability.", "That does not show that there is none.")
TABLES = EXPERIMENT.tables


def _comparison(study: StudyPage, _items: pd.DataFrame) -> None:
    """Show the comparison of the response models."""
    found = checks.comparison(study)
    study.answer(found.sentence)
    st.caption(
        f"The analysis uses the {study.settings.model}, as chosen in the settings. Held-out labels show which model "
        "predicts best; AIC and BIC weigh fit against the number of parameters."
    )
    show_table(found.table, TABLES["models"])
    for note in found.notes:
        st.caption(plain(note))


def _dependence(study: StudyPage, _items: pd.DataFrame) -> None:
    """Show the residual spectrum and Q3."""
    spectrum, checked = checks.spectrum(study), checks.dependence(study)
    found = checked.found
    names = study.reduction().rubrics["rubric"].tolist()
    known = np.isfinite(checked.line) and np.isfinite(spectrum.ratio)
    if known:
        _one_ability(study, spectrum.ratio > checked.line)
    left, right = st.columns(2, gap="large")
    with left:
        widgets.show(
            figures.scree(spectrum.eigenvalues), "Eigenvalues of the residual correlations", "One ability?"
        )
        st.caption(ratio_sentence(spectrum.ratio, checked.ratio, checked.line))
    with right:
        if found.n_pairs:
            widgets.show(
                figures.q3_histogram(found.counts, found.edges, found.mean, found.critical),
                "Residual correlations of all pairs of rubrics",
                "Do rubrics overlap?",
            )
        st.caption(flagged_sentence(found.n_flagged, found.n_pairs, checked.chance))
    if found.pairs.empty:
        return
    widgets.show(
        figures.q3_heat_map(checked.among, [names[j] for j in checked.rubrics]),
        "Q3 among the rubrics of the worst pairs",
        "The worst pairs",
        "Columns are in the order of the rows.",
    )
    if np.isfinite(found.within_query) and study.reduction().rubrics["query"].duplicated().any():
        st.caption(within_sentence(found.within_query, study.reduction().rubrics["query"]))
    listed = found.pairs.head(LISTED)
    named = {side: [names[j] for j in listed[side]] for side in ("first", "second")}
    show_table(listed.assign(**named), TABLES["pairs"])


def ratio_sentence(ratio: float, one_table: float, line: float) -> str:
    """A sentence on the ratio of the first two eigenvalues, compared with tables simulated from the model.

    ratio: of the labels. one_table: of one simulated table. line: 95% quantile over simulated tables. Each may be NaN.
    """
    if not np.isfinite(ratio):
        return "First over second eigenvalue: unknown, as there is no second one above 0."
    said = f"First over second eigenvalue: {ratio:.2f}"
    if np.isfinite(line):
        return f"{said}; of tables simulated from the model, 95% have at most {line:.2f}."
    if not np.isfinite(one_table):
        return f"{said}; that of a table simulated from the model is unknown."
    return f"{said}; a table simulated from the model has {one_table:.2f}: only a clear excess is evidence."


def within_sentence(share: float, queries: pd.Series[Any]) -> str:
    """A sentence on the share of flagged pairs within one query, compared with all pairs. queries: (J,) by rubric."""
    sizes, total = queries.value_counts().to_numpy(), len(queries)
    every = float((sizes * (sizes - 1)).sum() / (total * (total - 1)))
    look = " Look for blocks." if share > every else ""
    return (
        f"{rounded(share)} of the flagged pairs are two rubrics of one query, as are {rounded(every)} of all pairs."
        f"{look}"
    )


def flagged_sentence(flagged: int, pairs: int, chance: int) -> str:
    """A sentence on how many pairs Q3 flags, compared with a table simulated from the model (``chance``)."""
    if not pairs:
        return "No two rubrics were labelled on enough systems to be compared."
    are = "is" if 1 in (pairs, flagged) else "are"
    said = f"{flagged:,} of {count(pairs, 'pair')} {are} flagged; a table simulated from the model has {chance:,}."
    if flagged <= chance:
        return f"{said} That is no evidence of rubrics that overlap."
    return (
        f"{said} Only a clear excess indicates rubrics that say the same thing, or share a query on which systems do "
        "well or badly: with few systems, another simulated table may have twice as many."
    )


def _one_ability(study: StudyPage, exceeded: bool) -> None:
    """Answer whether the spectrum shows more than one ability, with a link to the abilities by dimension if any."""
    study.answer(*(SHOWN if exceeded else NOT_SHOWN))
    if len(dimension_list(study.reduction())) > 1:
        st.page_link(
            PAGES / "leaderboard.py",
            label="Compare the abilities by dimension",
            icon=":material/arrow_forward:",
            query_params={"more": "Groups", "groups": "dimension"},
        )
    elif exceeded:
        st.caption(
            "Abilities by dimension need rubrics that name their dimension: a column of the table of rubrics."
        )


def _item_fit(study: StudyPage, items: pd.DataFrame) -> None:
    """Show the bootstrap item fit, which runs when the user asks for it."""
    asked = f"item fit {study.key('calibration')} {study.settings.seed}"
    if not st.session_state.get(asked):
        st.write(f"Compares every rubric with {REPLICATES} tables drawn from the model and fitted again.")
        if not st.button("Check how each rubric fits"):
            return
    found = checks.item_fit(study)
    st.session_state[asked] = True
    study.answer(f"{found.misfit:.1%} of the rubrics misfit at p < .05; chance alone gives at most 5%.")
    table = items.assign(outfit=found.outfit, p=found.p)
    key = f"misfit clicked {study.key('calibration')}"

    def pointed(mark: widgets.Mark) -> None:
        apart = np.hypot(table["b"] - mark.x, table["outfit"] - mark.y)
        st.session_state[key] = int(np.nanargmin(apart))

    widgets.show(
        figures.outfit(items["b"].to_numpy(), found.outfit, found.p, items["rubric"].tolist()),
        "Outfit mean square of each rubric by difficulty",
        on_click=pointed,
    )
    st.caption(
        "An outfit far above 1 means that strong systems fail the rubric or weak ones pass it. Click a point "
        "for its rubric."
    )
    order = table.sort_values("p").index
    clicked = st.session_state.get(key)
    if clicked is not None:  # the clicked rubric comes first
        order = order[np.argsort(order != clicked, kind="stable")]
    worst = table.loc[order[:MOST_MISFITS]]
    chosen = table_widgets.pick_one(worst, page_columns(TABLES["items"]), key=f"misfit {clicked}", rows=8)
    if chosen is not None:
        _one_curve(study, found, chosen)
    table_widgets.download("Download item_fit.csv", table, "item_fit.csv")


def _one_curve(study: StudyPage, found: ItemFit, rubric: int) -> None:
    fit, nodes, y = study.calibration().fit, study.calibration().nodes, study.reduction().y
    level = study.settings.confidence
    low, high = curve_band(found.refits, rubric, nodes, level)
    title = "expected share of the full mark" if fit.model == "GRM" else "probability of passing"
    widgets.show(
        figures.curve_fit(
            nodes,
            response_curve(fit, rubric, nodes),
            low,
            high,
            empirical_curve(fit, y, rubric, confidence=level),
            title,
            f"{percent(level)} band",
        ),
        "Curve of the chosen rubric with its band and the systems' labels",
        "Does the chosen rubric follow its curve?",
    )
    st.caption(f"Look for groups of systems whose interval misses the band; both at {percent(level)}.")


SECTIONS = {"Which model": _comparison, "Dependence": _dependence, "Item fit": _item_fit}
