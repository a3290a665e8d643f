"""One rubric opened: its text, the labels of all judges, and what judges and systems said."""

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
    """A table of rubrics, which gives the position of the chosen one, and that one opened beside it."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        row = table()
    with right:
        if row is None:
            st.write(invitation)
        else:
            show_rubric(study, row)


def show_rubric(study: Study, row: int) -> None:
    """The rubric at position ``row`` of the study's rubrics."""
    facts, reduction = loaders.facts(study), study.reduction()
    rubric = reduction.rubrics.iloc[row]
    panel, told = loaders.rubric_panel(study, row), repeats.is_told(study, row)

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
        look="Click a cell to read what was said of its system." if told else "",
        on_click=clicked if told else None,
    )
    if len(facts.systems) > figures.MOST_NAMED:
        colours = "Blue: pass, orange: fail. " if reduction.levels[row] == 2 else ""
        st.caption(f"{colours}A row each system, the highest mean label on top; point at one for its name.")
    repeats.opened(study, row, panel)
