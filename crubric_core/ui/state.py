"""Dataset and settings: kept in the URL, shared by all pages, quantised because a URL may say anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from ..declarations import Switch, specs_of
from ..settings import SPECS, Priors, Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamlit.delta_generator import DeltaGenerator

DEFAULTS = Settings()
TAU = 0.8  # where the slider of tau_c starts, which stands for None
URL: Any = "query-params"
STRATEGIES = {
    "greedy": "greedy",
    "plain": "most informative",
    "hard_random": "unanimous, at random",
    "random": "any, at random",
}
FIRST = ("model", "strategy", "consensus", "tier_rule", "confidence")
FURTHER = {
    "Labels": ("tie", "agreement_tolerance", "gate", "agreement", "prior", "alpha", "beta"),
    "Model": ("quadrature",),
    "Ranking": (
        *("basis", "population", "bootstrap", "replicates", "seed"),
        *("cross_fitted", "simultaneous", "clip", "holm"),
    ),
}


def pick_dataset(names: Sequence[str]) -> str:
    """The dataset of every page, chosen in the side bar; ``names`` is not empty."""
    chosen: str = st.sidebar.selectbox("Dataset", list(names), key="dataset", bind=URL)
    return chosen


def settings_bar(rubrics: int, *, typing: bool = False) -> Settings:
    """Two sliders and the rest of the settings behind a button; one row above what they change.

    The second slider is the bank size, or tau_t where queries are ``typing``.
    """
    left, middle, right = st.columns([5, 5, 2], gap="medium", vertical_alignment="bottom")
    tau_c = _share(left, "tau_c")
    budget = DEFAULTS.budget if typing else _budget(middle, rubrics)
    with right.popover("Settings", width="stretch") as more:
        tau_t = _share(middle if typing else more, "tau_t")
        chosen = {name: _widget(name) for name in FIRST}
        with st.expander("More settings"):
            for tab, names in zip(st.tabs(list(FURTHER)), FURTHER.values(), strict=True):
                with tab:
                    chosen |= {name: _widget(name) for name in names}
                    chosen |= {"priors": _priors()} if "quadrature" in names else {}
    return Settings(tau_c=None if tau_c == TAU else tau_c, budget=budget, tau_t=tau_t, **chosen)


def _share(place: DeltaGenerator, name: str) -> float:
    spec = SPECS[name]
    start = TAU if name == "tau_c" else getattr(DEFAULTS, name)
    low, high, step = float(spec.low or 0), float(spec.high or 1), spec.step or 0.01
    return round(place.slider(spec.title, low, high, start, step, key=name, bind=URL, help=spec.help), 2)


def _budget(place: DeltaGenerator, rubrics: int) -> int:
    most = max(rubrics, 2)
    return int(
        place.slider(
            SPECS["budget"].title,
            1,
            most,
            min(DEFAULTS.budget, most),
            key="budget",
            bind=URL,
            help=SPECS["budget"].help,
        )
    )


def _priors() -> Priors:
    """The priors of the rubrics' parameters."""
    usual = DEFAULTS.priors
    spread = {
        name: st.number_input(
            spec.title, 0.0, 100.0, getattr(usual, name), 0.1, key=name, bind=URL, help=spec.text
        )
        for name, spec in specs_of(Priors).items()
    }
    tells = "That of the guessing rate c (3PL) is centred on .2."
    guessing = st.checkbox("Prior of c", True, key="c_prior", bind=URL, help=tells)
    return Priors(
        **{name: value or None for name, value in spread.items()}, c_beta=usual.c_beta if guessing else None
    )


def _widget(name: str) -> Any:
    """The widget of a setting by its declaration."""
    spec, start = SPECS[name], getattr(DEFAULTS, name)
    if isinstance(spec, Switch):
        return bool(st.checkbox(spec.title, start, key=name, bind=URL, help=spec.help))
    options: list[Any] = list(spec.choices or spec.offered)
    if options:  # by their own names: a format function would put its words into the URL
        return st.selectbox(spec.title, options, options.index(start), key=name, bind=URL, help=spec.help)
    low, most, step = (0.01, 1000.0, 0.5) if spec.open else (int(spec.low or 0), int(spec.most or 1000), 1)
    return st.number_input(spec.title, low, most, start, step, key=name, bind=URL, help=spec.help)
