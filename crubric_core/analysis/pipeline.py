"""Algorithm 1 of the paper: a dataset and Settings in, a Result out.

Each stage is a function of its own that takes only what it reads, so that a page can keep what a slider does not
change: tau_c never refits the model, and the budget never reruns the greedy order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ..bank.assembly import BankOrder, order_bank
from ..bank.certificate import certify
from ..bank.pairs import pair_distances
from ..bank.utility import Coverage, Utility, utility_grid
from ..errors import DatasetError
from ..irt.abilities import estimate_abilities, resample_abilities
from ..irt.diagnostics import item_rest_correlation
from ..irt.fit import fit_irt
from ..irt.information import item_information, posterior_weighted_information
from ..judges.anchors import gold_levels
from ..judges.consensus import baseline_mask
from ..judges.gate_price import judge_gate
from ..judges.independence import residual_correlation
from ..judges.measurability import decide_gate, gate_table, nothing_passes
from ..judges.posterior import with_posterior_labels
from ..judges.resampling import Bootstrap
from ..judges.shared_errors import effective_judges, independence_note
from ..labels.store.dataset import Dataset, Reduction
from ..leaderboard.bootstrap import draw_weights
from ..leaderboard.tiers import standings
from ..settings import Settings, Strategy
from ..task_types.assignment import with_assigned
from ..task_types.scoring import QueryScores, score_systems
from ..task_types.types import TASK_TYPES
from ..types import BoolArray, FloatArray, IntArray, Progress
from .result import Calibration, Ranking, Result
from .tables import bank_table, item_table, leaderboard_table
from .warnings import dataset_warnings, fit_warnings, gate_warnings, saturation_warnings, type_warnings


def run_pipeline(ds: Dataset, settings: Settings, progress: Progress | None = None) -> Result:
    """From the labels of one dataset to a compact bank and a tiered leaderboard (paper, Algorithm 1)."""
    tell = progress or (lambda share, what: None)
    settings = with_rules(ds, settings)
    tell(0.0, "Reducing labels to agreement counts and consensus")
    reduction = reduce_labels(ds, settings)
    gating = decide_gate(reduction, settings)
    measurability = gate_table(reduction, gating, settings.confidence)
    tell(0.2, f"Fitting the {settings.model} model")
    calibration = calibrate(reduction, settings)
    tell(0.6, "Assembling the bank")
    feasible = gating.feasible
    verdict = judge_gate(gating, calibration.nu, settings.budget)
    order = order_candidates(reduction, calibration, feasible, settings)
    chosen = order.order[: settings.budget]
    tell(0.8, "Ranking systems with bootstrap intervals")
    ranking = rank_systems(ds.queries, reduction, calibration, chosen, settings)
    bound = bank_certificate(calibration, order, feasible, settings)
    tell(1.0, "Done")
    return Result(
        settings=settings,
        dataset=ds.name,
        fingerprint=ds.fingerprint,
        reduction=reduction,
        calibration=calibration,
        order=order,
        ranking=ranking,
        measurability=measurability,
        items=item_table(reduction, calibration, chosen, feasible),
        bank=bank_table(ds.queries, reduction, calibration, order, settings),
        leaderboard=ranking.table,
        certificate=bound,
        gate="off" if gating.off else "on",
        gating=gating,
        verdict=verdict,
        warnings=(
            *gate_warnings(verdict),
            *dataset_warnings(reduction),
            *fit_warnings(calibration, feasible, settings),
            *saturation_warnings(reduction, chosen),
            *type_warnings(ranking.scores),
            *posterior_warnings(ds, reduction, settings),
        ),
        judges=ds.judges,
    )


def with_rules(ds: Dataset, settings: Settings) -> Settings:
    """The settings with the dataset's own scoring rules, unless they name others: what results are kept under."""
    return settings if settings.rules is not None else replace(settings, rules=ds.scoring_rules())


def reduce_labels(ds: Dataset, settings: Settings) -> Reduction:
    """Labels to agreement counts and the consensus matrix, on the scale that the model reads (METHOD §1, §2, §5).

    Its rubrics have the severity and dimension that the settings' rules give them.
    """
    reduction = ds.reduce(settings.response, settings.tie, settings.agreement_tolerance)
    reduction = with_assigned(reduction, settings.rules or ds.scoring_rules())
    if settings.consensus == "majority":
        return reduction
    anchors = gold_levels(ds.gold(), reduction)
    return with_posterior_labels(reduction, ds.panel(settings.response), anchors, settings.tie)


def posterior_warnings(ds: Dataset, reduction: Reduction, settings: Settings) -> tuple[str, ...]:
    """What must be said of Dawid–Skene labels, which take the judges for independent (METHOD §5, §15)."""
    if settings.consensus == "majority":
        return ()
    gold = gold_levels(ds.gold(), replace(reduction, response="binary"))
    how = Bootstrap(confidence=settings.confidence, seed=settings.seed)
    note = independence_note(effective_judges(residual_correlation(ds.panel("binary"), gold, how)))
    return (f"Dawid–Skene labels: {note}",) if note else ()


