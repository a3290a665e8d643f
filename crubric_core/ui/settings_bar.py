"""The settings on a page: sliders, presets, and the rest behind a button; what they change is held in ``state``."""

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
BUDGET_STEPS = 60  # of the slider of B, fewer where whole numbers coincide
LEFT_END = -0.5  # of the slider of tau_c: hardly a rubric is below
_FOLLOWS: Mapping[str, Mapping[str, Any]] = {
    "gate": {"tau_c": None},
    "alpha": {"prior": "fixed"},
    "beta": {"prior": "fixed"},
}
"""What changes with a setting: a threshold belongs to one statistic, prior counts to a fixed prior."""
OPEN = "settings open"
"""The button's own state in the session: whether what is behind it is shown."""
_BARS = ("tau_c", "budget", "tau_t")  # sliders of their own
BANK_SIZE = "bank size"  # the part of slider and box of B, which show each other's value
_SHOWN, _RECENT = "budgets shown", 8  # what slider and box of B showed lately, the last one last
_TAKEN = "budget taken"  # what slider and box of B said last, and the size that was taken from it

Under = Callable[[Settings], "Study"]
"""The dataset's analysis under settings."""


def settings_bar(rubrics: int, under: Under, *, show_tau_t: bool = False) -> None:
    """Two sliders, the presets, and the rest of the settings behind a button; one row above what they change.

    The second slider is the bank size, at most the number of candidates; or tau_t where queries are ``show_tau_t``.
    rubrics: of the dataset.
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
    if behind.open:  # closed, its thirty widgets are neither made nor sent at each move of a slider
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
    """What ranks the systems, in a few words."""
    if basis == "all":
        return "all rubrics that pass"
    return "bank, as if new" if settings.cross_fitted else "bank, in sample"


def basis_switch() -> None:
    """Which rubrics rank the systems, for all to see: the same setting as behind the button."""
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
    """A widget was moved: hold what it shows."""
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
            redraw("tau_c")  # neither the slider's title nor the preset changes with it


def _preset_change() -> None:
    """Take the chosen preset, unless the same message moves another setting.

    On quick moves a message carries the preset that the browser showed before the last run, which is no choice.
    """
    chosen: Preset | None = st.session_state["preset choice"]
    if chosen is not None and not moved():
        wanted = Settings.preset(chosen)
        hold_settings(replace(held(), **{name: getattr(wanted, name) for name in PRESETS["paper"]}))


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
        _method(settings),
        list(SHOWN_PRESETS),
        format_func=lambda name: SHOWN_PRESETS[name],
        key="preset choice",
        on_change=_preset_change,
        help="Robust: the defaults. As in the paper: Algorithm 1 as printed. If settings are changed, neither is "
        "selected.",
    )


def _method(settings: Settings) -> str:
    """The title of the presets: where the settings are none of them, the one that is nearest."""
    if preset_of(settings) is not None:
        return "Method"
    return f"Method: {SHOWN_PRESETS[settings.explicit()[0]]}, changed"


def _threshold(place: DeltaGenerator, settings: Settings, under: Under) -> None:
    """The slider of tau_c; it stands at the threshold that follows from the labels until it is moved."""
    low, spec, title = max(LOWEST_TAU[settings.gate], LEFT_END), SPECS["tau_c"], SPECS["tau_c"].title
    at, off = settings.tau_c, False
    if at is None:
        at = round(under(settings).gating().threshold, 3)
        off = not np.isfinite(at)
        title += f": drops at most the lowest quarter by {settings.gate}" if not off else ": drops none here"
    at = float(np.clip(np.nan_to_num(at, nan=low), low, 1))
    shown = f"%.{decimals(at)}f"  # it may stand between two steps
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
    """The slider of tau_t; it stands still where no query has a probability of a type, which it would be held to."""
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
    """A slider on a log scale up to the candidates, and a box; a number out of range becomes the nearest allowed one.

    Where a threshold leaves fewer than the size that was chosen, both show these, and the choice is kept. One that
    leaves none says nothing of the bank's size.
    """
    settings, spec = held_settings(), SPECS["budget"]
    most = max(under(settings).largest_bank() or rubrics, 2)
    slider_key, box_key = _budget_keys(most)
    # Always told, as they show each other's value.
    size = st.session_state[slider_key] = st.session_state[box_key] = min(settings.budget, most)
    shown = st.session_state.get(_SHOWN, ())
    shown = st.session_state[_SHOWN] = (*(n for n in shown if n != size), size)[-_RECENT:]
    # On quick moves a message names a step that was shown before: it must be there, or it counts as the first one.
    steps = budget_steps(rubrics, most, *shown)
    slider, box = st.columns([3, 2], vertical_alignment="bottom")
    moves: dict[str, Any] = {"help": spec.help, "on_change": _budget_moved, "args": (most,)}
    slider.select_slider(spec.title, steps, key=slider_key, format_func="{:,}".format, **moves)
    # Beyond bounds of its own the box would keep what was typed, and send nothing; without a value it first shows 0.
    box.number_input(
        f"{spec.title}, exact", value=size, step=1, key=box_key, label_visibility="collapsed", **moves
    )


def _budget_keys(most: int) -> tuple[str, str]:
    """Keys of slider and box. Those of another limit are other widgets: while a threshold moves quickly, a message says
    what they showed behind an earlier one, which is no choice.
    """
    return f"budget slider to {most}", f"budget to {most}"


def budget_steps(rubrics: int, most: int, *sizes: int) -> list[int]:
    """Where the slider of B can stand: from 1 to ``most``, evenly on a log scale, and at these sizes.

    The steps are those of all ``rubrics``, so that they are the same ones behind each threshold.
    """
    spread = np.geomspace(1, max(rubrics, 2), BUDGET_STEPS).round().astype(int).tolist()
    return sorted({*(size for size in (*spread, *sizes) if size <= most), most})


def _budget_moved(most: int) -> None:
    """Take the value of the slider or of the box, whichever somebody moved; both are at ``most`` that.

    On quick moves a message carries, of the other one, what the browser showed before the last run: that counts as a
    move for Streamlit, and is told by the address of the same message, or by its having been shown. A click elsewhere
    that comes so quickly repeats what both said before: nobody moved either. One of the two may not be there: another
    move ended the run before it was made.
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
    """Move the threshold to this value, to two digits, within what the slider can show."""
    settings = held()
    low = max(LOWEST_TAU[settings.gate], LEFT_END)
    chosen = float(np.clip(np.floor(100 * tau_c + 1e-9) / 100, low, 1))
    hold_settings(replace(settings, tau_c=round(chosen, 2)))


def take_budget(size: int) -> None:
    """At the end of a callback: let the bank have this size, as its slider would."""
    hold_settings(replace(held(), budget=size))
    redraw("budget", BANK_SIZE)


def _group(groups: tuple[Group, ...], settings: Settings) -> None:
    """The settings of a tab that are not shown elsewhere."""
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
    """The widget of a setting by its declaration, at the value that the session holds."""
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
