"""One rubric opened: its text, the labels of all judges, and what judges and systems said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from ...figures import measurability as figures
from .. import loaders, widgets
from ..charts import drawn
from ..text import plain, shorten
from . import repeats

if TYPE_CHECKING:
    from ..loaders import Study


def show_rubric(study: Study, row: int) -> None:
    """The rubric at position ``row`` of the study's rubrics."""
    facts, reduction = loaders.facts(study), study.reduction()
    rubric = reduction.rubrics.iloc[row]
    st.markdown(f"**{plain(shorten(rubric['rubric']))}**")
    if isinstance(rubric["text"], str):
        st.text(shorten(rubric["text"], 300))
    widgets.show(
        drawn(
            figures.label_grid,
            loaders.rubric_panel(study, row),
            loaders.rubric_panel(study, row, "ordered") + rubric["scale_min"],
            facts.systems,
            facts.judges,
            int(reduction.levels[row]),
        ),
        alt="Labels of the chosen rubric, systems by judges",
    )
    if len(facts.systems) > figures.MOST_NAMED:
        colours = "Blue: pass, orange: fail. " if reduction.levels[row] == 2 else ""
        st.caption(f"{colours}A row each system, the highest mean label on top; point at one for its name.")
    if rubric["polarity"] < 0:
        st.caption(
            "Negative polarity: meeting this rubric is bad. Its labels are shown reversed, as they count."
        )
    repeats.opened(study, row, loaders.rubric_panel(study, row))