def gate(reduction: Reduction, settings: Settings) -> pd.DataFrame:
    """Measurability of each rubric and whether it reaches tau_c (METHOD §2)."""
    return gate_table(reduction, decide_gate(reduction, settings), settings.confidence)


def calibrate(reduction: Reduction, settings: Settings) -> Calibration:
    """Fit the item response model and evaluate information; independent of tau_c, the budget and the seed."""
    y = reduction.y
    fit = fit_irt(y, settings.model, settings.quadrature, settings.priors, levels=reduction.levels)
    grid = utility_grid(difficulty=fit.b, theta=fit.theta)
    return Calibration(
        fit=fit,
        grid=grid,
        info=item_information(fit, grid.theta),
        distances=pair_distances(y, fit.theta, fit.theta_sd, reduction.levels, fit.thresholds),
        nu=posterior_weighted_information(fit, y),
        item_rest=item_rest_correlation(y / (reduction.levels - 1)),
    )


def order_candidates(
    reduction: Reduction,
    calibration: Calibration,
    feasible: BoolArray,
    settings: Settings,
    strategy: Strategy | None = None,
) -> BankOrder:
    """The whole nested order in which rubrics enter the bank: the bank of any budget is a prefix (METHOD §8)."""
    if not (feasible & ~calibration.fit.constant).any():
        raise DatasetError(nothing_passes(reduction, ~calibration.fit.constant, settings))
    consistent, discriminating = baseline_mask(reduction)
    return order_bank(
        strategy or settings.strategy,
        calibration.info,
        calibration.grid.weights,
        feasible,
        ~calibration.fit.constant,
        consistent & discriminating,
        np.random.default_rng([settings.seed, 1]),
        distances=calibration.distances,
        query_index=pd.factorize(reduction.rubrics["query"])[0].astype(np.int64),
    )


def bank_utility(calibration: Calibration, strategy: Strategy) -> Utility:
    """What the strategy's bank is certified by: the separation of pairs, or coverage."""
    return (
        calibration.distances if strategy == "pairs" else Coverage(calibration.info, calibration.grid.weights)
    )


def bank_certificate(
    calibration: Calibration, order: BankOrder, feasible: BoolArray, settings: Settings
) -> float:
    """Utility of the bank beside a proven upper bound of every bank of its size (METHOD §8)."""
    size = min(settings.budget, len(order.order))
    feasible = feasible & ~calibration.fit.constant
    return certify(bank_utility(calibration, settings.strategy), order.order, size, feasible)


def rank_systems(
    queries: pd.DataFrame,
    reduction: Reduction,
    calibration: Calibration,
    rubrics: IntArray,
    settings: Settings,
) -> Ranking:
    """Abilities, bootstrap intervals, tiers and scores from ``rubrics`` (indices) alone (METHOD §9, §10).

    Settings without rules score by the paper's.
    """
    fit, y = calibration.fit, reduction.y
    abilities = estimate_abilities(fit, y, rubrics)
    query_index = query_positions(queries, reduction)
    weights = np.zeros((settings.replicates, y.shape[1]))
    rng = np.random.default_rng([settings.seed, 2])
    weights[:, rubrics] = draw_weights(query_index[rubrics], settings.replicates, rng, settings.bootstrap)
    draws = resample_abilities(fit, y, weights)
    standing = standings(abilities.theta, draws, settings.confidence, settings.tier_rule, settings.holm)
    scores = score_rubrics(queries, reduction, calibration.nu, rubrics, settings)
    known = np.asarray((~np.isnan(y[:, ~fit.constant])).any(axis=1))
    table = leaderboard_table(reduction.systems, known, abilities, standing, scores, fit)
    return Ranking(rubrics, abilities, draws, standing, scores, table)


def query_positions(queries: pd.DataFrame, reduction: Reduction) -> IntArray:
    """(J,) position of each rubric's query in ``queries``."""
    return pd.Index(queries["query"]).get_indexer(pd.Index(reduction.rubrics["query"])).astype(np.int64)


def score_rubrics(
    queries: pd.DataFrame,
    reduction: Reduction,
    nu: FloatArray,
    rubrics: IntArray,
    settings: Settings,
) -> QueryScores:
    """eq:score of every system on ``rubrics`` (indices), each weighing ``nu`` (J,) times its emphasis."""
    frame, query_index = reduction.rubrics.iloc[rubrics], query_positions(queries, reduction)
    return score_systems(
        reduction.y[:, rubrics],
        reduction.levels[rubrics],
        query_index[rubrics],
        n_queries=len(queries),
        task_type=queries["task_type"].to_numpy(dtype=object),
        probabilities=queries[[f"p_{name}" for name in TASK_TYPES]].to_numpy(dtype=float),
        dimension=frame["dimension"].to_numpy(dtype=object),
        severity=frame["severity"].to_numpy(dtype=object),
        weights=nu[rubrics],
        omega=queries["omega"].to_numpy(dtype=float),
        rules=settings.rules,
        tau_t=settings.tau_t,
        clip=settings.clip,
    )
