"""The stages of Algorithm 1, each declared once: what it reads, what comes before it, what it gives.

``run_pipeline`` folds them into a result; pages keep them by what they read, so that tau_c never refits the model and
the budget never orders the rubrics again; reports, views and experiments ask for the same stages.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..bank.assembly import BankOrder
from ..bank.certificate import certify_curve
from ..bank.composed import require_room
from ..bank.constraints import Constraints
from ..bank.utility import Utility
from ..bank.worth import Worth
from ..errors import DatasetError
from ..irt.fit import IrtFit
from ..irt.information import item_information, response_curve
from ..irt.uncertainty import ability_standard_errors
from ..judges.anchors import gold_levels
from ..judges.gate_price import GateVerdict, judge_gate
from ..judges.independence import residual_correlation
from ..judges.measurability import Gate, decide_gate, gate_table, nothing_passes
from ..judges.posterior import with_posterior_labels
from ..judges.resampling import Bootstrap
from ..judges.shared_errors import effective_judges, independence_note
from ..judges.unequal_panels import UnequalPanels, unequal_panels
from ..labels.store.reduction import Reduction
from ..leaderboard.cross_fit import CrossFit, FoldFits
from ..leaderboard.influence import Domains
from ..leaderboard.transfer import transfer_excess, transfer_variance
from ..scoring_rules import ScoringRules
from ..settings import Response, Settings, Strategy
from ..task_types.assignment import with_assigned
from ..types import BoolArray, FloatArray, IntArray, Progress
from . import bank_value, selection, standings
from . import calibration as calibrating
from . import dimensions as by_dimension
from . import ranking as ranks
from .agreement import OtherRanking
from .bank_value import WorthCurve
from .board import Board
from .claims import Claims, claims_of
from .composition import constraints_of, ids_of
from .human_labels import HumanLabels
from .human_labels import human_labels as corrected_by
from .losses import ViolationLoss, violation_loss
from .result import Calibration, Ranking
from .stage import Memory, Stages, Store, stage

if TYPE_CHECKING:
    from ..labels.store.source import LabelSource
    from ..leaderboard.inference import Inference

KEPT_CELLS = 2**24  # of all folds' pairs and informations, 128 MiB: more are computed anew at each move
FIRST = 512  # rubrics that are ordered at once: a larger bank orders twice as many, and so on
FEW = 256  # the same for each fold where no curve of sizes is asked for


def with_rules(data: LabelSource, settings: Settings) -> Settings:
    """The settings with the dataset's own scoring rules, unless they name others: what results are kept under."""
    return settings if settings.rules is not None else replace(settings, rules=data.scoring_rules())


def reduce_labels(data: LabelSource, settings: Settings) -> Reduction:
    """Agreement counts and the consensus matrix, on the scale that the model reads (docs/method.md §1, §2, §5).

    Its rubrics have the severity and dimension that the settings' rules give them.
    """
    reduction = data.reduce(settings.response, settings.tie, settings.agreement_tolerance)
    reduction = with_assigned(reduction, settings.rules or data.scoring_rules())
    if settings.consensus == "majority":
        return reduction
    gold = gold_levels(data.gold(), reduction)
    return with_posterior_labels(reduction, data.panel(settings.response), gold, settings.tie)


def gate(reduction: Reduction, settings: Settings) -> pd.DataFrame:
    """Measurability of each rubric and whether it reaches tau_c (docs/method.md §2)."""
    return gate_table(reduction, decide_gate(reduction, settings), settings.confidence)


def posterior_warnings(data: LabelSource, reduction: Reduction, settings: Settings) -> tuple[str, ...]:
    """What must be said of Dawid–Skene labels, which take the judges for independent (docs/method.md §5, §15)."""
    if settings.consensus == "majority":
        return ()
    gold = gold_levels(data.gold(), replace(reduction, response="binary"))
    how = Bootstrap(confidence=settings.confidence, seed=settings.seed)
    note = independence_note(effective_judges(residual_correlation(data.panel("binary"), gold, how)))
    return (f"Dawid–Skene labels: {note}",) if note else ()


