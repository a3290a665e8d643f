"""Dataset and settings of all pages: one object in the session, written to every page's address and read from it.

Streamlit's own binding of widgets to the URL loses them on the way to another page, and cannot set them all at once,
which a preset does. So each widget shows what the session holds, and changes it; an address says what differs from
the nearest preset, as the command line does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import streamlit as st

from ..declarations import Group, Spec, Switch
from ..settings import LOWEST_TAU, PRESETS, SPECS, Preset, Priors, Settings, Strategy
from .settings_address import NAMES, PRIORS, read_settings, spelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streamlit.delta_generator import DeltaGenerator

    from ..settings import Strategy

DEFAULTS = Settings()
STRATEGIES: Mapping[Strategy, str] = {
    "pairs": "pairs",
    "greedy": "greedy (paper)",
    "plain": "most informative",
    "hard_random": "unanimous, at random",
    "random": "any, at random",
}
FIRST = ("model", "strategy", "gate", "basis", "confidence")
TABS: Mapping[str, tuple[Group, ...]] = {
    "Gate": ("gate",),
    "Labels": ("labels", "scoring"),
    "Model": ("model",),
    "Ranking": ("ranking", "bank"),
}
SHOWN_PRESETS: Mapping[Preset, str] = {"robust": "Robust", "paper": "As in the paper"}
LEFT_END = -0.5  # of the slider of tau_c: hardly a rubric is below
_HELD, _WRITTEN = "settings held", "settings written"
_ANOTHER = "another dataset"
_FOLLOWS: Mapping[str, Mapping[str, Any]] = {
    "gate": {"tau_c": None},
    "alpha": {"prior": "fixed"},
    "beta": {"prior": "fixed"},
}
"""What changes with a setting: a threshold belongs to one statistic, prior counts to a fixed prior."""
_BARS = ("tau_c", "budget", "tau_t")  # sliders of their own

Quarter = Callable[[Settings], float]
"""The threshold that drops the lowest quarter of the rubrics; NaN where the gate is off."""


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
    session, given = st.session_state, st.query_params.get("dataset")
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


def settings_bar(rubrics: int, quarter: Quarter, *, show_tau_t: bool = False) -> Settings:
    """Two sliders, the presets, and the rest of the settings behind a button; one row above what they change.

    The second slider is the bank size, or tau_t where queries are ``show_tau_t``.
    """
    settings = held_settings()
    left, middle, preset, right = st.columns([4, 4, 3, 2], gap="medium", vertical_alignment="bottom")
    _threshold(left, settings, quarter)
    if show_tau_t:
        _share(middle, "tau_t", settings)
    else:
        _budget(middle, settings, rubrics)
    with preset:
        _presets(settings)
    with right.popover("Settings", width="stretch"):
        for name in FIRST:
            _widget(name, SPECS[name], getattr(settings, name))
        with st.expander("More settings"):
            for tab, groups in zip(st.tabs(list(TABS)), TABS.values(), strict=True):
                with tab:
                    _group(groups, settings, show_tau_t=show_tau_t)
    return replace(settings, budget=min(settings.budget, max(rubrics, 2)))


def held_settings() -> Settings:
    """The settings of this session; an address that somebody followed or typed goes before them."""
    session, given = st.session_state, _given()
    if given and given != session.get(_WRITTEN) and not session.pop("settings moved", False):
        session[_HELD] = read_settings(given)
    settings: Settings = session.setdefault(_HELD, DEFAULTS)
    session["settings moved"] = False
    session[_WRITTEN] = spelled(settings)
    _write(dict.fromkeys(NAMES) | session[_WRITTEN])
    return settings


def _given() -> dict[str, str]:
    return {name: st.query_params[name] for name in NAMES if name in st.query_params}


def _write(values: Mapping[str, str | None]) -> None:
    """Put these into the page's address, or take them out of it."""
    for name, value in values.items():
        if value is None:
            st.query_params.pop(name, None)
        elif st.query_params.get(name) != value:
            st.query_params[name] = value


def _change(name: str) -> None:
    """A widget was moved: hold what it shows."""
    session = st.session_state
    settings, value = session.get(_HELD, DEFAULTS), session[name]
    session["settings moved"] = True
    if name in PRIORS:
        session[_HELD] = replace(settings, priors=replace(settings.priors, **{name: value or None}))
    elif name == "c_prior":
        session[_HELD] = replace(
            settings, priors=replace(settings.priors, c_beta=Priors().c_beta if value else None)
        )
    else:
        more = _FOLLOWS.get(name, {})
        session[_HELD] = replace(settings, **{name: value}, **more)


