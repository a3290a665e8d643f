"""The settings on a page: sliders, presets, and the others behind a button; ``state`` holds their values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import streamlit as st

from ..declarations import Group, Spec, Switch, choice_words
from ..judges.gate import decimals
from ..priors import C_PRIOR
from ..server.streamlit_internals import is_from_own_fragment
from ..settings import LOWEST_TAU, PRESETS, SPECS, Basis, Preset, Priors, Settings, Strategy
from ..task_types.types import SHARES
from ..text import sentence_case
from . import loaders
from .chart_files import choose_format
from .parts import part, redraw, standing_at
from .settings_address import PRIORS
from .state import address_settings, held, held_settings, hold_settings, moved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamlit.delta_generator import DeltaGenerator

    from .loaders import Study

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
BASES: tuple[Basis, ...] = ("all", "bank")
SHOWN_PRESETS: Mapping[Preset, str] = {"robust": "Robust", "paper": "As in the paper"}
BUDGET_STEPS = 60  # steps of the slider of B, before duplicates among the rounded numbers are removed
LEFT_END = -0.5  # lower end of the slider of tau_c: hardly any rubric is below
_FOLLOWS: Mapping[str, Mapping[str, Any]] = {
    "gate": {"tau_c": None},
    "alpha": {"prior": "fixed"},
    "beta": {"prior": "fixed"},
}
"""Setting → values of other settings that change with it: a threshold is for one statistic, counts fix the prior."""
OPEN = "settings open"
"""Session key of the button: whether its popover is open."""
_BARS = ("tau_c", "budget", "tau_t")  # settings with sliders in the bar
BANK_SIZE = "bank size"  # the part with slider and box of B, which show each other's value
_SHOWN, _RECENT = "budgets shown", 8  # the latest values of slider and box of B, the most recent one last
_TAKEN = "budget taken"  # the last values of slider and box of B, and the size that was taken from them

Under = Callable[[Settings], "Study"]
"""A function that returns the study of the dataset under given settings."""


def settings_bar(rubrics: int, under: Under, *, show_tau_t: bool = False) -> None:
    """Show a row with two sliders, the presets, and a button for the other settings.

    The first slider is tau_c. The second is the bank size, at most the number of candidates, or tau_t if
    ``show_tau_t``. rubrics: number of rubrics of the dataset.
    """
    settings = held_settings()
    left, middle, preset, right = st.columns([4, 4, 3, 2], gap="medium", vertical_alignment="bottom")
    _threshold(left, settings, under)
    if show_tau_t:
        _tau_t(middle, settings, under)
    else:
        with middle:
            part(BANK_SIZE, partial(_budget, rubrics, under), ["tau_c"])
    with preset:
        _presets(settings)
    behind = right.popover("Settings", width="stretch", key=OPEN, on_change="rerun")
    if behind.open:  # if it is closed, a move of a slider need not make and send its thirty widgets
        with behind:
            _behind(settings, under, show_tau_t=show_tau_t)


def _behind(settings: Settings, under: Under, *, show_tau_t: bool) -> None:
    for name in FIRST:
        _widget(name, SPECS[name], getattr(settings, name))
    choose_format()
    with st.expander("More settings"):
        for tab, groups in zip(st.tabs(list(TABS)), TABS.values(), strict=True):
            with tab:
                _group(groups, settings)
                if "scoring" in groups and not show_tau_t:
                    _tau_t(st.container(), settings, under)


def basis_name(settings: Settings, basis: Basis) -> str:
    """A short name for the rubrics that rank the systems."""
    if basis == "all":
        return "all rubrics that pass"
    return "bank, as if new" if settings.cross_fitted else "bank, in sample"


def basis_switch() -> None:
    """Show a switch for the basis of the ranking on the page itself; the same setting is behind the button."""
    settings = held_settings()
    st.session_state["basis choice"] = settings.basis
    st.segmented_control(
        "Ranked on",
        BASES,
        format_func=lambda basis: sentence_case(basis_name(settings, basis)),
        key="basis choice",
        required=True,
        on_change=_basis_change,
        help=SPECS["basis"].shown_help,
    )


def _basis_change() -> None:
    hold_settings(replace(held(), basis=st.session_state["basis choice"]))
    st.rerun()  # of the page: the switch is in a part of it


def _change(name: str) -> None:
    """Callback: hold the value of the widget of this setting."""
    settings, value = held(), st.session_state[name]
    if name in PRIORS:
        hold_settings(replace(settings, priors=replace(settings.priors, **{name: value or None})))
    elif name == "c_prior":
        c_beta = Priors().c_beta if value else None
        hold_settings(replace(settings, priors=replace(settings.priors, c_beta=c_beta)))
    else:
        changed = replace(settings, **{name: value}, **_FOLLOWS.get(name, {}))
        hold_settings(changed)
        if name == "tau_c" and settings.tau_c is not None and _method(settings) == _method(changed):
            redraw("tau_c")  # the slider's title and the preset stay the same


def _preset_change() -> None:
    """Callback: use the chosen preset, unless the same message from the browser changes another setting.

    On quick moves a message contains the preset that the browser showed before the last run; the user did not choose
    it.
    """
    chosen: Preset | None = st.session_state["preset choice"]
    if chosen is not None and not moved():
        wanted = Settings.preset(chosen)
        hold_settings(replace(held(), **{name: getattr(wanted, name) for name in PRESETS["paper"]}))


def preset_of(settings: Settings) -> Preset | None:
    """The preset that matches the settings, apart from those that presets do not set; None if there is none."""
    for name in get_args(Preset):
        wanted = Settings.preset(name)
        if all(getattr(settings, field) == getattr(wanted, field) for field in PRESETS["paper"]):
            found: Preset = name
            return found
    return None


def _presets(settings: Settings) -> None:
    st.session_state["preset choice"] = preset_of(settings)
    st.segmented_control(
        _method(settings),
        list(SHOWN_PRESETS),
        format_func=lambda name: SHOWN_PRESETS[name],
        key="preset choice",
        on_change=_preset_change,
        help="Robust: the defaults. As in the paper: Algorithm 1 as printed. If settings are changed, neither is "
        "selected.",
    )


def _method(settings: Settings) -> str:
    """The title of the presets; it names the nearest preset if the settings match none."""
    if preset_of(settings) is not None:
        return "Method"
    return f"Method: {SHOWN_PRESETS[settings.explicit()[0]]}, changed"


def _threshold(place: DeltaGenerator, settings: Settings, under: Under) -> None:
    """The slider of tau_c; until it is moved it shows the threshold that follows from the labels."""
    low, spec, title = max(LOWEST_TAU[settings.gate], LEFT_END), SPECS["tau_c"], SPECS["tau_c"].title
    at, off = settings.tau_c, False
    if at is None:
        at = round(under(settings).gating().threshold, 3)
        off = not np.isfinite(at)
        title += f": drops at most the lowest quarter by {settings.gate}" if not off else ": drops none here"
    at = float(np.clip(np.nan_to_num(at, nan=low), low, 1))
    shown = f"%.{decimals(at)}f"  # the value may lie between two steps
    with standing_at("tau_c", at, low):
        place.slider(
            title,
            low,
            1.0,
            step=spec.step,
            format=shown,
            key="tau_c",
            help=spec.help,
            disabled=off,  # no rubric has a value: no threshold drops one
            **_moves("tau_c"),
        )


def _tau_t(place: DeltaGenerator, settings: Settings, under: Under) -> None:
    """The slider of tau_t; it is disabled if no query has a probability of a type, which is compared with tau_t."""
    spec = SPECS["tau_t"]
    idle = not loaders.facts(under(settings)).queries[SHARES].notna().any(axis=None)
    with standing_at("tau_t", settings.tau_t):
        place.slider(
            spec.title + (": no query has one" if idle else ""),
            0.0,
            1.0,
            step=spec.step,
            key="tau_t",
            help=spec.help,
            disabled=idle,
            **_moves("tau_t"),
        )


def _budget(rubrics: int, under: Under) -> None:
    """A slider of B on a log scale up to the number of candidates, and a number box.

    A number out of range becomes the nearest allowed one. If a threshold leaves fewer candidates than the chosen size,
    both show the number of candidates, and the choice is kept. If it leaves none, the limit is ``rubrics``.
    """
    settings, spec = held_settings(), SPECS["budget"]
    most = max(under(settings).largest_bank() or rubrics, 2)
    slider_key, box_key = _budget_keys(most)
    # Both values are always set, because slider and box show each other's value.
    size = st.session_state[slider_key] = st.session_state[box_key] = min(settings.budget, most)
    shown = st.session_state.get(_SHOWN, ())
    shown = st.session_state[_SHOWN] = (*(n for n in shown if n != size), size)[-_RECENT:]
    # On quick moves a message has a step that was shown before: it must exist, or it counts as the first step.
    steps = budget_steps(rubrics, most, *shown)
    slider, box = st.columns([3, 2], vertical_alignment="bottom")
    moves: dict[str, Any] = {"help": spec.help, "on_change": _budget_moved, "args": (most,)}
    slider.select_slider(spec.title, steps, key=slider_key, format_func="{:,}".format, **moves)
    # With bounds the box would keep an invalid number and send nothing; without a value it would first show 0.
    box.number_input(
        f"{spec.title}, exact", value=size, step=1, key=box_key, label_visibility="collapsed", **moves
    )


def _budget_keys(most: int) -> tuple[str, str]:
    """Keys of slider and box, which are new widgets for each limit ``most``.

    While a threshold moves quickly, a message has their values for an earlier threshold, which the user did not choose.
    """
    return f"budget slider to {most}", f"budget to {most}"


def budget_steps(rubrics: int, most: int, *sizes: int) -> list[int]:
    """The steps of the slider of B: from 1 to ``most``, even on a log scale, and these sizes.

    The even steps are computed for all ``rubrics``, so that they are the same for each threshold.
    """
    spread = np.geomspace(1, max(rubrics, 2), BUDGET_STEPS).round().astype(int).tolist()
    return sorted({*(size for size in (*spread, *sizes) if size <= most), most})


def _budget_moved(most: int) -> None:
    """Callback: take the value of the slider or the box, whichever the user moved, limited to ``most``.

    On quick moves a message also has the value of the other widget from before the last run, which Streamlit takes for
    a move. It is recognised by the address in the same message, or because it was shown recently. A quick click
    elsewhere repeats the last values of both, although the user moved neither. One of the two may not exist, if
    another move ended the run before it was made.
    """
    session, size = st.session_state, min(held().budget, most)
    sizes = [min(max(int(session[name]), 1), most) for name in _budget_keys(most) if name in session]
    if not sizes:
        return
    if session.get(_TAKEN) == (sizes, size) and not is_from_own_fragment():
        return
    shown = session.get(_SHOWN, ())
    changed = [each for each in sizes if each != min(address_settings().budget, most)]
    new = [each for each in changed if each not in shown] or changed or sizes
    session[_TAKEN] = sizes, new[0]
    if new[0] != size:
        take_budget(new[0])


def keep_from(tau_c: float) -> None:
    """Move the threshold to this value, rounded down to two decimals, within the range of the slider."""
    settings = held()
    low = max(LOWEST_TAU[settings.gate], LEFT_END)
    chosen = float(np.clip(np.floor(100 * tau_c + 1e-9) / 100, low, 1))
    hold_settings(replace(settings, tau_c=round(chosen, 2)))


def take_budget(size: int) -> None:
    """Set the bank size as its slider does; call it last in a callback."""
    hold_settings(replace(held(), budget=size))
    redraw("budget", BANK_SIZE)


def _group(groups: tuple[Group, ...], settings: Settings) -> None:
    """Show the settings of these groups that are not shown elsewhere."""
    if "gate" in groups and settings.tau_c is not None:
        st.button("Drop the lowest quarter", on_click=_drop_quarter)
    for name, spec in SPECS.items():
        if spec.group in groups and name not in FIRST and name not in _BARS:
            _widget(name, spec, getattr(settings, name))
    if "model" in groups:
        for name, spec in PRIORS.items():
            _widget(name, spec, getattr(settings.priors, name) or 0.0)
        _widget("c_prior", C_PRIOR, settings.priors.c_beta is not None)


def _drop_quarter() -> None:
    hold_settings(replace(held(), tau_c=None))


def _widget(name: str, spec: Spec, value: Any) -> None:
    """Show the widget of a setting according to its declaration, at the value that the session holds."""
    st.session_state[name] = value
    options: list[Any] = list(spec.choices or spec.offered)
    if isinstance(spec, Switch):
        st.checkbox(spec.title, key=name, help=spec.help, **_moves(name))
    elif options:
        if value not in options:
            options = sorted([*options, value])
        st.selectbox(
            spec.title, options, format_func=choice_words, key=name, help=spec.shown_help, **_moves(name)
        )
    elif spec.whole:
        st.number_input(
            spec.title,
            int(spec.low or 0),
            max(int(spec.most or 1000), value),  # an address or a scenario may hold more than a page offers
            step=1,
            key=name,
            help=spec.help,
            **_moves(name),
        )
    else:
        low, most = min(0.0 if spec.none else 0.01, float(value)), max(1000.0, float(value))
        st.number_input(spec.title, low, most, step=0.5, key=name, help=spec.help, **_moves(name))


def _moves(name: str) -> dict[str, Any]:
    return {"on_change": _change, "args": (name,)}
