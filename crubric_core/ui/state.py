"""Dataset and settings: kept in the URL, shared by all pages, quantised because a URL may say anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from ..settings import CHOICES, HELP, Priors, Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamlit.delta_generator import DeltaGenerator

DEFAULTS = Settings()
URL: Any = "query-params"
STRATEGIES = {
    "greedy": "greedy",
    "plain": "most informative",
    "hard_random": "unanimous, at random",
    "random": "any, at random",
}
TITLES = {
    "model": "Response model",
    "strategy": "The bank is chosen by",
    "consensus": "Consensus label",
    "tier_rule": "Rule of the tiers",
    "confidence": "Level of all intervals",
    "tie": "An even split is",
    "agreement_tolerance": "Levels apart that still agree",
    "alpha": "Prior agreements α",
    "beta": "Prior disagreements β",
    "quadrature": "Integration",
    "bootstrap": "Bootstrap",
    "replicates": "Bootstrap replicates R",
    "seed": "Seed",
    "clip": "Clip query scores to [0, 1]",
    "holm": "Holm correction of the tier tests",
}
LEVELS = (0.8, 0.9, 0.95, 0.99)
LARGEST = 2**31 - 1


def pick_dataset(names: Sequence[str]) -> str:
    """The dataset of every page, chosen in the side bar; ``names`` is not empty."""
    chosen: str = st.sidebar.selectbox("Dataset", list(names), key="dataset", bind=URL)
    return chosen


def settings_bar(rubrics: int, *, typing: bool = False) -> Settings:
    """Two sliders and the rest of the settings behind a button; one row above what they change.

    The second slider is the bank size, or tau_t where queries are ``typing``.
    """
    left, middle, right = st.columns([5, 5, 2], gap="medium", vertical_alignment="bottom")
    tau_c = _share(left, "tau_c", "Measurability threshold τ_c")
    budget = DEFAULTS.budget if typing else _budget(middle, rubrics)
    with right.popover("Settings", width="stretch") as more:
        tau_t = _share(middle if typing else more, "tau_t", "Least probability of a task type τ_t")
        chosen = {
            name: _choice(name) for name in ("model", "strategy", "consensus", "tier_rule", "confidence")
        }
        with st.expander("More settings"):
            chosen |= _further()
    return Settings(tau_c=tau_c, budget=budget, tau_t=tau_t, **chosen)


def _share(place: DeltaGenerator, name: str, title: str) -> float:
    start, meaning = getattr(DEFAULTS, name), HELP[name]
    return round(place.slider(title, 0.0, 1.0, start, 0.01, key=name, bind=URL, help=meaning), 2)


def _budget(place: DeltaGenerator, rubrics: int) -> int:
    most = max(rubrics, 2)
    return int(
        place.slider(
            "Bank size B",
            1,
            most,
            min(DEFAULTS.budget, most),
            key="budget",
            bind=URL,
            help=HELP["budget"],
        )
    )


def _further() -> dict[str, Any]:
    """What few people change; each of them with its own line of help."""
    labels, fit, ranks = st.tabs(["Labels", "Model", "Ranking"])
    with labels:
        chosen = {"tie": _choice("tie"), "agreement_tolerance": _whole("agreement_tolerance", 0, 20)}
        chosen |= {name: _positive(name) for name in ("alpha", "beta")}
    with fit:
        chosen |= {"quadrature": _choice("quadrature"), "priors": _priors()}
    with ranks:
        chosen |= {"bootstrap": _choice("bootstrap"), "replicates": _whole("replicates", 2, 10_000)}
        chosen |= {"seed": _whole("seed", 0, LARGEST)}
        chosen |= {name: _switch(name) for name in ("clip", "holm")}
    return chosen


def _priors() -> Priors:
    """The priors of the rubrics' parameters."""
    usual = DEFAULTS.priors
    titles = {"log_a_sd": "Prior sd of log a (discrimination)", "b_sd": "Prior sd of b (difficulty)"}
    spread = {
        name: st.number_input(
            title, 0.0, 100.0, getattr(usual, name), 0.1, key=name, bind=URL, help="0: no prior at all."
        )
        for name, title in titles.items()
    }
    tells = "That of the guessing rate c (3PL) is centred on .2."
    guessing = st.checkbox("Prior of c", True, key="c_prior", bind=URL, help=tells)
    return Priors(
        **{name: value or None for name, value in spread.items()}, c_beta=usual.c_beta if guessing else None
    )


def _choice(name: str) -> Any:
    """One of the options by its own name: a format function would put its words into the URL."""
    options: list[Any] = list(LEVELS if name == "confidence" else CHOICES[name])
    start = options.index(getattr(DEFAULTS, name))
    return st.selectbox(TITLES[name], options, start, key=name, bind=URL, help=HELP[name])


def _whole(name: str, low: int, high: int) -> int:
    start, meaning = getattr(DEFAULTS, name), HELP[name]
    return int(st.number_input(TITLES[name], low, high, start, key=name, bind=URL, help=meaning))


def _positive(name: str) -> float:
    start, meaning = getattr(DEFAULTS, name), HELP[name]
    return float(st.number_input(TITLES[name], 0.01, 1000.0, start, 0.5, key=name, bind=URL, help=meaning))


def _switch(name: str) -> bool:
    start, meaning = getattr(DEFAULTS, name), HELP[name]
    return bool(st.checkbox(TITLES[name], start, key=name, bind=URL, help=meaning))