def _preset_change() -> None:
    session = st.session_state
    chosen: Preset | None = session["preset choice"]
    if chosen is not None:
        wanted = Settings.preset(chosen)
        session["settings moved"] = True
        session[_HELD] = replace(
            session.get(_HELD, DEFAULTS), **{name: getattr(wanted, name) for name in PRESETS["paper"]}
        )


def preset_of(settings: Settings) -> Preset | None:
    """The preset that the settings are, all that presets leave open aside; None for a mixture."""
    for name in get_args(Preset):
        wanted = Settings.preset(name)
        if all(getattr(settings, field) == getattr(wanted, field) for field in PRESETS["paper"]):
            found: Preset = name
            return found
    return None


def _presets(settings: Settings) -> None:
    st.session_state["preset choice"] = preset_of(settings)
    st.segmented_control(
        "Method",
        list(SHOWN_PRESETS),
        format_func=lambda name: SHOWN_PRESETS[name],
        key="preset choice",
        on_change=_preset_change,
        help="Robust: the defaults. As in the paper: Algorithm 1 as printed. Neither: a mixture.",
    )


def _threshold(place: DeltaGenerator, settings: Settings, quarter: Quarter) -> None:
    """The slider of tau_c; it stands at the threshold that drops the lowest quarter until it is moved."""
    low, spec, title = max(LOWEST_TAU[settings.gate], LEFT_END), SPECS["tau_c"], SPECS["tau_c"].title
    at = settings.tau_c
    if at is None:
        at, title = quarter(settings), f"{title}: drops the lowest quarter by {settings.gate}"
    at = float(np.clip(np.floor(100 * np.nan_to_num(at, nan=low)) / 100, low, 1))
    st.session_state["tau_c"] = round(at, 2)
    place.slider(title, low, 1.0, step=spec.step, key="tau_c", help=spec.help, **_moves("tau_c"))


def _share(place: DeltaGenerator, name: str, settings: Settings) -> None:
    spec = SPECS[name]
    st.session_state[name] = getattr(settings, name)
    place.slider(spec.title, 0.0, 1.0, step=spec.step, key=name, help=spec.help, **_moves(name))


def _budget(place: DeltaGenerator, settings: Settings, rubrics: int) -> None:
    spec, most = SPECS["budget"], max(rubrics, 2)
    st.session_state["budget"] = min(settings.budget, most)
    place.slider(spec.title, 1, most, key="budget", help=spec.help, **_moves("budget"))


def _group(groups: tuple[Group, ...], settings: Settings, *, show_tau_t: bool) -> None:
    """The settings of a tab that are not shown elsewhere."""
    if "gate" in groups and settings.tau_c is not None:
        st.button("Drop the lowest quarter", on_click=_drop_quarter)
    for name, spec in SPECS.items():
        if spec.group in groups and name not in FIRST and name not in _BARS:
            _widget(name, spec, getattr(settings, name))
    if "scoring" in groups and not show_tau_t:
        _share(st.container(), "tau_t", settings)
    if "model" in groups:
        for name, spec in PRIORS.items():
            _widget(name, spec, getattr(settings.priors, name) or 0.0)
        _widget("c_prior", C_PRIOR, settings.priors.c_beta is not None)


C_PRIOR = Switch("Prior of c", "That of the guessing rate c (3PL) is centred on .2.", "model")


def _drop_quarter() -> None:
    st.session_state["settings moved"] = True
    st.session_state[_HELD] = replace(st.session_state[_HELD], tau_c=None)


def _widget(name: str, spec: Spec, value: Any) -> None:
    """The widget of a setting by its declaration, at the value that the session holds."""
    st.session_state[name] = value
    options: list[Any] = list(spec.choices or spec.offered)
    if isinstance(spec, Switch):
        st.checkbox(spec.title, key=name, help=spec.help, **_moves(name))
    elif options:
        if value not in options:
            options = sorted([*options, value])
        st.selectbox(spec.title, options, key=name, help=spec.help, **_moves(name))
    elif spec.whole:
        st.number_input(
            spec.title,
            int(spec.low or 0),
            int(spec.most or 1000),
            step=1,
            key=name,
            help=spec.help,
            **_moves(name),
        )
    else:
        low = 0.0 if spec.none else 0.01
        st.number_input(spec.title, low, 1000.0, step=0.5, key=name, help=spec.help, **_moves(name))


def _moves(name: str) -> dict[str, Any]:
    return {"on_change": _change, "args": (name,)}
