"""Dataset and settings: kept in the URL, shared by all pages, quantised because a URL may say anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from ..settings import CHOICES, Settings

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
    "quadrature": "Integration",
    "strategy": "The bank is chosen by",
    "consensus": "Consensus label",
    "tie": "An even split is",
    "bootstrap": "Bootstrap",
    "tier_rule": "Rule of the tiers",
}
LEVELS = (0.8, 0.9, 0.95, 0.99)


def pick_dataset(names: Sequence[str]) -> str:
    """The dataset of every page, chosen in the side bar; ``names`` is not empty."""
    chosen: str = st.sidebar.selectbox("Dataset", list(names), key="dataset", bind=URL)
    return chosen


def settings_bar(rubrics: int, *, typing: bool = False) -> Settings:
    """Two sliders and the rest of the settings behind a button; one row above what they change.

    The second slider is the bank size, or tau_t where queries are ``typing``.
    """
    left, middle, right = st.columns([5, 5, 2], gap="medium", vertical_alignment="bottom")
    tau_c = left.slider(
        "Measurability threshold τ_c",
        0.0,
        1.0,
        DEFAULTS.tau_c,
        0.01,
        key="tau_c",
        bind=URL,
        help="A rubric is kept if the posterior mean of its measurability, the rate at which all judges "
        "agree on it, is at least this.",
    )
    budget = DEFAULTS.budget if typing else _budget(middle, rubrics)
    with right.popover("Settings", width="stretch") as more:
        tau_t = _tau_t(middle if typing else more)
        rest = _other_settings()
    return Settings(tau_c=round(tau_c, 2), budget=int(budget), tau_t=round(tau_t, 2), **rest)


def _budget(place: DeltaGenerator, rubrics: int) -> int:
    most = max(rubrics, 2)
    return place.slider(
        "Bank size B",
        1,
        most,
        min(DEFAULTS.budget, most),
        key="budget",
        bind=URL,
        help="The most rubrics that the bank may hold.",
    )


def _tau_t(place: DeltaGenerator) -> float:
    return place.slider(
        "Least probability of a task type τ_t",
        0.0,
        1.0,
        DEFAULTS.tau_t,
        0.01,
        key="tau_t",
        bind=URL,
        help="A query whose likeliest type stays below is scored pass or fail.",
    )


def _other_settings() -> dict[str, Any]:
    words = {
        "model": "1PL: rubrics differ in difficulty. 2PL: and in how sharply they separate. 3PL: and in passes by "
        "chance. GRM: ordered levels in place of pass or fail.",
        "quadrature": "adaptive: exact. grid: the paper's 41 nodes.",
        "strategy": "; ".join(f"{name}: {meaning}" for name, meaning in STRATEGIES.items()) + ".",
        "consensus": "majority: of the judges (median of ordered labels). dawid_skene: the likeliest label, each "
        "judge weighed by how often it errs.",
        "tie": "What an even split of the judges means.",
        "bootstrap": "rescaled: honest where queries have few rubrics. plain: the paper's.",
        "tier_rule": "A new tier starts with a system that differs from the next one above (adjacent) or from the "
        "tier's first (leader).",
    }
    chosen = {name: _choice(TITLES[name], name, CHOICES[name], meaning) for name, meaning in words.items()}
    return chosen | {
        "confidence": _choice("Level of all intervals", "confidence", LEVELS, "Of intervals and tiers."),
        "holm": st.checkbox("Holm correction of the tier tests", DEFAULTS.holm, key="holm", bind=URL),
        "seed": int(st.number_input("Seed", 0, 2**31 - 1, DEFAULTS.seed, key="seed", bind=URL)),
    }


def _choice(label: str, name: str, options: Sequence[Any], meaning: str) -> Any:
    """One of the options by its own name: a format function would put its words into the URL."""
    start = list(options).index(getattr(DEFAULTS, name))
    return st.selectbox(label, list(options), index=start, key=name, bind=URL, help=meaning)
