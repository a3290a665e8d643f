"""Algorithm 1 of the paper as one readable function: a dataset and Settings in, a Result out.

Each stage is a function of its own, so that a page can keep what a slider does not change: tau_c never refits
the model, and the budget never reruns the greedy order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .bank.assembly import BankOrder, order_bank
from .bank.certificate import certify
from .bank.utility import UtilityGrid, coverage_utility, utility_grid
from .irt.abilities import Abilities, estimate_abilities, resample_abilities
from .irt.diagnostics import item_rest_correlation
from .irt.fit import IrtFit, fit_irt
from .irt.information import item_information, posterior_weighted_information
from .judges.measurability import estimate_measurability
from .leaderboard.bootstrap import draw_counts
from .leaderboard.tiers import Standing, standings
from .task_types.scoring import QueryScores, score_systems

if TYPE_CHECKING:
    from .labels.dataset import Dataset, Reduction
    from .settings import Settings

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Calibration:
    """The fitted model and what it says of each rubric, whatever the threshold and the budget.

    fit: item parameters and abilities over all non-constant rubrics.
    grid: the nodes and weights on which coverage is measured, G of them.
    info: (G, J) item information at the nodes; a column of zeros for a constant rubric.
    nu: (J,) information where the systems lie; 0 for a constant rubric.
    item_rest: (J,) item-rest correlation; NaN where undefined.
    """

    fit: IrtFit
    grid: UtilityGrid
    info: np.ndarray
    nu: np.ndarray
    item_rest: np.ndarray
    constant: np.ndarray


@dataclass(frozen=True)
class Result:
    """Everything that the pages, the reports and the published views show of one analysis."""

    settings: Settings
    reduction: Reduction
    calibration: Calibration
    order: BankOrder
    measurability: pd.DataFrame
    items: pd.DataFrame
    bank: pd.DataFrame
    leaderboard: pd.DataFrame
    certificate: float
    abilities: Abilities
    standing: Standing
    scores: QueryScores
    warnings: tuple[str, ...]


def run_pipeline(ds: Dataset, settings: Settings, progress: Progress | None = None) -> Result:
    """From the labels of one dataset to a bank and a tiered leaderboard (paper, Algorithm 1)."""
    raise NotImplementedError
