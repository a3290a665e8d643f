"""Dataset, settings and chosen systems: held by the session, written to every page's address and read from it.

Streamlit's own binding of widgets to the URL loses them on the way to another page, and cannot set them all at once,
which a preset does. So each widget shows what the session holds, and changes it; an address says what differs from
the nearest preset, as the command line does.
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
SYSTEM, VERSUS = "system", "versus"  # shown, and compared with it
SEARCH, FIND = "search", "find"  # words by which rubrics are searched, and systems
EXPERIMENT = "experiment"  # as the command line calls it
BAR = "bar"  # a value within the bar of a histogram whose rubrics are listed
WRITTEN = ("publish title", "publish note")  # keys of texts that are written about a dataset
LONGEST_COMPOSITION = 1_200  # characters of an address
SHOWN = frozenset(
    (
        *("beside", "compose", "dimensions", "first", "groups", "held_out", "items", "larger", "more"),
        *("only changes", "part", "second", "side", "source", "systems", "tiers", "typed", "view", "which"),
        *("why", "why two"),
    )
)
"""The parameters of an address that say what a page shows; a filter by a column of facts begins with FACT."""
FACT = "fact "
_HELD = {
    name: f"{name} held"
    for name in ("settings", "dataset", COMPOSITION, SYSTEM, VERSUS, SEARCH, FIND, BAR, EXPERIMENT)
}
_MOVED = "settings moved"
_ASKED = "asked by the address"  # what is to be read from it, and was not yet
_TOLD = "address told"  # the page, and what the browser was told last of its address
_ANOTHER = "another dataset"
_IGNORED = "ignored in the address"
_WAITING: ContextVar[dict[str, str | None] | None] = ContextVar("address waiting", default=None)


def arrive() -> None:
    """Before anything of the address is read: what of it this run of the page shall read.

    What the session does not hold yet, as after a bookmark, a reload or what somebody types, which begin one; and all
    of it after a step back or forward. Else the session knows better: an address that comes from the navigation says
    nothing, and on quick moves the browser sends the one before the last.
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
    """Keep dataset and settings in the address of a page that needs neither, so that a reload loses nothing."""
    arrive()
    with one_step():
        _write({"dataset": (dataset := held_dataset())})
        if dataset is not None:
            held_settings()
    say_ignored()


def held_dataset() -> str | None:
    """The dataset that this session holds, if any; an address that is read goes before it."""
    if _is_asked("dataset") and (given := st.query_params.get("dataset")) is not None:
        asked = st.session_state[_ASKED]
        show_dataset(given)
        # What another dataset drops, the address may name anew.
        st.session_state[_ASKED] = asked - {"dataset"}
    dataset: str | None = st.session_state.get(_HELD["dataset"])
    return dataset


def gone(names: Sequence[str]) -> str | None:
    """The dataset that this session or its address asks for, where there is none of that name.

    The address keeps it, so that a reload does not show another one in its place.
    """
    dataset = held_dataset()
    if dataset is None or dataset in names:
        return None
    with one_step():
        _write({"dataset": dataset})
        held_settings()
    return dataset


def pick_another(names: Sequence[str]) -> None:
    """A choice among the datasets that there are, in place of one that is gone; the page then restarts."""

    def take() -> None:
        show_dataset(st.session_state.pop(_ANOTHER))

    st.selectbox("Dataset", list(names), index=None, placeholder="Choose one", key=_ANOTHER, on_change=take)


def pick_dataset(names: Sequence[str]) -> str:
    """The dataset of every page, chosen in the side bar; ``names`` is not empty."""
    dataset, session = held_dataset(), st.session_state
    session["dataset"] = dataset if dataset in names else names[0]
    chosen: str = st.sidebar.selectbox("Dataset", list(names), key="dataset", on_change=_dataset_change)
    session[_HELD["dataset"]] = chosen
    _write({"dataset": chosen})
    return chosen


def show_dataset(name: str) -> None:
    """From now on the pages show this dataset; what was searched in another is dropped."""
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
    """Another dataset was picked: what was chosen or written for the one before is no choice for it."""
    session = st.session_state
    show_dataset(session["dataset"])
    for key in map(str, session):
        if key == "tiers" or key.startswith(FACT):
            session[key] = []
        elif key in WRITTEN:
            session[key] = ""


def held_settings(most: int | None = None) -> Settings:
    """The settings of this session; an address that is read goes before them, and what it spells wrong is ignored.

    most: of its bank size, which becomes that where it is more.
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
    """The settings that the address says, as the browser had it when it sent the message that this run answers.

    What it spells wrong has its default.
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
    """From now on the pages use these."""
    st.session_state[_HELD["settings"]], st.session_state[_MOVED] = settings, True
    _forget("settings")