@dataclass(frozen=True, kw_only=True)
class Analysis(Stages):
    """One dataset under one choice of settings, its stages computed when they are asked for.

    settings name the scoring rules (``with_rules``). store: where results are kept; shared ones are never changed.
    """

    data: LabelSource
    fingerprint: str
    settings: Settings
    store: Store = field(default_factory=Memory)
    progress: Progress | None = None

    @stage("model", "tie", "agreement_tolerance", "consensus", title="Reducing the labels", heavy=True)
    def given(self) -> Reduction:
        """Agreement counts and consensus, rubrics as their file describes them: rules never reduce the labels again."""
        return reduce_labels(self.data, replace(self.settings, rules=ScoringRules()))

    @stage("rules", after=("given",))
    def reduction(self) -> Reduction:
        """The same; the rubrics have the severity and dimension that the rules give."""
        return with_assigned(self.given(), self.settings.rules or ScoringRules())

    @stage(heavy=True)
    def queries(self) -> pd.DataFrame:
        """One row a query."""
        return self.data.queries

    @stage("model", after=("given",), title="Comparing the systems' judges", heavy=True, lasting=True)
    def panels(self) -> UnequalPanels | None:
        """What systems owe to judges that others lack; None where the judges of all are the same, but for chance."""
        shares = self.data.judge_shares(self.settings.response)
        if not shares.beyond_chance.any():
            return None
        return unequal_panels(shares, self.data.judge_meetings(self.settings.response))

    @stage(after=("given",), heavy=True)
    def ids(self) -> tuple[str, ...]:
        """(J,) what bank.json and every export call each rubric."""
        return ids_of(self.given().rubrics)

    @stage("gate", "agreement", "prior", "alpha", "beta", "tau_c", after=("given",))
    def gating(self) -> Gate:
        """The gate's statistic of each rubric, and its threshold."""
        return decide_gate(self.given(), self.settings)

    @stage("confidence", after=("gating",))
    def measurability(self) -> pd.DataFrame:
        """Measurability of each rubric, and whether it passes the gate."""
        return gate_table(self.given(), self.gating(), self.settings.confidence)

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
        """The fitted model and what it says of each rubric; independent of the gate, B and the seed."""
        return calibrating.calibration_of(self.given(), self._model())

    @stage("cross_fitted", after=("_model",), title="Fitting without each system", heavy=True, lasting=True)
    def _fold_fits(self) -> FoldFits:
        return calibrating.fold_fits(self.given(), self._model(), self.settings, self.progress)

    @stage(after=("_fold_fits", "calibration"), heavy=True)
    def folds(self) -> CrossFit:
        """The fits that place each system without its own labels."""
        return CrossFit.of(self.given().y, self._model(), self._fold_fits())

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
        after=("_dimension_fits", "gating", "panels"),
        title="Comparing the dimensions",
        heavy=True,
    )
    def dimensions(self) -> by_dimension.Dimensions | str:
        """Abilities by dimension with their correlations, on the rubrics that pass; or why there are none."""
        if why := by_dimension.unfit(len(self.given().systems), self.panels(), self.settings):
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

    @stage(after=("calibration",), heavy=True)
    def curves(self) -> tuple[FloatArray, FloatArray]:
        """Response probability and information of every rubric at the nodes of the calibration, (N, J) each."""
        fit, nodes = self.calibration().fit, self.calibration().nodes
        responses = np.stack([response_curve(fit, j, nodes) for j in range(len(fit.a))], axis=1)
        return responses, item_information(fit, nodes)

    @stage(after=("calibration",), title="Integrating the rubrics out")
    def standard_errors(self) -> FloatArray:
        """(M,) of the abilities on all rubrics, item parameters integrated out."""
        return ability_standard_errors(self.calibration().fit, self.given().y)

    @stage("composition", after=("gating", "calibration", "reduction"))
    def constraints(self) -> Constraints | None:
        """What a composition asks of the bank; None without one."""
        if self.settings.composition is None:
            return None
        varying = ~self.calibration().fit.constant
        return constraints_of(
            self.settings.composition, self.reduction(), self.queries(), self.feasible & varying, varying
        )

    @stage("seed", after=("constraints",), title="Ordering the rubrics")
    def _order(self, strategy: Strategy, most: int) -> BankOrder:
        return selection.order_candidates(
            self.given(),
            self.calibration(),
            self.feasible,
            self.settings,
            strategy=strategy,
            budget=most,
            constraints=self.constraints(),
        )

    @stage(after=("folds",), title="Comparing pairs without each system", heavy=True)
    def _without_folds(self, strategy: Strategy) -> tuple[selection.WithoutFold, ...]:
        """What no move of the gate changes in the choice of banks; nothing where that is too much to keep."""
        cross, given, found = self.folds(), self.given(), []
        tell, most = self.progress or (lambda share, what: None), KEPT_CELLS // cross.n_folds
        for fold in range(cross.n_folds if cross.n_folds > 1 else 0):
            tell(fold / cross.n_folds, f"Comparing pairs without fold {fold + 1} of {cross.n_folds}")
            found.append(selection.without_fold(given, self.calibration(), cross, fold, strategy, most))
            if found[-1].cells > most:
                return ()
        return tuple(found)

    def _at_hand(self, strategy: Strategy) -> bool:
        """Whether the distances without each fold are kept."""
        return bool(known := self._without_folds(strategy)) and known[0].at_hand

    @stage(after=("folds",))
    def _usable_without_folds(self) -> BoolArray:
        return selection.usable_without_folds(self.given().y, self.folds())

    @stage(
        "seed",
        after=("constraints", "folds"),
        title="Choosing a bank without each system",
        heavy=True,
        lasting=True,
    )
    def _fold_orders(self, strategy: Strategy, most: int) -> tuple[IntArray, ...]:
        begun: tuple[IntArray, ...] = ()
        if most > FEW and self.settings.composition is None and self._at_hand(strategy):
            begun = self._fold_orders(strategy, most // 2)
        return selection.orders_without_folds(
            self.given(),
            self.calibration(),
            self.folds(),
            self.feasible,
            self.settings,
            strategy=strategy,
            budget=most,
            constraints=self.constraints(),
            progress=self.progress,
            known=self._without_folds(strategy),
            begun=begun,
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
        """The same claims about the scores."""
        return ranks.score_inference(
            self.ranking_on(use), self.queries(), self.settings, self.panels(), self._domains()
        )

    @stage(heavy=True)
    def gold(self) -> pd.DataFrame:
        """One row a human label."""
        return self.data.gold()

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
        after=("reduction", "gating", "panels"),
        title="Adding up losses",
    )
    def losses(self) -> ViolationLoss | None:
        """What the systems' answers are expected to cost; None where no rubric that passes has a loss."""
        return violation_loss(self.reduction(), self.queries(), self.feasible, self.settings, self.panels())

    @stage(after=("score_standing", "gating", "gold_standing", "human_labels"))
    def other_rankings(self, use: BoolArray) -> tuple[OtherRanking, ...]:
        """What else ranks the systems, compared with their standing on these rubrics."""
        shown, varying = self.ranking_on(use), ~self.calibration().fit.constant
        found, people = {standings.GOLD: self.gold_standing()}, self.human_labels()
        if people is not None and not people.correction.sample.doubtful:
            found = {standings.CORRECTED: people.standing, **found}
        if (varying != self.pool).any():
            found = {standings.EVERY: self.ranking_on(varying).standing, **found}
        if self.settings.basis == "bank":
            found = {standings.PASSING: self.ranking_on(self.pool).standing, **found}
        if shown.method != "score":
            found = {standings.SCORE: self.score_standing(use), **found}
        reference = standings.reference_order(self.data.reference_ranking(), self.given().systems)
        return standings.others(shown.standing, found, reference)

    def board(self) -> Board:
        """What sentences about the standing on the basis of the settings are made from."""
        gated = not self.gating().off
        return standings.board_of(
            self.given().systems, self.ranking(), self.settings, self.verdict(), gated=gated
        )

    def claims(self) -> Claims:
        """The sentences about who is ahead, on the basis of the settings."""
        said = claims_of(self.board(), self.other_rankings(self.used))
        return replace(said, basis=(*said.basis, *self.reduction().pass_marks))

    @property
    def feasible(self) -> BoolArray:
        """(J,) rubrics that pass the gate."""
        return self.gating().feasible

    def verdict(self) -> GateVerdict:
        """Whether the gate leaves enough for a claim about systems."""
        return judge_gate(self.gating(), self.calibration().nu, self.settings.budget)

    @property
    def pool(self) -> BoolArray:
        """(J,) rubrics that pass the gate and vary among the systems; raises DatasetError where there is none."""
        varying = ~self.calibration().fit.constant
        found = self.feasible & varying
        if not found.any():
            raise DatasetError(nothing_passes(self.given(), varying, self.settings))
        return found

    def order(self, strategy: Strategy | None = None) -> BankOrder:
        """The nested order in which rubrics enter the bank, at least ``budget`` of them: a smaller bank is a prefix.

        Raises AssemblyError where the budget is too small for what a composition asks.
        """
        found = self._order(strategy or self.settings.strategy, self._most)
        require_room(found, self.settings.budget)
        return found

    def bank(self) -> IntArray:
        """The rubrics of the bank that all systems choose together, in the order of their choice."""
        return self.order().order[: self.settings.budget]

    def bank_masks(self) -> BoolArray:
        """(F, J) the bank of each fold, chosen without its systems: "as if new"."""
        orders = self._fold_orders(self.settings.strategy, self._enough)
        return selection.masks(orders, self.settings.budget, len(self.given().rubrics))

    @property
    def used(self) -> BoolArray:
        """The rubrics of the settings' basis: (J,) all that pass, or (F, J) the bank of each fold, as if new."""
        return self.pool if self.settings.basis == "all" else self.bank_masks()

    def ranking(self) -> Ranking:
        """Where the systems stand on the basis of the settings."""
        return self.ranking_on(self.used)

    @stage("population", "seed", "simultaneous", "confidence", after=("folds", "gating", "panels"))
    def _placed_on_pool(self) -> bank_value.Placing:
        return self._placed([self.pool])[0]

    @stage("seed", after=("folds", "gating"), heavy=True)
    def _random_places(self) -> IntArray:
        """Where random orders have the rubrics that pass: of one draw, banks of all sizes are nested."""
        return bank_value.random_places(self.feasible & self._usable_without_folds(), self.settings.seed)

    @stage(
        "population", "seed", "simultaneous", "confidence", after=("folds", "gating", "panels"), lasting=True
    )
    def _random_worth(self, size: int) -> Worth:
        """The worth of random banks of this size."""
        placed = self._placed(bank_value.random_masks(self._random_places(), size))
        return bank_value.worth_of(self._placed_on_pool(), placed, self.settings.confidence)

    @stage("strategy", after=("_fold_orders", "_placed_on_pool"), lasting=True)
    def _bank_worth(self, size: int, most: int) -> Worth:
        """The worth of the banks of this size, from orders of at least ``most``."""
        orders = self._fold_orders(self.settings.strategy, most)
        placed = self._placed([selection.masks(orders, size, len(self.pool))])
        return bank_value.worth_of(self._placed_on_pool(), placed, self.settings.confidence)

    def _placed(self, masks: list[BoolArray]) -> list[bank_value.Placing]:
        query_index = selection.query_positions(self.queries(), self.given())
        return bank_value.place_on(
            self.folds(), masks, query_index, self.settings, self.panels(), self._domains()
        )

    def _domains(self) -> Domains | None:
        return selection.domains_of(self.queries(), self.given(), self.settings)

    @stage(after=("_bank_worth", "_random_worth"), title="Placing each system")
    def _worth(self, sizes: IntArray, most: int) -> WorthCurve:
        """Each size is kept by itself: another bank size computes that size alone."""
        chosen, random = [], []
        for at, size in enumerate(sizes.tolist()):
            if self.progress is not None:
                self.progress(at / len(sizes), f"Placing each system on banks of {size:,}")
            chosen.append(self._bank_worth(size, most))
            random.append(self._random_worth(size))
        whole = self._placed_on_pool()
        return WorthCurve(sizes, tuple(chosen), tuple(random), int(self.pool.sum()), len(whole.ability))

    @stage("population", "seed", "simultaneous", "confidence", after=("folds", "panels"))
    def _placed_on_all(self) -> bank_value.Placing:
        return self._placed([~self.calibration().fit.constant])[0]

    @stage(after=("_placed_on_pool", "_placed_on_all"))
    def _gate_worth(self) -> Worth:
        every = self._placed_on_all()
        return bank_value.worth_of(every, [self._placed_on_pool()], self.settings.confidence)

    def gate_worth(self) -> Worth | None:
        """What the rubrics that pass the gate keep of what all rubrics separate; None where ``worth`` is."""
        return None if self.folds().n_folds == 1 or not self.feasible.any() else self._gate_worth()

    def worth(self, *, curve: bool = True) -> WorthCurve | None:
        """What banks of several sizes, or that of the budget alone, are worth for systems that they have not seen.

        None where no system can be held out: too few of them, or settings that ask for the in-sample bank.
        """
        if self.folds().n_folds == 1:
            return None
        order, composition = self.order(), self.settings.composition
        most = self._most if curve else self._enough
        lengths = list(map(len, self._fold_orders(self.settings.strategy, most)))
        priced = composition is not None and composition.cost_budget is not None
        # A budget in cost ends each fold's order at another size: each is then its fold's whole bank.
        ordered = min(most, len(order.order) if priced else min(lengths))
        size = min(self.settings.budget, ordered)
        sizes = bank_value.curve_sizes(size, ordered, order.least) if curve else np.array([size])
        return self._worth(sizes, most)

    def transfer(self) -> float:
        """Variance of a placement on the bank beyond sampling (``leaderboard.transfer``); 0 where none is held out."""
        if self.folds().n_folds == 1:
            return 0.0
        query_index = selection.query_positions(self.queries(), self.reduction())
        excess = transfer_excess(self.folds(), self.pool, self.bank_masks(), query_index)
        return transfer_variance(excess)

    def utility(self) -> Utility:
        """What the strategy maximises and its certificate speaks of."""
        return selection.bank_utility(self.calibration(), self.settings.strategy)

    def certificate(self) -> float:
        """Proven share of the best utility of any bank of this size."""
        return selection.bank_certificate(
            self.utility(), self.order(), self.feasible, self.settings.budget, self.constraints()
        )

    @stage("strategy", "seed", after=("constraints",))
    def _certificates(self, most: int) -> FloatArray:
        order, asked = self._order(self.settings.strategy, most).order, self.constraints()
        allowed = self.feasible if asked is None else self.feasible & ~asked.excluded
        sizes = np.arange(1, len(order) + 1)
        return certify_curve(self.utility(), order, sizes, allowed, knapsack=selection.knapsack_of(asked))

    def certificates(self) -> FloatArray:
        """The same at every size 1, 2, … that is ordered."""
        return self._certificates(self._most)

    def coverage(self, strategy: Strategy | None = None) -> FloatArray:
        """Utility of the first 1, 2, … rubrics of a strategy's order as a share of that of the whole pool together.

        The utility is that of the settings' own strategy, so that orders can be compared.
        """
        utility, pool = self.utility(), np.flatnonzero(self.pool)
        totals = np.cumsum(utility.totals(self.order(strategy).order), axis=0)
        share: FloatArray = utility.value(totals) / utility.value(utility.totals(pool).sum(axis=0))
        return share

    @stage("model", title="Reading the labels", heavy=True)
    def panel(self, response: Response | None = None) -> FloatArray:
        """(M, J, K) every judge's label, NaN where unknown: on the scale that the model reads, or on another."""
        return self.data.panel(response or self.settings.response)

    @property
    def _most(self) -> int:
        return _rounded(self.settings.budget)

    @property
    def _enough(self) -> int:
        """How many rubrics each fold orders for the budget, where no curve of sizes is asked for.

        The order of a composition may depend on where it ends: it is the one of the curve. So is one that cannot go
        on from a shorter one without all distances being computed again.
        """
        if self.settings.composition is not None:
            return self._most
        strategy = self.settings.strategy
        anew = strategy == "pairs" and self.folds().n_folds > 1 and not self._at_hand(strategy)
        return _rounded(self.settings.budget, FIRST if anew else FEW)


def _rounded(budget: int, first: int = FIRST) -> int:
    """How many rubrics are ordered for a bank of this size: ``first``, doubled until it holds them."""
    return first * 2 ** max(0, int(np.ceil(np.log2(budget / first))))
