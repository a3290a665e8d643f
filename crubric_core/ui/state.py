"""Dataset, settings and chosen systems: held by the session, written to every page's address and read from it.

Streamlit's own binding of widgets to the URL loses them on the way to another page, and cannot set them all at once,
as a preset needs. So each widget shows and changes the value that the session holds. An address contains the settings
that differ from the nearest preset, as on the command line.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from ..composition import Composition
from ..errors import SettingsError
from ..server.streamlit_internals import is_step_back
from ..settings import Settings
from .parts import current_page
from .settings_address import NAMES, ignored_settings, read_settings, spelled
from .text import plain, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

DEFAULTS = Settings()
COMPOSITION = "composition"
SYSTEM, VERSUS = "system", "versus"  # the system with the open profile, and the one compared with it
SEARCH, FIND = "search", "find"  # words of the search for rubrics, and for systems
EXPERIMENT = "experiment"  # by its name on the command line
BAR = "bar"  # a value within the bar of a histogram whose rubrics are listed
WRITTEN = ("publish title", "publish note")  # keys of texts that the user writes about a dataset
LONGEST_COMPOSITION = 1_200  # most characters of a composition in an address
SHOWN = frozenset(
    (
        *("beside", "compose", "dimensions", "first", "groups", "held_out", "items", "larger", "more"),
        *("only changes", "part", "second", "side", "source", "systems", "tiers", "typed", "view", "which"),
        *("why", "why two"),
    )
)
"""Further parameters of an address, for widgets of the pages; a filter by a column of facts begins with FACT."""
FACT = "fact "
_HELD = {
    name: f"{name} held"
    for name in ("settings", "dataset", COMPOSITION, SYSTEM, VERSUS, SEARCH, FIND, BAR, EXPERIMENT)
}
_MOVED = "settings moved"
_ASKED = "asked by the address"  # names that this run shall read from the address and has not read yet
_TOLD = "address told"  # the page, and the parameters last sent to the browser
_ANOTHER = "another dataset"
_IGNORED = "ignored in the address"
_WAITING: ContextVar[dict[str, str | None] | None] = ContextVar("address waiting", default=None)


def arrive() -> None:
    """Decide what this run of the page shall read from the address; call it before anything is read.

    These are the values that the session does not hold yet, as in a new session after a bookmark, a reload or a typed
    address, and all values after a step back or forward. Otherwise the session is right: an address from the
    navigation has no parameters, and on quick moves the browser sends an outdated address.
    """
    session = st.session_state
    if back := is_step_back():
        session.pop(_TOLD, None)
    is_all = back and "dataset" in st.query_params
    is_first = _ASKED not in session
    session[_ASKED] = {name for name, key in _HELD.items() if is_all or key not in session}
    if is_first or is_all:
        ours = {*NAMES, *_HELD, *SHOWN}
        unknown = (name for name in st.query_params if name not in ours and not name.startswith(FACT))
        ignore(*(f"{name}={st.query_params[name]}" for name in unknown))


def keep_address() -> None:
    """Keep dataset and settings in the address of a page that uses neither, so that a reload does not lose them."""
    arrive()
    with one_step():
        _write({"dataset": (dataset := held_dataset())})
        if dataset is not None:
            held_settings()
    warn_of_ignored_parameters()


def held_dataset() -> str | None:
    """The name of the dataset that this session holds, or None; the address overrides it if it is to be read."""
    if _is_asked("dataset") and (given := st.query_params.get("dataset")) is not None:
        asked = st.session_state[_ASKED]
        show_dataset(given)
        # show_dataset drops values of the dataset before; the address may set them again.
        st.session_state[_ASKED] = asked - {"dataset"}
    dataset: str | None = st.session_state.get(_HELD["dataset"])
    return dataset


def gone(names: Sequence[str]) -> str | None:
    """The dataset that this session or its address names, if it is not among ``names``; else None.

    The address keeps it, so that a reload does not show another dataset in its place.
    """
    dataset = held_dataset()
    if dataset is None or dataset in names:
        return None
    with one_step():
        _write({"dataset": dataset})
        held_settings()
    return dataset


def pick_another(names: Sequence[str]) -> None:
    """Show a choice of an existing dataset in place of one that no longer exists."""

    def take() -> None:
        show_dataset(st.session_state.pop(_ANOTHER))

    st.selectbox("Dataset", list(names), index=None, placeholder="Choose one", key=_ANOTHER, on_change=take)


def pick_dataset(names: Sequence[str]) -> str:
    """Show the choice of the dataset of all pages in the side bar; return its name. names: not empty."""
    dataset, session = held_dataset(), st.session_state
    session["dataset"] = dataset if dataset in names else names[0]
    chosen: str = st.sidebar.selectbox("Dataset", list(names), key="dataset", on_change=_dataset_change)
    session[_HELD["dataset"]] = chosen
    _write({"dataset": chosen})
    return chosen


def show_dataset(name: str) -> None:
    """Show this dataset on the pages from now on; searches and chosen systems of another dataset are dropped."""
    session = st.session_state
    if session.get(_HELD["dataset"], name) != name:
        session[_HELD[SEARCH]] = session[_HELD[FIND]] = session[_HELD[BAR]] = ""
        hold_system(SYSTEM, None)
        hold_system(VERSUS, None)
        if held().rules is not None:
            hold_settings(replace(held(), rules=None))
    session[_HELD["dataset"]] = name
    _forget("dataset")


def _dataset_change() -> None:
    """Callback: show the dataset that was picked, and clear filters and texts for the one before."""
    session = st.session_state
    show_dataset(session["dataset"])
    for key in map(str, session):
        if key == "tiers" or key.startswith(FACT):
            session[key] = []
        elif key in WRITTEN:
            session[key] = ""


def held_settings(most: int | None = None) -> Settings:
    """The settings of this session; the address overrides them if it is to be read, without its invalid values.

    most: limit of the bank size in the address; a larger one is reduced to it.
    """
    if _is_asked("settings"):
        given = {name: st.query_params[name] for name in NAMES if name in st.query_params}
        hold_settings(asked := address_settings())
        ignore(*ignored_settings(given))
        if most is not None and "budget" in given and asked.budget > most:
            hold_settings(replace(asked, budget=most))
            ignore(f"budget={asked.budget} ({most:,} in its place)")
    settings = held()
    st.session_state[_MOVED] = False
    _write(dict.fromkeys(NAMES) | spelled(settings))
    return settings


def address_settings() -> Settings:
    """The settings in the address that the browser had when it sent the message that started this run.

    Missing and invalid values have their defaults.
    """
    return read_settings({name: st.query_params[name] for name in NAMES if name in st.query_params})


def held() -> Settings:
    """The settings that this session holds."""
    found: Settings = st.session_state.get(_HELD["settings"], DEFAULTS)
    return found


def moved() -> bool:
    """Whether a widget changed the settings since the page last read them."""
    return bool(st.session_state.get(_MOVED))


def hold_settings(settings: Settings) -> None:
    """Use these settings on the pages from now on."""
    st.session_state[_HELD["settings"]], st.session_state[_MOVED] = settings, True
    _forget("settings")


def ignore(*parameters: str) -> None:
    """Note parameters of the address that are ignored; ``warn_of_ignored_parameters`` shows them."""
    st.session_state[_IGNORED] = [*st.session_state.get(_IGNORED, ()), *parameters]


def warn_of_ignored_parameters() -> None:
    """Show one warning with the ignored parameters of the address, once."""
    if ignored := st.session_state.pop(_IGNORED, None):
        named = ", ".join(plain(shorten(each, 60)) for each in ignored)
        st.warning(f"Ignored in the address, as there is no such choice here: {named}.")


def check_choices(name: str, known: Iterable[str]) -> None:
    """Show once which values of a parameter in the address are unknown; call it before its widget is made."""
    asked = set(st.query_params.get_all(name)) - set(known)
    ignore(*(f"{name}={value}" for value in sorted(asked)))
    warn_of_ignored_parameters()


def drop_unknown(name: str, known: Sequence[str], usual: str) -> None:
    """Reset a widget's value to ``usual`` if it is unknown, as after another dataset; call it before it is made."""
    if st.session_state.get(name, usual) not in known:
        st.session_state[name] = usual