def ignore(*parameters: str) -> None:
    """Note parameters of the address that are ignored, which ``say_ignored`` then tells."""
    st.session_state[_IGNORED] = [*st.session_state.get(_IGNORED, ()), *parameters]


def say_ignored() -> None:
    """One line that names what of the address was ignored, once."""
    if ignored := st.session_state.pop(_IGNORED, None):
        named = ", ".join(plain(shorten(each, 60)) for each in ignored)
        st.warning(f"Ignored in the address, as there is no such choice here: {named}.")


def check_choices(name: str, known: Iterable[str]) -> None:
    """Say which values of a parameter that a widget reads, made after this, are none of the known ones, once."""
    asked = set(st.query_params.get_all(name)) - set(known)
    ignore(*(f"{name}={value}" for value in sorted(asked)))
    say_ignored()


def drop_unknown(name: str, known: Sequence[str], usual: str) -> None:
    """Before a chooser that stands in the address is made: what it showed of another dataset makes way."""
    if st.session_state.get(name, usual) not in known:
        st.session_state[name] = usual


def unknown_system(name: str, known: Sequence[str]) -> str | None:
    """The system that the address asks for by that parameter, before it is read, if it is none of these."""
    asked = st.query_params.get(name) if _is_asked(name) else None
    return asked if asked not in known else None


def held_system(name: str, known: Sequence[str]) -> str | None:
    """The system that a parameter of the address names, kept as dataset and settings are; None if none, or unknown."""
    if _is_asked(name):
        hold_system(name, st.query_params.get(name))
    found: str | None = st.session_state.get(_HELD[name])
    found = found if found in known else None
    _write({name: found})
    return found


def hold_system(name: str, system: str | None) -> None:
    """From now on that parameter names this system, or none."""
    st.session_state[_HELD[name]] = system
    _forget(name)


def held_words(name: str) -> str:
    """The words of a search, SEARCH or FIND, or the value of a BAR, kept as dataset and settings are."""
    if _is_asked(name):
        hold_words(name, st.query_params.get(name, ""))
    words: str = st.session_state.get(_HELD[name], "")
    _write({name: words or None})
    return words


def hold_words(name: str, words: str) -> None:
    """From now on the pages search by these words."""
    st.session_state[_HELD[name]] = words
    _forget(name)


def held_composition(dataset: str) -> Composition | None:
    """What this session asks of the dataset's bank; an address goes before it, and says it where it is short."""
    if _is_asked(COMPOSITION):
        given = st.query_params.get(COMPOSITION)
        try:
            found = Composition.from_json(given) if given else Composition()
        except SettingsError:  # an address that somebody typed wrong asks for nothing
            found = Composition()
            ignore(f"{COMPOSITION}={given}")
        hold_composition(dataset, found)
    every: dict[str, Composition] = st.session_state.get(_HELD[COMPOSITION], {})
    composition = every.get(dataset) or None
    text = "" if composition is None else json.dumps(composition.as_dict(), separators=(",", ":"))
    _write({COMPOSITION: text if 0 < len(text) <= LONGEST_COMPOSITION else None})
    return composition


def hold_composition(dataset: str, composition: Composition | None) -> None:
    """From now on the pages compose the dataset's bank so."""
    every: dict[str, Composition] = st.session_state.get(_HELD[COMPOSITION], {})
    st.session_state[_HELD[COMPOSITION]] = every | {dataset: composition or Composition()}
    _forget(COMPOSITION)


def dataset_renamed(old: str, new: str | None) -> None:
    """The dataset that is shown, and what is asked of its bank, go with it; new: None where the dataset is gone."""
    if held_dataset() == old:
        st.session_state[_HELD["dataset"]] = new
        _forget("dataset")
    every: dict[str, Composition] = st.session_state.get(_HELD[COMPOSITION], {})
    composition = every.get(old)
    hold_composition(old, None)
    if new is not None and composition is not None:
        hold_composition(new, composition)


def _is_asked(name: str) -> bool:
    """Whether the address is to be read for this."""
    return name in st.session_state.get(_ASKED, ())


def _forget(name: str) -> None:
    """The session holds this now, whatever the address says."""
    st.session_state[_ASKED] = st.session_state.get(_ASKED, set()) - {name}


def _write(values: Mapping[str, str | None]) -> None:
    """Put these into the page's address, or take them out of it; within ``one_step`` at its end.

    On quick moves the address that came with a message is older than what the browser was told since: told again.
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
    if dropped and dropped.isdisjoint(address):  # the browser alone has them: whatever is told, it drops them
        given = {name: value for name, value in told.items() if value is not None}
    if given:
        address.update(given)
    for name in sorted(dropped & address.keys()):
        address.pop(name)


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
