"""The first half of the items page: which rubrics separate systems, and where?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from ...analysis.calibration import information_sentences
from ...figures import items as figures
from .. import loaders, tables, widgets
from ..charts import drawn
from ..parts import part
from ..search import search_rubrics
from . import checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from ...types import BoolArray
    from ..page import StudyPage


def answer(study: StudyPage) -> None:
    """The page's question answered, and whether the fit converged."""
    fitted = study.calibration()
    study.answer(*information_sentences(fitted.nu, int(fitted.fit.constant.sum())))
    if not fitted.fit.converged:
        st.warning("The fit did not converge: read these figures as provisional.")


def rubrics(study: StudyPage, items: pd.DataFrame) -> None:
    """The table of rubrics, the curves of those chosen in it, and all rubrics beside the systems."""
    above = st.columns(2, gap="large")
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
    found = search_rubrics(study.reduction().rubrics)
    # The bank follows from these. Where it is what the table lists, a move changes the curves, too: the whole page.
    reads = () if which == tables.IN_BANK else ("tau_c", "budget")
    chosen = part("table of rubrics", lambda: _table(study.now(), which, found), reads) or []
    _curves(study, items, chosen, above)
    left, right = st.columns(2, gap="large")
    with left:
        _heat_map(study)
    said = checks.about_abilities(study)  # once: it looks at every label
    with right:
        part("Wright map", lambda: _wright_map(study.now(), said), reads)


def _table(study: StudyPage, which: str, found: BoolArray) -> list[int]:
    """The table with the bank as it is now; the rows whose curves are shown."""
    items = loaders.items_table(study)
    shown = tables.items(items, study.reduction(), which)
    shown = shown[found[shown.index]]
    chosen = widgets.pick_some(
        shown, tables.ITEMS, key="item rubrics", rows=7, start=tables.typical(shown), on_pick=st.rerun
    )
    widgets.download("Download items.csv", items, "items.csv")
    return chosen


def _curves(
    study: StudyPage, items: pd.DataFrame, chosen: Sequence[int], places: Sequence[DeltaGenerator]
) -> None:
    """Response and information of the chosen rubrics, by ability."""
    fitted, reduction = study.calibration(), study.reduction()
    (responses, information), names = study.curves(), items["rubric"].tolist()
    observed = reduction.y[:, chosen] / (reduction.levels[chosen] - 1)
    graded = fitted.fit.model == "GRM"
    scale = "expected share of the full mark" if graded else "probability of passing"
    left, right = places
    with left:
        widgets.show(
            drawn(
                figures.curves_and_labels,
                *(fitted.nodes, responses, chosen, names, scale),
                *(fitted.fit.theta, observed, reduction.systems),
            ),
            alt="Item characteristic curves of the chosen rubrics with the systems' labels",
            title=f"{scale[0].upper()}{scale[1:]} by ability",
            look="Look for labels far off their curve: a weak system that passes, a strong one that fails.",
        )
    with right:
        widgets.show(
            drawn(figures.information_curves, fitted.nodes, information, chosen, names),
            alt="Item information of the chosen rubrics",
            title="Information of each rubric, by ability",
            look="Look for the peak: the rubric separates systems there; elsewhere it costs a label and adds little.",
        )


def _heat_map(study: StudyPage) -> None:
    """Information by difficulty and ability."""
    fitted = study.calibration()
    widgets.show(
        drawn(figures.information_heat_map, fitted.grid.theta, fitted.info, fitted.fit.b),
        alt="Item information by difficulty and ability",
        title="Where rubrics separate systems",
        look="Look for abilities where no row is bright: systems there are measured imprecisely.",
    )


def _wright_map(study: StudyPage, said: str) -> None:
    """Rubrics and systems on one scale, with the bank as it is now. said: of the abilities."""
    fit, (low, high) = study.calibration().fit, checks.ability_interval(study)
    in_bank = loaders.items_table(study)["in_bank"].to_numpy()
    widgets.show(
        drawn(figures.wright_map, fit.b, in_bank, fit.theta, low, high, study.reduction().systems),
        alt="Wright map: rubric difficulties and system abilities on one scale",
        title="Do the rubrics cover the systems? (Wright map)",
        look="Look for systems above or below all bars: no rubric is hard, or easy, enough for them. The highest is on "
        f"the left. {said}",
    )
