"""The experiments of the paper, for any dataset (docs/method.md §11)."""

from .registry import EXPERIMENTS, run_experiment, store_experiment, stored_experiment
from .results import CancelledError, ExperimentResult

__all__ = [
    "EXPERIMENTS",
    "CancelledError",
    "ExperimentResult",
    "run_experiment",
    "store_experiment",
    "stored_experiment",
]
