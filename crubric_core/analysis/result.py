"""The results of an analysis and of its stages: calibration, ranking, and the whole result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd

from ..bank.assembly import BankOrder
from ..bank.item_spread import Spread, item_spread
from ..bank.pairs import PairDistances, pair_distances
from ..bank.utility import UtilityGrid, utility_grid
from ..irt.fit import IrtFit
from ..judges.gate import Gate
from ..judges.gate_price import GateVerdict
from ..labels.store.reduction import Reduction
from ..leaderboard.inference import Inference
from ..leaderboard.influence import Influence
from ..settings import Settings
from ..task_types.scoring import QueryScores
from ..text import count
from ..types import BoolArray, FloatArray, IntArray
from .claims import Claims

Method = Literal["units", "bootstrap", "score"]
SPACING = 0.05  # between nodes of curves


@dataclass(frozen=True)
class Calibration:
    """The fitted model, and the information of each rubric; independent of the gate's threshold and the budget.

    fit: item parameters and abilities over all rubrics that vary. y: (M, J) the consensus labels that were fitted.
    grid: the G nodes and weights on which coverage is measured.
    info: (G, J) item information at the nodes; a column of zeros for a constant rubric.
    nu: (J,) information where the systems lie; 0 for a constant rubric.
    item_rest: (J,) item-rest correlation; NaN where undefined.
    item_rest_chance: (J,) probability of a correlation as low if labels and ability are unrelated.
    """

    fit: IrtFit
    y: FloatArray
    grid: UtilityGrid
    info: FloatArray
    nu: FloatArray
    item_rest: FloatArray
    item_rest_chance: FloatArray

    @cached_property
    def distances(self) -> PairDistances:
        """Distances of all pairs of systems on each rubric, which the strategy "pairs" uses."""
        fit = self.fit
        placed = np.isfinite(self.y[:, ~fit.constant]).any(
            axis=1
        )  # for the other systems, theta is only the mean of the prior
        theta = np.where(placed, fit.theta, np.nan)
        return pair_distances(self.y, theta, fit.theta_sd, fit.levels, fit.thresholds)

    @cached_property
    def spread(self) -> Spread:
        """Posterior sd of the J rubrics' parameters and their correlation, given the abilities of the fit."""
        return item_spread(self.fit, self.y)

    @cached_property
    def nodes(self) -> FloatArray:
        """(N,) abilities from -4 to 4, or further if a system lies outside, spaced so that curves look smooth."""
        low, high = utility_grid(theta=self.fit.theta).theta[[0, -1]]
        return np.linspace(low, high, round((high - low) / SPACING) + 1)


@dataclass(frozen=True)
class Ranking:
    """The ranking of M systems on one set of rubrics.

    use: (F, J) the rubrics by which each fold's systems are placed; equal rows unless each fold has its own bank.
    fold: (M,) each system's fold. ability: cross-fitted EAP abilities with the contributions of the queries.
    standing: intervals, separated pairs, tiers and ranks. scores: eq:score per system and query.
    method: what the claims rest on: "units" (abilities, by query or domain), "bootstrap" (abilities, rubrics
        resampled), or "score" (too few systems for abilities: scores, by query or domain).
    table: the leaderboard, best system first; systems without any label on these rubrics come last, unranked.
    comparisons: one row a pair of ranked systems (docs/method.md §10).
    """

    use: BoolArray
    fold: IntArray
    ability: Influence
    standing: Inference
    scores: QueryScores
    method: Method
    table: pd.DataFrame
    comparisons: pd.DataFrame

    @property
    def rubrics(self) -> IntArray:
        """Indices of the rubrics by which any system is placed, ascending."""
        return np.flatnonzero(self.use.any(axis=0))

    @property
    def n_rubrics(self) -> tuple[int, int]:
        """The least and the largest number of rubrics that place a system."""
        found = self.use.sum(axis=1)
        return int(found.min()), int(found.max())


@dataclass(frozen=True, repr=False)
class Result:
    """Everything that pages, reports and published views show of one analysis of M systems and J rubrics.

    Attributes
    ----------
    settings : Settings
        All choices, scoring rules included.
    dataset, fingerprint : str
        Name of the dataset, and hash of its content.
    reduction : Reduction
        Agreement counts and the consensus labels (M, J) on the scale that the model reads.
    calibration : Calibration
        The fitted model and the information of each rubric.
    order : BankOrder
        The candidates in the order in which they enter the bank, with gains and utility.
    ranking, pool : Ranking
        Where the systems stand on the basis of the settings, and on all rubrics that pass.
    measurability : DataFrame, one row a rubric
        rubric, query, n_agree, n_total (instances), q_mean, q_sd, q_low, q_high (agreement rate, in [0, 1]),
        p_above_tau, feasible, flag ("", "unmeasured" or "pair_only"), kappa, n_pairs, discordance, chance.
    items : DataFrame, one row a rubric
        rubric, query, a, b, c, nu (information where the systems lie), pass_rate, item_rest, constant, in_bank,
        feasible, posterior spread of the parameters, and the scale.
    bank : DataFrame, one row a rubric of the bank
        The columns of ``analysis.columns.BANK``; weights sum to 1.
    leaderboard : DataFrame, one row a system, best first
        The columns of ``analysis.columns.LEADERBOARD``; systems without labels last, unranked.
    comparisons : DataFrame, one row a pair of ranked systems
        system, other (the lower one), difference, se, low, high, p_value, separated (docs/method.md §10).
    certificate : float
        Utility of the bank over a proven upper bound of every bank of its size, in (0, 1].
    claims : Claims
        The sentences about who is ahead.
    gate : {"on", "off"}
        "off" where no cell has labels of two judges: every rubric then passes unmeasured.
    gating : Gate
        Each rubric's statistic and the threshold.
    verdict : GateVerdict
        Whether enough passes for a claim about systems.
    warnings : tuple of str
        Sentences that must be shown with the result.
    queries : DataFrame, one row a query
        As ``Dataset.queries``.
    judges : tuple of str
        Names of the judges.
    worth : tuple of str
        Sentences on the worth of the bank for systems that it has not seen; empty unless computed by
        ``analysis.held_out``, which takes longer than all else.

    """

    settings: Settings
    dataset: str
    fingerprint: str
    reduction: Reduction
    calibration: Calibration
    order: BankOrder
    ranking: Ranking
    pool: Ranking
    measurability: pd.DataFrame
    items: pd.DataFrame
    bank: pd.DataFrame
    leaderboard: pd.DataFrame
    comparisons: pd.DataFrame
    certificate: float
    claims: Claims
    gate: Literal["on", "off"]
    gating: Gate
    verdict: GateVerdict
    warnings: tuple[str, ...]
    queries: pd.DataFrame
    judges: tuple[str, ...] = ()
    worth: tuple[str, ...] = ()

    @property
    def chosen(self) -> IntArray:
        """Indices of the bank's rubrics in the order of their choice."""
        return self.order.order[: self.settings.budget]

    def __repr__(self) -> str:
        """The sizes, the headline of the claims and the warnings, one sentence a line."""
        sizes = (
            count(len(self.reduction.systems), "system"),
            f"{count(len(self.reduction.rubrics), 'rubric')} ({len(self.bank):,} in the bank)",
            count(len(self.judges), "judge"),
        )
        return "\n".join([f"{self.dataset}: {', '.join(sizes)}", *self.claims.headline, *self.warnings])
