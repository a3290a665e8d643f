"""The tables of a result, with the columns that users' scripts rely on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..bank.utility import coverage_utility

if TYPE_CHECKING:
    from ..bank.assembly import BankOrder
    from ..irt.abilities import Abilities
    from ..irt.fit import IrtFit
    from ..labels.store.dataset import Reduction
    from ..leaderboard.tiers import Standing
    from ..settings import Settings
    from ..task_types.scoring import QueryScores
    from ..types import BoolArray, IntArray
    from .result import Calibration


def leaderboard_table(
    systems: tuple[str, ...],
    known: BoolArray,
    abilities: Abilities,
    standing: Standing,
    scores: QueryScores,
    fit: IrtFit,
) -> pd.DataFrame:
    """One row a system, best first; systems without any label come last, unranked."""
    table = pd.DataFrame(
        {
            "rank": standing.rank,
            "system": systems,
            "theta": abilities.theta,
            "theta_low": standing.theta_low,
            "theta_high": standing.theta_high,
            "score": scores.score,
            "tier": standing.tier,
            "rank_low": standing.rank_low,
            "rank_high": standing.rank_high,
            "theta_sd": abilities.sd,
            "theta_full": np.where(known, fit.theta, np.nan),
            "theta_full_sd": np.where(known, fit.theta_sd, np.nan),
        }
    )
    whole = dict.fromkeys(("rank", "tier", "rank_low", "rank_high"), "Int64")
    return table.astype(whole).sort_values(
        ["theta", "system"], ascending=[False, True], na_position="last", ignore_index=True
    )


def item_table(
    reduction: Reduction, calibration: Calibration, chosen: IntArray, feasible: BoolArray | None = None
) -> pd.DataFrame:
    """One row a rubric: its parameters, information and scale, whether it is in the bank and, if given, feasible."""
    fit = calibration.fit
    table = reduction.rubrics[["rubric", "query"]].reset_index(drop=True)
    table = table.assign(a=fit.a, b=fit.b, c=np.where(fit.constant, np.nan, fit.c))
    if fit.thresholds is not None:
        table = table.assign(**{f"b{k + 1}": column for k, column in enumerate(fit.thresholds.T)})
    in_bank = np.zeros(len(table), dtype=bool)
    in_bank[chosen] = True
    known = (~np.isnan(reduction.y)).sum(axis=0)
    mean = np.nansum(reduction.y, axis=0) / np.where(known > 0, known * (reduction.levels - 1), np.nan)
    return table.assign(
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
    queries: pd.DataFrame,
    reduction: Reduction,
    calibration: Calibration,
    order: BankOrder,
    settings: Settings,
) -> pd.DataFrame:
    """The bank in the order in which its rubrics were chosen; weights are w_j ∝ nu_j and sum to 1 (eq:weights)."""
    chosen = order.order[: settings.budget]
    weights = calibration.nu[chosen]
    frame = reduction.rubrics.iloc[chosen]
    utility = coverage_utility(np.cumsum(calibration.info[:, chosen], axis=1).T, calibration.grid.weights)
    return pd.DataFrame(
        {
            "order": np.arange(1, len(chosen) + 1),
            "rubric": frame["rubric"].to_numpy(),
            "gain": np.diff(utility, prepend=0.0),
            "utility": utility,
            "weight": weights / weights.sum(),
            "query": frame["query"].to_numpy(),
            "text": frame["text"].to_numpy(),
        }
    )
