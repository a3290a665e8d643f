"""The beginning of every page of the analysis: its title, its dataset and its settings."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import streamlit as st

from ..analysis.fitted import with_rules
from . import loaders, state, widgets
from .scenarios import offer_to_save
from .settings_bar import settings_bar
from .text import plain, shorten

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from ..composition import Composition
    from ..labels.store.dataset import Dataset
    from ..settings import Settings
    from ..types import Progress

PAUSE = 0.5  # seconds between two messages of progress


@dataclass(frozen=True, kw_only=True)
class StudyPage(loaders.Study):
    """A study on a page. place: where the page's first line is shown. rubrics: number of rubrics of the dataset."""

    place: DeltaGenerator
    rubrics: int

    def answer(self, *sentences: str) -> None:
        """Show the answer to the page's question in its first line; replaces an earlier answer."""
        widgets.answer(self.place, *sentences)

    def now(self) -> StudyPage:
        """The study under the session's present settings, for a part of the page.

        The whole page is rerun if the dataset has changed.
        """
        if loaders.fingerprints().get(self.dataset.name) != self.fingerprint:
            st.rerun()
        settings = replace(_held(self.rubrics), composition=self.settings.composition)
        return replace(self, settings=with_rules(self.dataset, settings))


def open_study(title: str, *, settings: bool = True, show_tau_t: bool = False) -> StudyPage:
    """Show the title, the choice of the dataset and the settings; return the study.

    The script ends here, with a link to the data, if there is no dataset, no label, or the dataset no longer exists.
    settings: whether to show the settings. show_tau_t: show tau_t in place of the bank size.
    """
    heading, place = st.empty(), st.empty()
    heading.title(title, anchor=False)
    state.arrive()
    found = loaders.datasets()
    names = found["name"].tolist()
    if not names:
        place.header("No dataset yet.", anchor=False)
        st.write("Load the demo study, or upload a table of judge labels.")
        _end_at_data()
    gone = state.gone(names)
    if gone is not None:
        place.header(f"There is no dataset “{plain(shorten(gone, 80))}” here.", anchor=False)
        st.write(
            "It was renamed or deleted, or the address is of another workspace. Nothing is shown in its place."
        )
        state.pick_another(names)
        _end()
    # One container for all messages during a computation, so that later widgets keep their place and what is typed.
    with state.one_step(), st.container():
        row = found.iloc[names.index(state.pick_dataset(names))]
        heading.title(f"{title} · {plain(shorten(row['name'], 60))}", anchor=False)
        if not row["labels"]:
            place.header("No labels yet.", anchor=False)
            st.write(
                f"Upload a table of judge labels for “{plain(shorten(row['name'], 60))}” on the Data page."
            )
            _end_at_data()
        dataset, fingerprint = loaders.workspace().dataset(row["name"]), row["fingerprint"]
        rubrics = int(row["rubrics"])
        state.held_settings(max(rubrics, 2))
        composition = state.held_composition(row["name"])
        if settings:
            settings_bar(rubrics, partial(_under, dataset, fingerprint, composition), show_tau_t=show_tau_t)
            offer_to_save(row["name"], title.lower().replace(" ", "_"))
        chosen = _held(rubrics)
        state.warn_of_ignored_parameters()
    if composition is not None:
        where = (
            "the parts below show how, and reset it"
            if title == "Bank"
            else "the Bank page shows how, and resets it"
        )
        st.caption(f"The bank is composed by hand; {where}.")
        chosen = replace(chosen, composition=composition)
    if chosen.rules is not None:
        st.caption("Scores are by the rules of a scenario, not by those of the dataset.")
        st.button("Score by the dataset's rules", on_click=_own_rules)
    study = StudyPage(
        dataset=dataset,
        fingerprint=fingerprint,
        settings=with_rules(dataset, chosen),
        place=place,
        rubrics=rubrics,
    )
    return study if study.progress is None else replace(study, progress=paced(study.progress))


def _end_at_data() -> NoReturn:
    """End the page with a link to the Data page."""
    st.page_link(loaders.PAGES / "data.py", label="To the data", icon=":material/arrow_forward:")
    _end()


def _end() -> NoReturn:
    """End the page here, after the warning about ignored parameters, which would otherwise appear on the next page."""
    state.warn_of_ignored_parameters()
    st.stop()


def _own_rules() -> None:
    state.hold_settings(replace(state.held(), rules=None))


def _held(rubrics: int) -> Settings:
    """The session's settings, with a budget of at most the number of rubrics (at least 2)."""
    settings = state.held_settings()
    return replace(settings, budget=min(settings.budget, max(rubrics, 2)))


def paced(tell: Progress, pause: float = PAUSE) -> Progress:
    """``tell`` limited to one message in ``pause`` seconds, because each message makes the browser redraw the page.

    Work that takes less than ``pause`` seconds sends no message.
    """
    last = time.monotonic()

    def report(share: float, what: str) -> None:
        nonlocal last
        if time.monotonic() - last >= pause:
            last = time.monotonic()
            tell(share, what)

    return report


def _under(
    dataset: Dataset, fingerprint: str, composition: Composition | None, settings: Settings
) -> loaders.Study:
    """The study of the dataset under these settings and this composition."""
    asked = with_rules(dataset, replace(settings, composition=composition))
    return loaders.Study(dataset=dataset, fingerprint=fingerprint, settings=asked)
