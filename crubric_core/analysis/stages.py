"""All stages of an analysis: those of labels and model, of banks, and here of who is ahead.

``run_pipeline`` folds them into a result; pages, reports, views and experiments ask for the same stages.
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
    """A dataset under one choice of settings, with its banks and the standing of its systems."""

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
        """Abilities by dimension with their correlations, on the rubrics that pass; or why there are none."""
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
        """Where the systems stand on these rubrics: (J,) a mask, or (F, J), one for each fold."""
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
        """Inference about the scores by emphasis on these rubrics: (J,) a mask, or (F, J), one for each fold."""
        return ranks.score_inference(
            self.ranking_on(use), self.queries(), self.settings, self.panels(), self._domains()
        )

    @stage(heavy=True, of_content=True)
    def gold(self) -> pd.DataFrame:
        """One row a human label."""
        return self.dataset.gold()

    @stage("population", "seed", "confidence", "simultaneous", after=("given",), heavy=True)
    def gold_standing(self) -> Inference:
        """Claims about the mean human labels, over all rubrics that have any; nobody is ranked where there are none."""
        return standings.gold_standing(self.gold(), self.given(), self.queries(), self.settings)

    @stage(
        *("population", "seed", "confidence", "simultaneous"),
        after=("given",),
        title="Comparing human and judges' labels",
        heavy=True,
    )
    def human_labels(self) -> HumanLabels | None:
        """The judges' mean labels corrected by the human ones; None where there are too few of these."""
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
        """What the systems' answers are expected to cost; None where no rubric that passes has a loss."""
        return violation_loss(self.reduction(), self.queries(), self.feasible, self.settings, self.panels())

    @stage(after=("score_standing", "gold_standing", "human_labels"), masks=("feasible",))
    def other_rankings(self, use: BoolArray) -> tuple[OtherRanking, ...]:
        """What else ranks the systems, compared with their standing on these rubrics."""
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
        """(M,) the human ranking as values, higher better."""
        return standings.reference_order(self.dataset.reference_ranking(), self.given().systems)

    @stage(*EVERY, after=("ranking_on",))
    def board(self) -> Board:
        """What sentences about the standing on the basis of the settings are made from."""
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
        """The sentences about who is ahead, on the basis of the settings."""
        said = claims_of(self.board(), self.other_rankings(self.used))
        return replace(said, basis=(*said.basis, *self.reduction().pass_marks))

    @property
    def used(self) -> BoolArray:
        """The rubrics of the settings' basis: (J,) all that pass, or (F, J) the bank of each fold, as if new.

        Where claims are about scores, no bank is chosen without a system: all that pass.
        """
        return self.placing if self.settings.basis == "all" or self.by_score else self.bank_masks()

    def ranking(self) -> Ranking:
        """Where the systems stand on the basis of the settings."""
        return self.ranking_on(self.used)
