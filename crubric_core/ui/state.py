"""Dataset, settings and chosen systems: held by the session, written to every page's address and read from it.

Streamlit's own binding of widgets to the URL loses them on the way to another page, and cannot set them all at once,
which a preset does. So each widget shows what the session holds, and changes it; an address says what differs from
the nearest preset, as the command line does.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import streamlit as st

from ..composition import Composition
from ..errors import SettingsError
from ..settings import Settings
from .settings_address import NAMES, read_settings, spelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DEFAULTS = Settings()
_HELD, _WRITTEN = "settings held", "settings written"
_BARE = "address bare"  # the run began without a dataset in the address: somebody came by the navigation
_ANOTHER = "another dataset"
COMPOSITION = "composition"
LONGEST_COMPOSITION = 1_200  # characters of an address
_COMPOSED, _COMPOSED_WRITTEN, _COMPOSED_MOVED = (
    f"composition {part}" for part in ("held", "written", "moved")
)
_WAITING: ContextVar[dict[str, str | None] | None] = ContextVar("address waiting", default=None)


def arrive() -> None:
    """Before anything of the address is read: whether it says anything at all.

    One that names a dataset is a bookmark, a reload, or a step back: what it leaves out is meant to be left out. One
    without comes from the navigation: then the session knows better.
    """
    st.session_state[_BARE] = "dataset" not in st.query_params


def keep_address() -> None:
    """Keep dataset and settings in the address of a page that needs neither, so that a reload loses nothing."""
    arrive()
    if (held := _held_dataset()) is not None:
        st.session_state["dataset held"] = st.session_state["dataset written"] = held
        with one_step():
            _write({"dataset": held})
            held_settings()


def held_dataset() -> str | None:
    """The dataset that this session holds, if any."""
    held: str | None = st.session_state.get("dataset held")
    return held


def gone(names: Sequence[str]) -> str | None:
    """The dataset that this session or its address asks for, where there is none of that name."""
    held = _held_dataset()
    return held if held is not None and held not in names else None


def pick_another(names: Sequence[str]) -> None:
    """A choice among the datasets that there are, in place of one that is gone; the page then restarts."""

    def take() -> None:
        show_dataset(st.session_state.pop(_ANOTHER))

    st.selectbox("Dataset", list(names), index=None, placeholder="Choose one", key=_ANOTHER, on_change=take)


def _held_dataset() -> str | None:
    """What the address asks for where it is another than this session wrote, else what the session holds."""
    session, given = st.session_state, _address("dataset")
    if given is not None and given != session.get("dataset written") and not session.get("dataset moved"):
        session["dataset held"] = given
    held: str | None = session.get("dataset held")
    return held


def pick_dataset(names: Sequence[str]) -> str:
    """The dataset of every page, chosen in the side bar; ``names`` is not empty."""
    held = _held_dataset()
    session = st.session_state
    session["dataset"] = held if held in names else names[0]
    chosen: str = st.sidebar.selectbox("Dataset", list(names), key="dataset", on_change=_dataset_change)
    session["dataset moved"] = False
    session["dataset held"] = session["dataset written"] = chosen
    _write({"dataset": chosen})
    return chosen


def show_dataset(name: str) -> None:
    """From now on the pages show this dataset."""
    st.session_state["dataset held"], st.session_state["dataset moved"] = name, True


def _dataset_change() -> None:
    show_dataset(st.session_state["dataset"])


def held_settings() -> Settings:
    """The settings of this session; an address that somebody followed or typed goes before them."""
    session, given = st.session_state, _given()
    has_given = bool(given) or not session.get(_BARE, True)
    if has_given and given != session.get(_WRITTEN) and not session.get("settings moved"):
        session[_HELD] = read_settings(given)
    settings: Settings = session.setdefault(_HELD, DEFAULTS)
    session["settings moved"] = False
    session[_WRITTEN] = spelled(settings)
    _write(dict.fromkeys(NAMES) | session[_WRITTEN])
    return settings


def held() -> Settings:
    """The settings that this session holds."""
    found: Settings = st.session_state.get(_HELD, DEFAULTS)
    return found


def hold_settings(settings: Settings) -> None:
    """From now on the pages use these."""
    st.session_state[_HELD], st.session_state["settings moved"] = settings, True


def held_system(name: str, known: Sequence[str]) -> str | None:
    """The system that a parameter of the address names, kept as dataset and settings are; None if none, or unknown."""
    session, given = st.session_state, _address(name)
    held, written, moved = (f"{name} {part}" for part in ("held", "written", "moved"))
    has_given = given is not None or not session.get(_BARE, True)
    if has_given and given != session.get(written) and not session.get(moved):
        session[held] = given
    found: str | None = session.get(held)
    found = found if found in known else None
    session[moved], session[written] = False, found
    _write({name: found})
    return found


def hold_system(name: str, system: str | None) -> None:
    """From now on that parameter names this system, or none."""
    st.session_state[f"{name} held"], st.session_state[f"{name} moved"] = system, True


def held_composition(dataset: str) -> Composition | None:
    """What this session asks of the dataset's bank; an address goes before it, and says it where it is short."""
    session, given = st.session_state, _address(COMPOSITION)
    every: dict[str, Composition] = session.setdefault(_COMPOSED, {})
    told = given is not None or not session.get(_BARE, True)
    if told and given != session.get(_COMPOSED_WRITTEN) and not session.get(_COMPOSED_MOVED):
        try:
            found = Composition.from_json(given) if given else Composition()
        except SettingsError:  # an address that somebody typed wrong asks for nothing
            found = Composition()
        session[_COMPOSED] = every = every | {dataset: found}
    composition = every.get(dataset) or None
    text = "" if composition is None else json.dumps(composition.as_dict(), separators=(",", ":"))
    written = text if 0 < len(text) <= LONGEST_COMPOSITION else None
    session[_COMPOSED_MOVED], session[_COMPOSED_WRITTEN] = False, written
    _write({COMPOSITION: written})
    return composition


def hold_composition(dataset: str, composition: Composition | None) -> None:
    """From now on the pages compose the dataset's bank so."""
    every: dict[str, Composition] = st.session_state.get(_COMPOSED, {})
    st.session_state[_COMPOSED] = every | {dataset: composition or Composition()}
    st.session_state[_COMPOSED_MOVED] = True


def _given() -> dict[str, str]:
    given = {name: _address(name) for name in NAMES}
    return {name: value for name, value in given.items() if value is not None}


def _address(name: str) -> str | None:
    """What the page's address says, or will say at the end of ``one_step``."""
    waiting = _WAITING.get() or {}
    return waiting[name] if name in waiting else st.query_params.get(name)


def _write(values: Mapping[str, str | None]) -> None:
    """Put these into the page's address, or take them out of it; within ``one_step`` at its end."""
    if (waiting := _WAITING.get()) is not None:
        waiting.update(values)
        return
    changed = {name: value for name, value in values.items() if st.query_params.get(name) != value}
    if given := {name: value for name, value in changed.items() if value is not None}:
        st.query_params.update(given)
    for name in sorted(changed.keys() - given.keys()):
        st.query_params.pop(name)


@contextmanager
def one_step() -> Iterator[None]:
    """Write to the address at once what is written meanwhile.

    The browser takes every change of the address for a step, so that Back would stop at half of the settings.
    """
    waiting: dict[str, str | None] = {}
    before = _WAITING.set(waiting)
    try:
        yield
    finally:
        _WAITING.reset(before)
        _write(waiting)
