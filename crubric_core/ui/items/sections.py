"""The first half of the Items page: which rubrics separate systems, and at which abilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from ...analysis.calibration import information_sentences, reasons_of_none
from ...figures import items as figures
from .. import loaders, table_widgets, tables, widgets
from ..charts import drawn
from ..leaderboard.view import open_profile
from ..measurability.opened import show_rubric
from ..parts import part
from ..search import search_rubrics
from ..text import count
from . import checks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from ...types import BoolArray
    from ..charts import Sent
    from ..page import StudyPage

CLICKED, SYSTEM_CLICKED = "rubrics clicked", "system clicked"


def answer(study: StudyPage) -> None:
    """Answer the page's question, and warn if the fit did not converge."""
    fitted = study.calibration()
    reasons, systems = reasons_of_none(fitted.y, fitted.fit), len(study.reduction().systems)
    study.answer(*information_sentences(fitted.nu, reasons, fitted.fit.model, systems))
    if not fitted.fit.converged:
        st.warning("The fit did not converge: read these figures as provisional.")


def rubrics(study: StudyPage, items: pd.DataFrame) -> None:
    """Show the table of rubrics, the curves of the chosen ones, the heat map and the Wright map."""
    above = st.columns(2, gap="large")
    which = widgets.choose_one(
        "Rubrics",
        tables.INFORMATIVE,
        "items",
        help="Negative item–rest correlation: here weaker systems passed these rubrics more often. Some are due to "
        "chance; if the correlation is far below 0, check whether the wording is reversed.",
    )
    found = search_rubrics(study.reduction().rubrics)
    clicked = _clicked(study)
    if clicked:
        found = np.isin(np.arange(len(found)), clicked)
    # The bank depends on these. If the table lists the bank, a move changes the curves too, so the whole page runs.
    reads = () if which == tables.IN_BANK else ("tau_c", "budget")
    chosen = part("table of rubrics", lambda: _table(study.now(), which, found, clicked), reads) or []
    _curves(study, items, chosen, above)
    if len(clicked) == 1:
        show_rubric(study, clicked[0])
    left, right = st.columns(2, gap="large")
    with left:
        _heat_map(study)
    said = checks.about_abilities(study)  # computed once, because it reads every label
    with right:
        part("Wright map", lambda: _wright_map(study.now(), said), reads)


def _clicked(study: StudyPage) -> tuple[int, ...]:
    """The rubrics that were clicked on a chart, () if none, with a note and a button to list all rubrics again."""
    clicked: tuple[int, ...] = st.session_state.get(f"{CLICKED} {study.key('reduction')}", ())
    if clicked:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(
                f"Only what was clicked on a chart, whatever is searched for: {count(len(clicked), 'rubric')}.",
                width="content",
            )
            st.button("List all rubrics", on_click=_click, args=(study, ()))
    return clicked


def _click(study: StudyPage, rubrics: Iterable[int]) -> None:
    """From now on list only these rubrics in the table and draw their curves; () lists all again."""
    st.session_state[f"{CLICKED} {study.key('reduction')}"] = tuple(int(j) for j in rubrics)


def _table(study: StudyPage, which: str, found: BoolArray, clicked: Sequence[int]) -> list[int]:
    """Show the table of rubrics with the present bank; return the rubrics whose curves are to be drawn."""
    items = loaders.items_table(study)
    shown = tables.items(items, study.reduction(), which)
    shown = shown[found[shown.index]]
    chosen = table_widgets.pick_some(
        shown,
        tables.ITEMS,
        key=f"item rubrics {clicked}",
        rows=7,
        start=range(len(shown)) if 0 < len(clicked) <= figures.MOST_HIGHLIGHTS else tables.typical(shown),
        others=table_widgets.SEARCHED,
        on_pick=st.rerun,
        every=tables.items(items, study.reduction(), tables.ALL),
    )
    table_widgets.download(tables.file_of_all("items.csv", shown, items), items, "items.csv", tables.ITEMS)
    return chosen


