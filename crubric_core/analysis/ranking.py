"""Rank the systems on a set of rubrics: abilities, scores and claims about them (docs/method.md §9, §10)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ..irt.abilities import resample_abilities
from ..judges.unequal_panels import UnequalPanels
from ..labels.store.reduction import Reduction
from ..leaderboard.bootstrap import draw_weights
from ..leaderboard.cross_fit import CrossFit
from ..leaderboard.from_draws import infer_from_draws
from ..leaderboard.inference import Inference, infer
from ..leaderboard.influence import Domains, Influence, ability_influence, score_influence
from ..leaderboard.linked import linked_in_both
from ..leaderboard.places import tiers_by_neighbour
from ..settings import Settings
from ..task_types.scoring import QueryScores, by_emphasis, query_scores, score_ranges, score_systems
from ..task_types.types import SHARES
from ..types import BoolArray, FloatArray, IntArray
from .result import Calibration, Method, Ranking
from .selection import domains_of, query_positions, ranked_by_score
from .tables import comparisons_table, leaderboard_table


def rank_systems(
    queries: pd.DataFrame,
    reduction: Reduction,
    calibration: Calibration,
    cross: CrossFit,
    use: BoolArray,
    settings: Settings,
    panels: UnequalPanels | None,
) -> Ranking:
    """Claims about the systems on the rubrics ``use``: a mask (J,), or (F, J), one for each fold of ``cross``.

    With fewer than six systems the claims are about scores, weighted by emphasis alone. Scores use rubrics on which all
    systems are equal too, while abilities ignore them. Settings without rules score by those of the paper. panels: how
    judges differ between systems; None: they do not. ``Ranking.ability`` is by query whatever the population, since a
    new system is compared by query (docs/method.md §13).
    """
    use = np.broadcast_to(use, (cross.n_folds, reduction.y.shape[1]))
    query_index = query_positions(queries, reduction)
    by_score = ranked_by_score(reduction, settings)
    weights = np.ones_like(calibration.nu) if by_score else calibration.nu
    y = np.where(use[cross.fold], reduction.y, np.nan)
    rubrics = np.flatnonzero(use.any(axis=0))
    scores = score_rubrics(queries, replace(reduction, y=y), weights, rubrics, settings)
    varying = use & ~calibration.fit.constant
    ability = ability_influence(cross, varying, query_index, panels)
    domains = domains_of(queries, reduction, settings)
    rng = np.random.default_rng([settings.seed, 2])
    method: Method
    if by_score:
        method = "score"
        inference = _by_units(_score_evidence(scores, queries, panels, domains), rng, settings)
    elif settings.population != "rubrics":
        by_unit = (
            ability if domains is None else ability_influence(cross, varying, query_index, panels, domains)
        )
        method, inference = "units", _by_units(by_unit, rng, settings)
    else:
        method, inference = "bootstrap", _by_bootstrap(cross, varying, ability, query_index, rng, settings)
    ranking = Ranking(use, cross.fold, ability, inference, scores, method, pd.DataFrame(), pd.DataFrame())
    return replace(
        ranking,
        table=leaderboard_table(reduction, calibration.fit, ranking, settings),
        comparisons=comparisons_table(reduction.systems, inference),
    )


def score_rubrics(
    queries: pd.DataFrame,
    reduction: Reduction,
    nu: FloatArray,
    rubrics: IntArray,
    settings: Settings,
) -> QueryScores:
    """Scores (eq:score) of all systems on ``rubrics`` (indices); a rubric weighs ``nu`` (J,) times its emphasis."""
    frame, query_index = reduction.rubrics.iloc[rubrics], query_positions(queries, reduction)
    return score_systems(
        reduction.y[:, rubrics],
        reduction.levels[rubrics],
        query_index[rubrics],
        n_queries=len(queries),
        task_type=queries["task_type"].to_numpy(dtype=object),
        probabilities=queries[SHARES].to_numpy(dtype=float),
        dimension=frame["dimension"].to_numpy(dtype=object),
        severity=frame["severity"].to_numpy(dtype=object),
        weights=nu[rubrics],
        omega=queries["omega"].to_numpy(dtype=float),
        rules=settings.rules,
        tau_t=settings.tau_t,
        clip=settings.clip,
    )


def score_inference(
    ranking: Ranking,
    queries: pd.DataFrame,
    settings: Settings,
    panels: UnequalPanels | None = None,
    domains: Domains | None = None,
) -> Inference:
    """Inference about the scores weighted by emphasis alone: paired t over units, adjusted for all pairs if asked for.

    The weights nu of the score S are not used, since they are fitted to the same labels. They favour rubrics that
    separate these systems by chance, so the paired t would find differences between equal systems.
    """
    rng = np.random.default_rng([settings.seed, 3])
    unweighted = by_emphasis(ranking.scores, queries["omega"].to_numpy(dtype=float))
    evidence = _score_evidence(unweighted, queries, panels, domains)
    return _by_units(
        replace(evidence, group=linked_in_both(evidence.group, ranking.ability.group)), rng, settings
    )


def _score_evidence(
    scores: QueryScores, queries: pd.DataFrame, panels: UnequalPanels | None, domains: Domains | None
) -> Influence:
    """Contributions of the queries or domains to the scores, or of the rubrics if only one query has a score."""
    found = _contributions(scores, queries, domains)
    if panels is None:
        return found
    slope = score_ranges(scores, queries["omega"].to_numpy(dtype=float))
    return replace(found, allowance=panels.allowance(np.nan_to_num(slope)))


def _contributions(scores: QueryScores, queries: pd.DataFrame, domains: Domains | None) -> Influence:
    scored = np.isfinite(scores.by_query).any(axis=0)  # a query without any score is no evidence
    if scored.sum() == 1:
        found = score_influence(scores.points, scores.weights, unit="rubric", low=scores.lowest)
        return replace(found, estimate=np.where(found.ranked, scores.score, np.nan))
    omega = queries["omega"].to_numpy(dtype=float)
    usual = np.nanmean(omega) if np.isfinite(omega).any() else 1.0
    weights = np.where(np.isnan(omega), usual, omega)[scored]
    units = None if domains is None else replace(domains, of=domains.of[scored])
    lowest = query_scores(
        scores.lowest[None], scores.weights, scores.query_index, scores.by_query.shape[1], scores.clip
    )
    return score_influence(scores.by_query[:, scored], weights, low=lowest[0, scored], domains=units)


def _by_units(influence: Influence, rng: np.random.Generator, settings: Settings) -> Inference:
    found = infer(influence, rng, confidence=settings.confidence, simultaneous=settings.simultaneous)
    return _tiered(found, settings)


def _tiered(found: Inference, settings: Settings) -> Inference:
    """Tiers by the rule of the settings. ``infer`` starts a tier at the first system separated from the tier's best."""
    if settings.tier_rule == "adjacent":
        return replace(found, tier=tiers_by_neighbour(found.estimate, found.separated, found.group))
    return found


