"""Choose a judge and see the rubrics on which it departs from the others, with their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from ...analysis.stage import stage
from ...judges.departures import Departures, departures_of, departures_sentence
from .. import table_widgets, widgets
from ..text import plain
from .opened import table_and_rubric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..loaders import Study

_number = st.column_config.NumberColumn
COLUMNS: dict[str, Any] = {
    "rubric": "rubric",
    "departs": _number("departs", format="localized", help="Systems on which its label is not the others'"),
    "compared": _number("of", format="localized", help="Systems with its label and a majority of the others"),
    "share": _number("share", format="percent"),
    "query": "query",
}


@stage(title="Comparing each judge with the others", heavy=True)
def departures(study: Study) -> Departures:
    """Departures from the majority of the other judges, by rubric and judge."""
    return departures_of(study.panel("binary"))


def chooses(study: Study, names: Iterable[str]) -> Callable[[widgets.Mark], None]:
    """A callback for a chart with a row per judge: a click chooses that judge. names: the judges in the rows' order."""
    rows = tuple(names)

    def clicked(mark: widgets.Mark) -> None:
        st.session_state[_key(study)] = rows[int(np.clip(np.rint(mark.y), 0, len(rows) - 1))]

    return clicked


def _key(study: Study) -> str:
    return f"judge that departs {study.fingerprint}"


def section(study: Study, names: tuple[str, ...]) -> None:
    """Show the rubrics on which a judge departs from the others; a click opens one. Nothing without the labels."""
    if not study.dataset.has_labels:
        return
    found, two = departures(study), len(names) == 2
    st.markdown(
        "**Where do the judges differ?**" if two else "**Where does a judge depart from the others?**"
    )
    judge = 0
    if not two:
        share = found.departs.sum(axis=0) / np.maximum(found.compared.sum(axis=0), 1)
        name = st.selectbox("Judge", names, index=int(share.argmax()), key=_key(study), width=400)
        judge = names.index(name)
    rubrics = study.reduction().rubrics
    graded = bool((rubrics["scale_max"] - rubrics["scale_min"] > 1).any())
    levels = " Graded labels count as pass or fail here." if graded else ""
    st.caption(plain(departures_sentence(found, judge, names[judge]) + levels))
    departs, compared = found.departs[:, judge], found.compared[:, judge]
    share = departs / np.maximum(compared, 1)
    rows = np.lexsort((-share, -departs))[: int((departs > 0).sum())]
    if not len(rows):
        return
    table = rubrics.iloc[rows][["rubric", "query"]]
    table = table.assign(departs=departs[rows], compared=compared[rows], share=share[rows]).set_axis(rows)

    def chosen() -> int | None:
        row = table_widgets.pick_one(table, COLUMNS, key=f"departures of {names[judge]}", rows=11)
        table_widgets.download("Download departures.csv", table, "departures.csv")
        return row

    table_and_rubric(study, chosen, "Choose a rubric to see its labels.")
