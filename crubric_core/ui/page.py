"""What every page of the analysis begins with: its title, its dataset, its settings."""

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

PAUSE = 0.5  # seconds between two words of progress


@dataclass(frozen=True, kw_only=True)
class StudyPage(loaders.Study):
    """A study, the place of the page's first line, and how many rubrics the dataset has."""

    place: DeltaGenerator
    rubrics: int

    def answer(self, *sentences: str) -> None:
        """The page's question answered in figures of this dataset."""
        widgets.answer(self.place, *sentences)

    def now(self) -> StudyPage:
        """The study under the settings that the session holds now, for a part; the page starts anew if it changed."""
        if loaders.fingerprints().get(self.dataset.name) != self.fingerprint:
            st.rerun()
        settings = replace(_held(self.rubrics), composition=self.settings.composition)
        return replace(self, settings=with_rules(self.dataset, settings))


def open_study(title: str, *, settings: bool = True, show_tau_t: bool = False) -> StudyPage:
    """Title with the dataset, picker and settings; without any dataset the page ends here, with a way on.

    ``show_tau_t`` shows tau_t in place of the bank size.
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
    # One element, whatever is said in it while something is computed: what follows keeps its place, and what is typed.
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
        state.say_ignored()
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
    """End the page with the way to where labels are read."""
    st.page_link(loaders.PAGES / "data.py", label="To the data", icon=":material/arrow_forward:")
    _end()


def _end() -> NoReturn:
    """End the page here; what of its address is ignored would otherwise be named on the next one."""
    state.say_ignored()
    st.stop()


def _own_rules() -> None:
    state.hold_settings(replace(state.held(), rules=None))


def _held(rubrics: int) -> Settings:
    """What the session holds, with a bank no larger than the slider has it."""
    settings = state.held_settings()
    return replace(settings, budget=min(settings.budget, max(rubrics, 2)))


def paced(tell: Progress, pause: float = PAUSE) -> Progress:
    """Say how far the work is at most once in ``pause`` seconds: each word makes the browser go through the page anew.

    No work that ends sooner says anything.
    """
    last = time.monotonic()

    def told(share: float, what: str) -> None:
        nonlocal last
        if time.monotonic() - last >= pause:
            last = time.monotonic()
            tell(share, what)

    return told


def _under(
    dataset: Dataset, fingerprint: str, composition: Composition | None, settings: Settings
) -> loaders.Study:
    """The dataset under these settings and this composition."""
    asked = with_rules(dataset, replace(settings, composition=composition))
    return loaders.Study(dataset=dataset, fingerprint=fingerprint, settings=asked)
