"""Build the tables of a result; users' scripts rely on their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..leaderboard.inference import comparison_table, open_beyond
from .columns import BANK, LEADERBOARD, WHOLE
from .composition import ids_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..bank.assembly import BankOrder
    from ..irt.fit import IrtFit
    from ..labels.store.reduction import Reduction
    from ..leaderboard.inference import Inference
    from ..settings import Settings
    from ..types import BoolArray, IntArray
    from .result import Calibration, Ranking


def leaderboard_table(
    reduction: Reduction, fit: IrtFit, ranking: Ranking, settings: Settings
) -> pd.DataFrame:
    """One row a system, best first; systems without any label come last, unranked.

    group: only if systems form groups that are not compared; each group has its own ranks and tiers.

    theta_low, theta_high: interval of the ability, infinite on the side where a system passes or fails everything; NaN
    if claims rest on scores. score_low, score_high: interval of the score; NaN if claims rest on abilities. If claims
    rest on scores and systems were labelled on different queries, the score is from a model with one effect for each
    query. theta_se: standard error by the method of the intervals. theta_sd: posterior sd. theta_full, theta_full_sd:
    from the fit of all systems on all rubrics. queries: on how many queries the system has labels that count. basis …
    design_effect: what the claims rest on, the same in every row.
    """
    standing, ability, size = ranking.standing, ranking.ability, len(reduction.systems)
    by_score = ranking.method == "score"
    by_query = settings.population == "domains" and standing.unit != "domain"  # fewer than two domains
    unknown = np.full(size, np.nan)
    known = np.asarray((~np.isnan(reduction.y[:, ~fit.constant])).any(axis=1))
    table = pd.DataFrame(
        {
            "rank": standing.rank,
            "system": reduction.systems,
            "theta": ability.estimate,
            "theta_low": unknown if by_score else standing.low,
            "theta_high": unknown if by_score else standing.high,
            "score": standing.estimate if by_score else ranking.scores.score,
            "score_low": standing.low if by_score else unknown,
            "score_high": standing.high if by_score else unknown,
            "tier": standing.tier,
            "group": standing.group_number,
            "rank_low": standing.rank_low,
            "rank_high": standing.rank_high,
            "theta_se": unknown if by_score else standing.se,
            "theta_sd": np.where(np.isfinite(ability.estimate), np.sqrt(ability.floor), np.nan),
            "theta_full": np.where(known, fit.theta, np.nan),
            "theta_full_sd": np.where(known, fit.theta_sd, np.nan),
            "queries": np.isfinite(ranking.scores.by_query).sum(axis=1),
            "saturated": (standing if by_score else ability).saturated,
            "basis": "all" if by_score else settings.basis,
            "population": "queries" if by_query else settings.population,
            "method": ranking.method,
            "design_effect": standing.design_effect,
        }
    )
    table = (
        table[list(LEADERBOARD)]
        .assign(_by=standing.estimate)
        .astype(dict.fromkeys(WHOLE, "Int64"))
        .sort_values(["group", "_by", "system"], ascending=[True, False, True], ignore_index=True)
        .drop(columns="_by")
    )
    return table if standing.n_groups > 1 else table.drop(columns="group")


def by_place(table: pd.DataFrame, standing: Inference) -> pd.DataFrame:
    """The ranked systems of a table (one row a system), sorted by rank; with the column group if there are several."""
    ranked = table.assign(group=standing.group_number)[standing.ranked].astype(
        dict.fromkeys(("group", "rank"), "Int64")
    )
    ranked = ranked.sort_values(["group", "rank", "system"], ignore_index=True)
    return ranked if standing.n_groups > 1 else ranked.drop(columns="group")


def comparisons_table(systems: tuple[str, ...], standing: Inference) -> pd.DataFrame:
    """One row a pair of ranked systems: system (the higher), other, difference, se, low, high, p_value, separated."""
    found = comparison_table(standing)
    names = pd.Series(systems).array  # pandas then converts each name once, not once a pair
    return pd.DataFrame(
        {
            "system": names.take(found.system),
            "other": names.take(found.other),
            "difference": found.difference,
            "se": found.se,
            "low": open_beyond(found.low),
            "high": open_beyond(found.high),
            "p_value": found.p_value,
            "separated": found.separated,
        }
    )


def item_table(
    reduction: Reduction, calibration: Calibration, chosen: IntArray, feasible: BoolArray | None = None
) -> pd.DataFrame:
    """One row a rubric: its parameters, information and scale, whether it is in the bank and, if given, feasible.

    chosen: (B,) positions of the bank's rubrics. feasible: (J,).
    """
    fit = calibration.fit
    table = reduction.rubrics[["rubric", "query"]].reset_index(drop=True)
    table = table.assign(a=fit.a, b=fit.b, c=np.where(fit.constant, np.nan, fit.c))
    if fit.thresholds is not None:
        table = table.assign(**{f"b{k + 1}": column for k, column in enumerate(fit.thresholds.T)})
    spread = calibration.spread
    in_bank = np.zeros(len(table), dtype=bool)
    in_bank[chosen] = True
    known = (~np.isnan(reduction.y)).sum(axis=0)
    mean = np.nansum(reduction.y, axis=0) / np.where(known > 0, known * (reduction.levels - 1), np.nan)
    return table.assign(
        log_a_sd=spread.log_a,
        b_sd=spread.b,
        log_a_b_correlation=spread.correlation,
        nu=calibration.nu,
        pass_rate=mean,
        systems=known,
        item_rest=calibration.item_rest,
        constant=fit.constant,
        in_bank=in_bank,
        **({} if feasible is None else {"feasible": feasible}),
        levels=fit.levels,
        scale_min=reduction.rubrics["scale_min"].to_numpy(),
        scale_max=reduction.rubrics["scale_max"].to_numpy(),
    )


def bank_table(
    reduction: Reduction,
    calibration: Calibration,
    order: BankOrder,
    settings: Settings,
    ids: Sequence[str] | None = None,
) -> pd.DataFrame:
    """The bank in the order in which its rubrics were chosen; weights are w_j ∝ nu_j and sum to 1 (eq:weights).

    ids: (J,) ids of all rubrics, if they are known. Columns: id, the rubric's id in bank.json and in every export;
    points, as its file gave them (NaN unknown); polarity, -1 if meeting the rubric is bad.
    """
    chosen = order.order[: settings.budget]
    named = ids_of(reduction.rubrics, chosen) if ids is None else [ids[j] for j in chosen]
    weights = calibration.nu[chosen]
    frame = reduction.rubrics.iloc[chosen]
    table = pd.DataFrame(
        {
            "order": np.arange(1, len(chosen) + 1),
            "rubric": frame["rubric"].to_numpy(),
            "gain": order.gains[: len(chosen)],
            "utility": order.utility[: len(chosen)],
            "weight": weights / weights.sum(),
            "query": frame["query"].to_numpy(),
            "text": frame["text"].to_numpy(),
            "points": frame["weight"].to_numpy(dtype=float),
            "polarity": frame["polarity"].to_numpy(dtype=np.int64),
            "scale_min": frame["scale_min"].to_numpy(dtype=np.int64),
            "scale_max": frame["scale_max"].to_numpy(dtype=np.int64),
            "pass_mark": frame["pass_mark"].to_numpy(dtype=np.int64),
            "id": named,
        }
    )
    return table[list(BANK)]