def _curves(
    study: StudyPage, items: pd.DataFrame, chosen: Sequence[int], places: Sequence[DeltaGenerator]
) -> None:
    """Charts of response and information of the chosen rubrics, by ability."""
    fitted, reduction = study.calibration(), study.reduction()
    (responses, information), names = study.curves(), items["rubric"].tolist()
    observed = reduction.y[:, chosen] / (reduction.levels[chosen] - 1)
    graded = fitted.fit.model == "GRM"
    scale = "expected share of the full mark" if graded else "probability of passing"
    left, right = places
    curves = drawn(
        figures.curves_and_labels,
        *(fitted.nodes, responses, chosen, names, scale),
        *(fitted.fit.theta, observed, reduction.systems),
    )
    peaks = drawn(figures.information_curves, fitted.nodes, information, chosen, names)
    with left:
        widgets.show(
            curves,
            alt="Item characteristic curves of the chosen rubrics with the systems' labels",
            title=f"{scale[0].upper()}{scale[1:]} by ability",
            look="Look for labels far off their curve: a weak system that passes, a strong one that fails. "
            "Click a mark or a curve to open its rubric.",
            on_click=lambda mark: _click(study, [_rubric_of(curves, mark, chosen)]),
        )
    with right:
        widgets.show(
            peaks,
            alt="Item information of the chosen rubrics",
            title="Information of each rubric, by ability",
            look="Look for the peak: the rubric separates systems there; elsewhere it costs a label and adds little.",
            on_click=lambda mark: _click(study, [_rubric_of(peaks, mark, chosen)]),
        )


def _rubric_of(fig: Sent, mark: widgets.Mark, chosen: Sequence[int]) -> int:
    """The rubric of a clicked mark: the last traces of a figure are, for each kind, one for each chosen rubric."""
    shown = chosen[: figures.MOST_HIGHLIGHTS]
    return shown[(mark.trace - len(fig.to_dict()["data"])) % len(shown)]


def _heat_map(study: StudyPage) -> None:
    """Heat map of information by difficulty and ability."""
    fitted = study.calibration()
    rows, places = figures.difficulty_rows(fitted.fit.b)
    widgets.show(
        drawn(figures.information_heat_map, fitted.grid.theta, fitted.info, fitted.fit.b),
        alt="Item information by difficulty and ability",
        title="Where rubrics separate systems",
        look="Look for abilities where no row is bright: systems there are measured imprecisely. Click a row to list "
        "its rubrics.",
        on_click=lambda cell: _click(study, rows[int(np.abs(places - cell.y).argmin())]),
    )


def _wright_map(study: StudyPage, said: str) -> None:
    """Wright map: rubrics and systems on one scale, with the present bank. said: a note on the abilities."""
    if (system := st.session_state.pop(SYSTEM_CLICKED, None)) is not None:
        open_profile(system)
    fit, (low, high) = study.calibration().fit, checks.ability_interval(study)
    in_bank = loaders.items_table(study)["in_bank"].to_numpy()
    fig = drawn(figures.wright_map, fit.b, in_bank, fit.theta, low, high, study.reduction().systems)

    def clicked(mark: widgets.Mark) -> None:
        trace = fig.to_dict()["data"][mark.trace]
        if trace["type"] == "scatter":
            best = np.argsort(-fit.theta, kind="stable")
            st.session_state[SYSTEM_CLICKED] = study.reduction().systems[best[mark.number]]
        else:
            beside = np.abs(fit.b - mark.y) <= trace["width"] / 2
            _click(study, np.flatnonzero(beside & (in_bank == (mark.trace == 0))))
            st.rerun()

    widgets.show(
        fig,
        alt="Wright map: rubric difficulties and system abilities on one scale",
        title="Do the rubrics cover the systems? (Wright map)",
        look="Look for systems above or below all bars: no rubric is hard, or easy, enough for them. The system with "
        "the highest ability is on the left. Click a bar to list its rubrics, a mark for its system on the "
        f"leaderboard. {said}",
        on_click=clicked,
    )