def unknown_system(name: str, known: Sequence[str]) -> str | None:
    """The system that the address names in this parameter, if still to be read and not in ``known``; else None."""
    asked = st.query_params.get(name) if _is_asked(name) else None
    return asked if asked not in known else None


def held_system(name: str, known: Sequence[str]) -> str | None:
    """The system that the session holds for this parameter of the address; None if there is none or it is unknown."""
    if _is_asked(name):
        hold_system(name, st.query_params.get(name))
    found: str | None = st.session_state.get(_HELD[name])
    found = found if found in known else None
    _write({name: found})
    return found


def hold_system(name: str, system: str | None) -> None:
    """Hold this system, or None, for this parameter from now on."""
    st.session_state[_HELD[name]] = system
    _forget(name)


def held_words(name: str) -> str:
    """The text that the session holds for SEARCH, FIND, BAR or EXPERIMENT; "" if there is none."""
    if _is_asked(name):
        hold_words(name, st.query_params.get(name, ""))
    words: str = st.session_state.get(_HELD[name], "")
    _write({name: words or None})
    return words


def hold_words(name: str, words: str) -> None:
    """Hold this text for this parameter from now on."""
    st.session_state[_HELD[name]] = words
    _forget(name)


def held_composition(dataset: str) -> Composition | None:
    """The composition that the session holds for the dataset's bank, or None.

    The address overrides it if it is to be read. It is written to the address if it is short enough.
    """
    if _is_asked(COMPOSITION):
        given = st.query_params.get(COMPOSITION)
        try:
            found = Composition.from_json(given) if given else Composition()
        except SettingsError:  # an invalid text in the address means no composition
            found = Composition()
            ignore(f"{COMPOSITION}={given}")
        hold_composition(dataset, found)
    every: dict[str, Composition] = st.session_state.get(_HELD[COMPOSITION], {})
    composition = every.get(dataset) or None
    text = "" if composition is None else json.dumps(composition.as_dict(), separators=(",", ":"))
    _write({COMPOSITION: text if 0 < len(text) <= LONGEST_COMPOSITION else None})
    return composition


