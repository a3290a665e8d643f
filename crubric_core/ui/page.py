"""What every page of the analysis begins with: its title, its dataset, its settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from ..analysis.pipeline import with_rules
from . import loaders, state, widgets

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from ..settings import Settings


@dataclass(frozen=True)
class StudyPage(loaders.Study):
    """A study and the place of the page's first line."""

    place: DeltaGenerator

    def answer(self, *sentences: str) -> None:
        """The page's question answered in figures of this dataset."""
        widgets.answer(self.place, *sentences)


def open_study(title: str, *, settings: bool = True, typing: bool = False) -> StudyPage:
    """Title, dataset picker and settings; without any dataset the page ends here, with a way on.

    ``typing`` shows tau_t in place of the bank size.
    """
    st.title(title, anchor=False)
    place = st.empty()
    found = loaders.datasets()
    names = found["name"].tolist()
    if not names:
        place.header("No dataset yet.", anchor=False)
        st.write("Load the demo study, or upload a table of judge labels.")
        st.page_link(loaders.PAGES / "data.py", label="To the data", icon="➡️")
        st.stop()
    row = found.iloc[names.index(state.pick_dataset(names))]
    chosen: Settings = state.settings_bar(int(row["rubrics"]), typing=typing) if settings else state.DEFAULTS
    dataset = loaders.workspace().dataset(row["name"])
    return StudyPage(dataset, row["fingerprint"], with_rules(dataset, chosen), place)
