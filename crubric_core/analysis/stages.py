"""All stages of an analysis: labels and model (``fitted``), banks (``banks``), and here the ranking of the systems.

``run_pipeline`` collects them into a result; pages, reports, views and experiments call the same stages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..types import BoolArray, FloatArray
from . import dimensions as by_dimension
from . import ranking as ranks
from . import selection, standings
from .agreement import OtherRanking
from .banks import Banks
from .board import Board
from .claims import Claims, claims_of
from .human_labels import HumanLabels
from .human_labels import human_labels as corrected_by
from .losses import ViolationLoss, violation_loss
from .result import Ranking
from .stage import EVERY, stage

if TYPE_CHECKING:
    from ..leaderboard.inference import Inference


@dataclass(frozen=True, kw_only=True)
class Analysis(Banks):
    """A dataset under one choice of settings, with its banks and the ranking of its systems."""

    @stage(
        "cross_fitted",
        after=("_model", "reduction"),
        title="Fitting each dimension",
        heavy=True,
        lasting=True,
    )
    def _dimension_fits(self) -> tuple[by_dimension.Fits, ...]:
        varying, at = ~self._model().constant, selection.query_positions(self.queries(), self.given())
        return by_dimension.dimension_fits(self.reduction(), varying, at, self.settings, self.progress)

    @stage(
        *("population", "seed", "confidence"),
        after=("_dimension_fits", "panels", "judges_differ"),
        masks=("feasible",),
        title="Comparing the dimensions",
        heavy=True,
    )
    def dimensions(self) -> by_dimension.Dimensions | str:
        """Abilities by dimension and their correlations, on the rubrics that pass; a sentence if there are none."""
        named = by_dimension.dimension_names(self.reduction())
        differ = self.panels() is not None or self.judges_differ(by_dimension.numbered(named))
        if why := by_dimension.unfit(self.given().n_distinct, differ, self.settings):
            return why
        return by_dimension.by_dimension(
            self.reduction(),
            self._dimension_fits(),
            ~self._model().constant,
            self.pool,
            self.queries(),
            self.settings,
            self._domains(),
            self.progress,
        )

    @stage(
        *("population", "simultaneous", "confidence", "tier_rule", "holm", "bootstrap", "replicates", "seed"),
        *("tau_t", "clip", "basis"),
        after=("folds", "reduction", "panels"),
        title="Comparing the systems",
    )
    def ranking_on(self, use: BoolArray) -> Ranking:
        """The ranking of the systems on the rubrics ``use``: a mask (J,), or (F, J), one for each fold."""
        return ranks.rank_systems(
            self.queries(),
            self.reduction(),
            self.calibration(),
            self.folds(),
            use,
            self.settings,
            self.panels(),
        )

    @stage(after=("ranking_on",))
    def score_standing(self, use: BoolArray) -> Inference:
        """Inference about the scores weighted by emphasis on the rubrics ``use``: (J,), or (F, J) for the folds."""
        return ranks.score_inference(
            self.ranking_on(use), self.queries(), self.settings, self.panels(), self._domains()
        )

    @stage(heavy=True, of_content=True)
    def gold(self) -> pd.DataFrame:
        """The human labels of the dataset, one row a label."""
        return self.dataset.gold()

    @stage("population", "seed", "confidence", "simultaneous", after=("given",), heavy=True)
    def gold_standing(self) -> Inference:
        """Claims about the systems' mean human labels, over all rubrics that have any; no rank without labels."""
        return standings.gold_standing(self.gold(), self.given(), self.queries(), self.settings)

    @stage(
        *("population", "seed", "confidence", "simultaneous"),
        after=("given",),
        title="Comparing human and judges' labels",
        heavy=True,
    )
    def human_labels(self) -> HumanLabels | None:
        """The judges' mean labels corrected by the human labels; None if there are too few human labels."""
        gold = self.gold()
        if gold.empty:
            return None
        majority = replace(self, settings=replace(self.settings, consensus="majority")).given()
        return corrected_by(gold, majority, self.queries(), self.settings)

    @stage(
        *("population", "seed", "confidence", "simultaneous", "tau_t"),
        after=("reduction", "panels"),
        masks=("feasible",),
        title="Adding up losses",
    )
    def losses(self) -> ViolationLoss | None:
        """The expected losses of the systems' answers; None if no rubric that passes the gate has a loss."""
        return violation_loss(self.reduction(), self.queries(), self.feasible, self.settings, self.panels())

    @stage(after=("score_standing", "gold_standing", "human_labels"), masks=("feasible",))
    def other_rankings(self, use: BoolArray) -> tuple[OtherRanking, ...]:
        """Other rankings of the systems, each compared with their standing on the rubrics ``use``."""
        shown, every = self.ranking_on(use), ~self.calibration().fit.constant
        found, people = {standings.GOLD: self.gold_standing()}, self.human_labels()
        if people is not None and not people.correction.sample.doubtful:
            found = {standings.CORRECTED: people.standing, **found}
        if self.by_score:
            every = np.asarray(np.isfinite(self.reduction().y).any(axis=0))
        if (every != self.placing).any():
            found = {standings.EVERY: self.ranking_on(every).standing, **found}
        if self.settings.basis == "bank" and not self.by_score:
            found = {standings.PASSING: self.ranking_on(self.pool).standing, **found}
        if shown.method != "score":
            found = {standings.SCORE: self.score_standing(use), **found}
        return standings.others(shown.standing, found, self._reference())

    @stage(after=("given",), of_content=True)
    def _reference(self) -> FloatArray:
        """(M,) the human ranking as values, higher is better; NaN for a system that it does not name."""
        return standings.reference_order(self.dataset.reference_ranking(), self.given().systems)

    @stage(*EVERY, after=("ranking_on",))
    def board(self) -> Board:
        """The board: the standing on the basis of the settings, with what sentences about it need."""
        gated = not self.gating().off
        return standings.board_of(
            self.given().systems,
            self.ranking(),
            self.settings,
            self.verdict(),
            gated=gated,
            n_judges=self.reduction().n_judges,
        )

    def claims(self) -> Claims:
        """The sentences about which systems are ahead, on the basis of the settings."""
        said = claims_of(self.board(), self.other_rankings(self.used))
        return replace(said, basis=(*said.basis, *self.reduction().pass_marks))

    @property
    def used(self) -> BoolArray:
        """The rubrics of the settings' basis: (J,) all that pass, or (F, J) the bank of each fold, "as if new".

        If claims are about scores, they are all rubrics that pass, since no bank can be chosen without a system.
        """
        return self.placing if self.settings.basis == "all" or self.by_score else self.bank_masks()

    def ranking(self) -> Ranking:
        """The ranking of the systems on the basis of the settings."""
        return self.ranking_on(self.used)