def hold_composition(dataset: str, composition: Composition | None) -> None:
    """Use this composition for the dataset's bank from now on; None: no composition."""
    every: dict[str, Composition] = st.session_state.get(_HELD[COMPOSITION], {})
    st.session_state[_HELD[COMPOSITION]] = every | {dataset: composition or Composition()}
    _forget(COMPOSITION)


def dataset_renamed(old: str, new: str | None) -> None:
    """Update the held dataset and its composition after a renaming. new: None if the dataset was deleted."""
    if held_dataset() == old:
        st.session_state[_HELD["dataset"]] = new
        _forget("dataset")
    every: dict[str, Composition] = st.session_state.get(_HELD[COMPOSITION], {})
    composition = every.get(old)
    hold_composition(old, None)
    if new is not None and composition is not None:
        hold_composition(new, composition)


def _is_asked(name: str) -> bool:
    """Whether this run shall read this name from the address."""
    return name in st.session_state.get(_ASKED, ())


def _forget(name: str) -> None:
    """Do not read this name from the address any more: the session holds it now."""
    st.session_state[_ASKED] = st.session_state.get(_ASKED, set()) - {name}


def _write(values: Mapping[str, str | None]) -> None:
    """Set these parameters in the page's address, or remove those that are None; inside ``one_step`` at its end.

    On quick moves the address in a message is older than the parameters sent since; these are then sent again.
    """
    if (waiting := _WAITING.get()) is not None:
        waiting.update(values)
        return
    session, address = st.session_state, st.query_params
    page, known = session.get(_TOLD, ("", {}))
    told: dict[str, str | None] = known if page == current_page() else {}
    changed = {n: v for n, v in values.items() if address.get(n) != v or told.get(n, v) != v}
    told = {**told, **values}
    session[_TOLD] = current_page(), told
    given = {name: value for name, value in changed.items() if value is not None}
    dropped = changed.keys() - given.keys()
    if dropped and dropped.isdisjoint(address):  # only the browser has them; any update makes it drop them
        given = {name: value for name, value in told.items() if value is not None}
    if given:
        address.update(given)
    for name in sorted(dropped & address.keys()):
        address.pop(name)


@contextmanager
def one_step() -> Iterator[None]:
    """Collect the writes to the address in this context, and write them together at its end.

    The browser takes every change of the address for a step, so Back would otherwise stop at partial settings.
    """
    waiting: dict[str, str | None] = {}
    before = _WAITING.set(waiting)
    try:
        yield
    finally:
        _WAITING.reset(before)
        _write(waiting)