def _by_bootstrap(
    cross: CrossFit,
    use: BoolArray,
    ability: Influence,
    query_index: IntArray,
    rng: np.random.Generator,
    settings: Settings,
) -> Inference:
    """Inference by resampling rubrics within their queries; folds with the same rubrics share the draws."""
    draws = np.full((settings.replicates, len(cross.y)), np.nan)
    drawn: dict[bytes, FloatArray] = {}
    for fold in range(cross.n_folds):
        if use[fold].tobytes() not in drawn:
            weights = np.zeros((settings.replicates, use.shape[1]))
            chosen = np.flatnonzero(use[fold])
            weights[:, chosen] = draw_weights(
                query_index[chosen], settings.replicates, rng, settings.bootstrap
            )
            drawn[use[fold].tobytes()] = weights
        members = cross.members(fold)
        weights = drawn[use[fold].tobytes()]
        draws[:, members] = resample_abilities(cross.fold_fit(fold), cross.y[members], weights)
    found = infer_from_draws(
        ability.estimate,
        draws,
        confidence=settings.confidence,
        rule=settings.tier_rule,
        holm=settings.holm,
        simultaneous=settings.simultaneous,
        group=ability.group,
        saturated=ability.saturated,
    )
    return _tiered(found, settings) if settings.simultaneous else found
