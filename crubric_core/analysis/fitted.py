"""Stages of an analysis that do not depend on the bank: labels, gate, model, and the fits without each fold.

All stages of Algorithm 1 are declared once, in ``fitted``, ``banks`` and ``stages``, each with the settings that it
reads and the stages before it. Pages cache results by these settings, so that a new tau_c never refits the model.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd

from ..errors import DatasetError
from ..irt.fit import IrtFit
from ..irt.information import item_information, response_curve
from ..irt.uncertainty import ability_standard_errors
from ..judges import guessing
from ..judges.anchors import gold_levels
from ..judges.gate import AgreementRates, Gate, agreement_rates, decide_gate, gate_table
from ..judges.gate_price import GateVerdict, judge_gate
from ..judges.independence import residual_correlation
from ..judges.nothing_passes import nothing_passes
from ..judges.posterior import with_posterior_labels
from ..judges.rates import judge_rates, rates_note
from ..judges.reliability import query_clusters
from ..judges.shared_errors import EffectiveJudges, effective_judges, independence_note, redundancy_note
from ..judges.unequal_panels import UnequalPanels, differ_by_group, unequal_panels
from ..labels.store.judge_sums import JudgeMeetings, units_of
from ..labels.store.reduction import Reduction
from ..leaderboard.cross_fit import CrossFit, FoldFits
from ..leaderboard.influence import Domains
from ..scoring_rules import ScoringRules
from ..settings import Response, Settings
from ..task_types.assignment import with_assigned
from ..types import BoolArray, FloatArray, IntArray, Progress
from . import calibration as calibrating
from . import selection
from .composition import ids_of
from .result import Calibration
from .stage import Memory, Stages, Store, stage

if TYPE_CHECKING:
    from ..labels.store.source import LabelSource


def with_rules(data: LabelSource, settings: Settings) -> Settings:
    """The settings under which results are cached: with the dataset's scoring rules, unless they name others."""
    return settings if settings.rules is not None else replace(settings, rules=data.scoring_rules())


def reduce_labels(data: LabelSource, settings: Settings) -> Reduction:
    """Agreement counts and consensus labels on the scale that the model reads (docs/method.md §1, §2, §5).

    Its rubrics have the severity and dimension that the settings' scoring rules, or else the dataset's, give them.
    """
    reduction = data.reduce(settings.response, settings.tie, settings.agreement_tolerance)
    reduction = with_assigned(reduction, settings.rules or data.scoring_rules())
    if settings.consensus == "majority":
        return reduction
    gold = gold_levels(data.gold(), reduction)
    return with_posterior_labels(reduction, data.panel(settings.response), gold, settings.tie)


MOST_LABELS = 2**25  # cells times judges, up to which the whole panel is read to compare the judges


def gate(reduction: Reduction, settings: Settings) -> pd.DataFrame:
    """Measurability of each rubric and whether it reaches tau_c (docs/method.md §2)."""
    return gate_table(reduction, decide_gate(reduction, settings), settings.confidence)


def posterior_warnings(data: LabelSource, reduction: Reduction, settings: Settings) -> tuple[str, ...]:
    """Warnings about Dawid–Skene labels, which assume independent judges (docs/method.md §5, §15); () by majority."""
    if settings.consensus == "majority":
        return ()
    gold = gold_levels(data.gold(), replace(reduction, response="binary"))
    panel = data.panel("binary")
    query = query_clusters(reduction.rubrics)
    rates = judge_rates(
        panel.reshape(-1, panel.shape[2]), gold.reshape(-1), np.tile(query, len(panel)), settings.confidence
    )
    notes = (rates_note(rates), independence_note(shared_errors(data, reduction, settings)))
    return tuple(f"Dawid–Skene labels: {note}" for note in notes if note)


def shared_errors(data: LabelSource, reduction: Reduction, settings: Settings) -> EffectiveJudges:
    """How many independent judges the panel is worth, estimated from its labels as pass or fail."""
    gold = gold_levels(data.gold(), replace(reduction, response="binary"))
    query = query_clusters(reduction.rubrics)
    return effective_judges(
        residual_correlation(data.panel("binary"), gold, query, settings.confidence, settings.seed)
    )


