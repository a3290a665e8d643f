"""CalibratedRubric: compact rubric banks and tiered leaderboards from noisy judge labels.

The public names are loaded when they are first used (PEP 562), so that ``crubric --help`` loads no numerical library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .analysis.pipeline import run_pipeline
    from .analysis.result import Result
    from .bank.assembly import greedy_bank
    from .composition import Composition
    from .irt.facets import FacetFit, fit_many_facet
    from .irt.fit import IrtFit, fit_irt
    from .irt.information import item_information
    from .judges.measurability import measurability_posterior
    from .labels.readers.bundle import plan_ingest
    from .labels.store.workspace import Workspace
    from .scoring_rules import ScoringRules
    from .settings import Priors, Settings

__all__ = [
    "Composition",
    "FacetFit",
    "IrtFit",
    "Priors",
    "Result",
    "ScoringRules",
    "Settings",
    "Workspace",
    "fit_irt",
    "fit_many_facet",
    "greedy_bank",
    "item_information",
    "measurability_posterior",
    "plan_ingest",
    "run_pipeline",
]
_HOMES = {
    "Composition": "composition",
    "FacetFit": "irt.facets",
    "IrtFit": "irt.fit",
    "Priors": "settings",
    "Result": "analysis.result",
    "ScoringRules": "scoring_rules",
    "Settings": "settings",
    "Workspace": "labels.store.workspace",
    "fit_irt": "irt.fit",
    "fit_many_facet": "irt.facets",
    "greedy_bank": "bank.assembly",
    "item_information": "irt.information",
    "measurability_posterior": "judges.measurability",
    "plan_ingest": "labels.readers.bundle",
    "run_pipeline": "analysis.pipeline",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its module and cache it; raises AttributeError for another name."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
