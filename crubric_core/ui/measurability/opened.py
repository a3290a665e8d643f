"""An opened rubric: its text, the labels of all judges, the answers of systems and the judges' reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from ...figures import measurability as figures
from .. import loaders, rubric_head, widgets
from ..charts import drawn
from . import repeats

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..loaders import Study


def table_and_rubric(study: Study, table: Callable[[], int | None], invitation: str) -> None:
    """Show a table of rubrics, and beside it the chosen rubric opened.

    table: shows the table and returns the position of the chosen rubric, or None. invitation: text if it is None.
    """
    left, right = st.columns([3, 2], gap="large")
    with left:
        row = table()
    with right:
        if row is None:
            st.write(invitation)
        else:
            show_rubric(study, row)


def show_rubric(study: Study, row: int) -> None:
    """Show the rubric at position ``row`` of the study's rubrics, with its labels."""
    facts, reduction = loaders.facts(study), study.reduction()
    rubric = reduction.rubrics.iloc[row]
    panel, documented = loaders.rubric_panel(study, row), repeats.has_texts_or_runs(study, row)

    def clicked(cell: widgets.Mark) -> None:
        st.session_state[repeats.CLICKED] = facts.systems[figures.grid_order(panel)[int(cell.y)]]

    rubric_head.show(rubric, ordered=reduction.response == "ordered")
    widgets.show(
        drawn(
            figures.label_grid,
            panel,
            loaders.rubric_panel(study, row, "ordered") + rubric["scale_min"],
            facts.systems,
            facts.judges,
            int(reduction.levels[row]),
            graded=bool(rubric["scale_max"] - rubric["scale_min"] > 1),
        ),
        alt="Labels of the chosen rubric, systems by judges",
        look="Click a cell to read what was said of its system." if documented else "",
        on_click=clicked if documented else None,
    )
    if len(facts.systems) > figures.MOST_NAMED:
        colours = "Blue: pass, orange: fail. " if reduction.levels[row] == 2 else ""
        st.caption(f"{colours}A row each system, the highest mean label on top; point at one for its name.")
    repeats.opened(study, row, panel)
