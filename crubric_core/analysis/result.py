"""What the stages of an analysis give: calibration, ranking, and the whole result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pandas as pd

from ..bank.assembly import BankOrder
from ..bank.pairs import PairDistances
from ..bank.utility import UtilityGrid
from ..irt.abilities import Abilities
from ..irt.fit import IrtFit
from ..judges.gate_price import GateVerdict
from ..judges.measurability import Gate
from ..labels.store.dataset import Reduction
from ..leaderboard.tiers import Standing
from ..settings import Settings
from ..task_types.scoring import QueryScores
from ..types import FloatArray, IntArray


@dataclass(frozen=True)
class Calibration:
    """The fitted model and what it says of each rubric, whatever the threshold and the budget.

    fit: item parameters and abilities over all rubrics that vary.
    grid: the G nodes and weights on which coverage is measured.
    info: (G, J) item information at the nodes; a column of zeros for a constant rubric.
    distances: of pairs of systems on each rubric, by which the strategy pairs chooses.
    nu: (J,) information where the systems lie; 0 for a constant rubric.
    item_rest: (J,) item-rest correlation; NaN where undefined.
    """

    fit: IrtFit
    grid: UtilityGrid
    info: FloatArray
    distances: PairDistances
    nu: FloatArray
    item_rest: FloatArray


@dataclass(frozen=True)
class Ranking:
    """Where the systems stand on one set of rubrics.

    rubrics: indices of the rubrics used. abilities: EAP from them at the fitted item parameters.
    draws: (R, M) bootstrap abilities. standing: tiers, ranks and separation. scores: eq:score per system and query.
    table: the leaderboard, best system first; systems without any label on these rubrics come last, unranked.
    """

    rubrics: IntArray
    abilities: Abilities
    draws: FloatArray
    standing: Standing
    scores: QueryScores
    table: pd.DataFrame


@dataclass(frozen=True)
class Result:
    """Everything that pages, reports and published views show of one analysis.

    gate: "on", or "off" where no cell has labels of two judges and every rubric passes unmeasured.
    gating: each rubric's statistic and the threshold. verdict: whether enough passes for a claim about systems.
    certificate: utility of the bank over a proven upper bound of every bank of its size, in (0, 1].
    """

    settings: Settings
    dataset: str
    fingerprint: str
    reduction: Reduction
    calibration: Calibration
    order: BankOrder
    ranking: Ranking
    measurability: pd.DataFrame
    items: pd.DataFrame
    bank: pd.DataFrame
    leaderboard: pd.DataFrame
    certificate: float
    gate: Literal["on", "off"]
    gating: Gate
    verdict: GateVerdict
    warnings: tuple[str, ...]
    judges: tuple[str, ...] = ()
