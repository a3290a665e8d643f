"""The presets of the settings: the values that each sets; all other settings keep their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Preset = Literal["robust", "paper"]
PRESETS: Mapping[Preset, Mapping[str, Any]] = {
    "robust": {},
    "paper": {
        "tau_c": 0.8,
        "gate": "agreement",
        "agreement": "unanimous",
        "prior": "fixed",
        "alpha": 1.0,
        "beta": 1.0,
        "strategy": "greedy",
        "quadrature": "grid",
        "basis": "bank",
        "population": "rubrics",
        "bootstrap": "plain",
        "cross_fitted": False,
        "simultaneous": False,
        "tier_rule": "adjacent",
    },
}
