"""Abilities by dimension of the rubrics: which systems are ahead, and whether the dimensions are one ability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from ...analysis.board import level_of
from ...analysis.dimensions import one_ability_sentence, order_sentence
from ...experiments.declaration import ResultColumn, ResultTable, number
from ...figures import leaderboard as figures
from .. import table_widgets, widgets
from ..experiments.tables import show_table
from ..text import plain
from .view import choose

if TYPE_CHECKING:
    import pandas as pd

    from ...analysis.dimensions import Dimensions
    from ...types import IntArray
    from .view import View

MOST = len(figures.COLOURED)
CORRELATIONS = ResultTable(
    "Correlations of the abilities, corrected for noise",
    {
        "first": ResultColumn("dimension"),
        "second": ResultColumn("other dimension"),
        "correlation": number("correlation", "%.2f", "The most likely value over systems like these"),
        "low": number("low", "%.2f", "Lower end of the interval, for all pairs of dimensions together"),
        "high": number("high", "%.2f", "Upper end of the interval; 1: the two may be one ability"),
    },
)


def show(view: View, found: Dimensions, rows: pd.DataFrame, at: IntArray) -> None:
    """Show the abilities by dimension of some systems; the sentences are about all systems.

    rows: rows of the leaderboard. at: their positions in the study.
    """
    level, names = level_of(view.board), found.names
    st.markdown(f"**{plain(order_sentence(found, view.board.standing, view.every, level))}**")
    st.markdown(plain(one_ability_sentence(found, level)))
    shown = [*range(min(len(names), MOST))]
    if len(names) > MOST:
        chosen = st.multiselect(
            "Dimensions shown",
            names,
            names[:MOST],
            max_selections=MOST,
            key="dimensions",
            bind="query-params",
        )
        shown = [names.index(each) for each in chosen] or shown
    estimates = [
        figures.Estimate(found.standings[d].estimate[at], found.low[d][at], found.high[d][at]) for d in shown
    ]
    widgets.show(
        figures.by_dimension(rows["system"].tolist(), [names[d] for d in shown], estimates),
        alt="Ability of each system by dimension",
        title=f"Ability by dimension, with its interval at {level}",
        look="Each dimension has a scale of its own: compare systems within a colour. The sentence above "
        "compares all pairs on all dimensions at once.",
        on_click=lambda mark: choose(rows["system"].iloc[mark.number]),
    )
    if len(found.pairs) > 1:
        show_table(found.correlation_table(), CORRELATIONS)
    if found.left_out:
        st.caption(f"Too few queries for abilities: {plain(', '.join(found.left_out))}.")
    with st.container(horizontal=True):
        table_widgets.download("Download dimensions.csv", found.ability_table(view.every), "dimensions.csv")
        if len(found.pairs) > 1:
            table_widgets.download("Download correlations.csv", found.correlation_table(), "correlations.csv")
