"""E2: does a small bank rank the systems as rubrics that it never saw do? (docs/method.md §11)

The usable (non-constant) rubrics are split into halves. On half A the model is fitted and each strategy orders its
candidates; the bank of B rubrics is a prefix of that order, and a system's ability is its EAP on this prefix at A's
parameters. The reference is the ability from a fit of half B of its own. Spearman's rho between the two is taken at
log-spaced budgets; AUC is its mean over them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..labels.store.dataset import Dataset
from ..settings import Settings
from ..types import Cancel, Progress
from .inputs import Inputs, read_inputs
from .results import ExperimentResult, Watch, num, records, span
from .splits import STRATEGIES, CrossFit, cross_fit
from .statistics import mean_interval


def crossfit(
    ds: Dataset,
    settings: Settings,
    *,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    splits: int = 20,
    draws: int = 3,
    n_budgets: int = 12,
) -> ExperimentResult:
    """Cross-fitted rank fidelity of banks by pairs, greedy, plain, hard and random choice.

    Tables: ``summary`` (a row a strategy), ``curves`` (rho against the budget), ``splits`` (AUC of each split).
    """
    inputs = read_inputs(ds, settings)
    fitted = cross_fit(
        inputs.reduction, inputs.feasible, settings, splits, draws, n_budgets, Watch(progress, cancel)
    )
    tables = {
        "summary": summary_table(fitted, settings.confidence),
        "curves": curve_table(fitted, settings.confidence),
        "splits": split_table(fitted),
    }
    options = {
        "splits": splits,
        "draws": draws,
        "budgets": fitted.budgets.tolist(),
        "target": fitted.target,
    }
    return inputs.result(
        "crossfit", options, tables, _found(tables["summary"], fitted), _limits(inputs, fitted)
    )


def summary_table(fitted: CrossFit, confidence: float) -> pd.DataFrame:
    """One row a strategy, in the layout of tab:e2-crossfit.

    auc, auc_low, auc_high: mean over the splits with its t interval. candidates: mean number of them. delta …:
    greedy less this strategy, paired. smallest_bank: NaN where the target is not reached.
    """
    rows = []
    for strategy in STRATEGIES:
        auc, low, high, n = mean_interval(fitted.auc(strategy), confidence)
        paired = fitted.auc("greedy") - fitted.auc(strategy)
        delta = mean_interval(paired if strategy != "greedy" else paired * np.nan, confidence)
        smallest = fitted.smallest[strategy]
        rows.append(
            {
                "strategy": strategy,
                "auc": auc,
                "auc_low": low,
                "auc_high": high,
                "splits": n,
                "candidates": float(np.mean([len(s.orders[strategy][0]) for s in fitted.splits])),
                "delta": delta[0],
                "delta_low": delta[1],
                "delta_high": delta[2],
                "delta_splits": delta[3],
                "smallest_bank": np.nan if smallest is None else float(smallest),
                "target": fitted.target,
            }
        )
    return pd.DataFrame(rows)


def curve_table(fitted: CrossFit, confidence: float) -> pd.DataFrame:
    """strategy, budget, rho (mean over the splits), low, high (its t interval)."""
    rows = []
    for strategy in STRATEGIES:
        by_split = fitted.rho[strategy].mean(axis=1)
        for budget, values in zip(fitted.budgets.tolist(), by_split.T, strict=True):
            mean, low, high, _ = mean_interval(values, confidence)
            rows.append((strategy, budget, mean, low, high))
    return pd.DataFrame(rows, columns=["strategy", "budget", "rho", "low", "high"])


def split_table(fitted: CrossFit) -> pd.DataFrame:
    """Split (from 1) and the AUC of each strategy in it."""
    table = pd.DataFrame({"split": np.arange(1, len(fitted.splits) + 1)})
    return table.assign(**{str(strategy): fitted.auc(strategy) for strategy in STRATEGIES})


_LABELS = {
    "pairs": "banks of pairs",
    "plain": "plain information",
    "hard_random": "random rubrics of the hard set",
    "random": "random rubrics",
}


def _found(summary: pd.DataFrame, fitted: CrossFit) -> str:
    """What the table says, each comparison with its interval."""
    table = records(summary, "strategy")
    parts = []
    for strategy, name in _LABELS.items():
        row = table[strategy]
        if np.isnan(row["delta"]):
            parts.append(f"cannot be compared with {name}, which has no candidate in any split")
            continue
        interval = span(row["delta_low"], row["delta_high"])
        how = (
            "ahead of"
            if row["delta_low"] > 0
            else "behind"
            if row["delta_high"] < 0
            else "not separated from"
        )
        parts.append(f"{how} {name} (ΔAUC {num(row['delta'])} {interval})")
    banks = [
        f"{'not reached' if np.isnan(row['smallest_bank']) else int(row['smallest_bank'])} ({strategy})"
        for strategy, row in table.items()
    ]
    return (
        f"Greedy's AUC is {num(table['greedy']['auc'])}: it is {'; '.join(parts)}. "
        f"Smallest bank with ρ ≥ {fitted.target:.4g}: {', '.join(banks)}."
    )


def _limits(inputs: Inputs, fitted: CrossFit) -> tuple[str, ...]:
    n_systems = len(inputs.reduction.systems)
    limits = [
        f"The intervals show the variation between splits: all {len(fitted.splits)} splits share the same "
        f"{n_systems} systems, so they do not cover other systems."
    ]
    if n_systems <= 8:
        limits.append(f"With {n_systems} systems ρ takes few values and one swap moves it far.")
    greedy = np.mean([len(split.orders["greedy"][0]) for split in fitted.splits])
    if greedy < 0.9 * fitted.budgets[-1]:
        limits.append(
            f"The gate leaves greedy and plain {greedy:.0f} of a half's {fitted.budgets[-1]} rubrics on average: "
            "at larger budgets they stop there, while random goes on."
        )
    if short := sum(not split.converged for split in fitted.splits):
        limits.append(f"In {short} of {len(fitted.splits)} splits a fit did not converge.")
    return tuple(limits)
