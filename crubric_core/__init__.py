"""CalibratedRubric: compact rubric banks and tiered leaderboards from noisy judge labels."""

from .analysis.pipeline import run_pipeline
from .analysis.result import Result
from .bank.assembly import greedy_bank
from .irt.fit import IrtFit, fit_irt
from .irt.information import item_information
from .judges.measurability import measurability_posterior
from .labels.store.workspace import Workspace
from .scoring_rules import ScoringRules
from .settings import Priors, Settings

__all__ = [
    "IrtFit",
    "Priors",
    "Result",
    "ScoringRules",
    "Settings",
    "Workspace",
    "fit_irt",
    "greedy_bank",
    "item_information",
    "measurability_posterior",
    "run_pipeline",
]