def majority_warnings(data: LabelSource, reduction: Reduction, settings: Settings) -> tuple[str, ...]:
    """A warning if judges under a majority share errors; () if they do not, or if this is not computed.

    It is not computed for more than MOST_LABELS labels, and for labels that only a Spark session has.
    """
    few = reduction.y.size * reduction.n_judges <= MOST_LABELS
    if settings.consensus != "majority" or reduction.n_judges < 2 or not few:
        return ()
    try:
        found = shared_errors(data, reduction, settings)
    except DatasetError:  # a Spark session has the labels
        return ()
    return tuple(filter(None, [redundancy_note(found)]))


@dataclass(frozen=True, kw_only=True)
class Fitted(Stages):
    """One dataset under one choice of settings; each stage is computed when it is first called.

    settings: with the scoring rules filled in (``with_rules``). store: where results are cached. They may be shared and
    must not be changed. progress: called with the share done and a description.
    """

    dataset: LabelSource
    fingerprint: str
    settings: Settings
    store: Store = field(default_factory=Memory)
    progress: Progress | None = None

    @classmethod
    def of(cls, data: LabelSource, settings: Settings) -> Self:
        """An analysis of ``data``; if the settings name no scoring rules, the dataset's own are used."""
        return cls(dataset=data, fingerprint=data.fingerprint, settings=with_rules(data, settings))

    @stage(
        *("model", "tie", "agreement_tolerance", "consensus"),
        title="Reducing the labels",
        heavy=True,
        of_content=True,
    )
    def given(self) -> Reduction:
        """Agreement counts and consensus, without the scoring rules, so that new rules need no new reduction."""
        return reduce_labels(self.dataset, replace(self.settings, rules=ScoringRules()))

    @stage("rules", after=("given",))
    def reduction(self) -> Reduction:
        """Agreement counts and consensus, with the severity and dimension that the rules give each rubric."""
        return with_assigned(self.given(), self.settings.rules or ScoringRules())

    @stage(heavy=True, of_content=True)
    def queries(self) -> pd.DataFrame:
        """The dataset's queries, one row a query."""
        return self.dataset.queries

    def panel(self, response: Response | None = None) -> FloatArray:
        """(M, J, K) label of each judge, NaN if unknown, on the scale ``response``; by default the model's scale."""
        return self._panel(response or self.settings.response)

    @stage(title="Reading the labels", heavy=True, of_content=True)
    def _panel(self, response: Response) -> FloatArray:
        return self.dataset.panel(response)

    @stage(
        "model",
        after=("given",),
        title="Comparing the systems' judges",
        heavy=True,
        lasting=True,
        of_content=True,
    )
    def panels(self) -> UnequalPanels | None:
        """How much unequal panels may raise or lower systems; None if all have the same judges, up to chance."""
        given, response, raised = self.given(), self.settings.response, self._raised_by_numbers()
        if given.n_labels == given.n_cells * given.n_judges and not raised.any():
            return None
        shares = self.dataset.judge_shares(response)
        if shares.beyond_chance.any():
            return unequal_panels(shares, self.dataset.judge_meetings(response), raised)
        if raised.any():
            return unequal_panels(shares, JudgeMeetings.unknown(shares.share.shape[1]), raised)
        return None

    @stage(after=("given", "_panel"), title="Comparing the systems' judges by group", of_content=True)
    def judges_differ(self, group: IntArray) -> bool:
        """Whether systems have different judges in any group of rubrics. group: (J,) numbers from 0; -1: in no group.

        False without a check if the dataset has tallies only, or if its panel is larger than MOST_LABELS.
        """
        given = self.given()
        complete = given.n_labels == given.n_cells * given.n_judges
        if complete or given.y.size * given.n_judges > MOST_LABELS:
            return False
        try:
            panel = self.panel()
        except DatasetError:
            return False
        return differ_by_group(panel, units_of(given.rubrics["query"]), group)

    def _raised_by_numbers(self) -> FloatArray:
        """(M, M) how much numbers of labels and of runs may raise the row's system above the column's."""
        given, settings = self.given(), self.settings
        raised = self.dataset.raised_by_numbers(settings.response, settings.tie, "runs")
        equal = given.n_labels == given.n_cells * given.max_panel.max(initial=0)
        if not equal:
            asked = settings.response, settings.tie
            raised = raised + self.dataset.raised_by_numbers(*asked, consensus=settings.consensus)
        return raised

    @stage(after=("given",), heavy=True)
    def ids(self) -> tuple[str, ...]:
        """The J rubrics' ids, as in bank.json and in every export."""
        return ids_of(self.given().rubrics)

    @stage("confidence", "seed", after=("given",), title="Comparing the judges' errors", of_content=True)
    def consensus_warnings(self) -> tuple[str, ...]:
        """Warnings about Dawid–Skene labels; () if the consensus is the majority."""
        return posterior_warnings(self.dataset, self.given(), self.settings)

    @stage(
        "confidence",
        "seed",
        after=("given",),
        title="Comparing the judges' labels",
        heavy=True,
        of_content=True,
    )
    def judge_warnings(self) -> tuple[str, ...]:
        """Warnings about judges whose agreement with the others may be chance, and about judges who share errors."""
        shared = majority_warnings(self.dataset, self.given(), self.settings)
        if self.given().n_judges < guessing.FEWEST:
            return shared
        tables, judges = self.dataset.tables_with_others(), self.dataset.judges
        guesses = guessing.guessing_note_of(tables, judges, self.settings.confidence)
        return (*filter(None, [guesses]), *shared)

    @stage("agreement", "prior", "alpha", "beta", after=("given",))
    def _agreement_rates(self) -> AgreementRates:
        return agreement_rates(self.given(), self.settings)

    @stage("gate", "tau_c", after=("given", "_agreement_rates"))
    def gating(self) -> Gate:
        """The gate: its statistic for each rubric, and its threshold."""
        return decide_gate(self.given(), self.settings, self._agreement_rates())

    @stage("confidence", after=("gating",))
    def measurability(self) -> pd.DataFrame:
        """Table of the measurability of each rubric and whether it passes the gate."""
        return gate_table(self.given(), self.gating(), self.settings.confidence)

    @property
    @stage(after=("gating",))
    def feasible(self) -> BoolArray:
        """(J,) rubrics that pass the gate: the only result of the gate that banks and standings read."""
        return self.gating().feasible

    @stage(
        "quadrature",
        "priors",
        after=("given",),
        title="Fitting the response model",
        heavy=True,
        lasting=True,
    )
    def _model(self) -> IrtFit:
        return calibrating.fit_model(self.given(), self.settings)

    @stage(after=("_model",), heavy=True)
    def calibration(self) -> Calibration:
        """The fitted model, and each rubric's information and item–rest correlation; whatever the gate, B and seed."""
        return calibrating.calibration_of(self.given(), self._model())

    def verdict(self) -> GateVerdict:
        """Whether the rubrics that pass the gate keep enough information for claims about systems."""
        return judge_gate(self.gating(), self.calibration().nu, self.settings.budget)

    @property
    def pool(self) -> BoolArray:
        """(J,) rubrics that pass the gate and vary among the systems; raises DatasetError if there is none."""
        varying = ~self.calibration().fit.constant
        found = self.feasible & varying
        if not found.any():
            raise DatasetError(nothing_passes(self.given(), varying, self.settings))
        return found

    @property
    def by_score(self) -> bool:
        """Whether there are too few systems for claims about abilities."""
        return selection.ranked_by_score(self.given(), self.settings)

    @property
    def placing(self) -> BoolArray:
        """(J,) rubrics that place the systems if no bank does: ``pool``, and for scores also those that do not vary."""
        if not self.by_score:
            return self.pool
        return selection.placing_rubrics(self.given(), self.calibration(), self.feasible, self.settings)

    @stage("cross_fitted", after=("_model",), title="Fitting without each system", heavy=True, lasting=True)
    def _fold_fits(self) -> FoldFits:
        return calibrating.fold_fits(self.given(), self._model(), self.settings, self.progress)

    @stage(after=("_fold_fits", "calibration"), heavy=True)
    def folds(self) -> CrossFit:
        """The fits that place each system without its own labels."""
        return CrossFit.of(self.given().y, self._model(), self._fold_fits())

    @stage(after=("calibration",), heavy=True)
    def curves(self) -> tuple[FloatArray, FloatArray]:
        """Two arrays (N, J): response probability, and information, of each rubric at the nodes of the calibration."""
        fit, nodes = self.calibration().fit, self.calibration().nodes
        responses = np.stack([response_curve(fit, j, nodes) for j in range(len(fit.a))], axis=1)
        return responses, item_information(fit, nodes)

    @stage(after=("calibration",), title="Integrating the rubrics out")
    def standard_errors(self) -> FloatArray:
        """(M,) standard errors of the abilities on all rubrics, with the item parameters integrated out."""
        return ability_standard_errors(self.calibration().fit, self.given().y)

    def _domains(self) -> Domains | None:
        return selection.domains_of(self.queries(), self.given(), self.settings)
